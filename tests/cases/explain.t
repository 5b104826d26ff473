Why is a layer bad?
===================

A float model and its quantised copy with planted faults (data/explain_models.py), recorded with two samples.

  $ "$PYTHON" "$CASES/data/explain_models.py"
  $ for model in float quantised; do
  >   paritas run $model.onnx --input x=x0.npy --input x=x1.npy --target cpu --marks all -o $model-run --quiet
  > done

The quantiser of one layer holds half of what the data needs. Its inputs are fine.

  $ all="--model quantised.onnx --float float.onnx --reference float-run --device quantised-run"
  $ paritas explain narrow $all
  model      quantised.onnx
  float      float.onnx
  reference  float-run
  device     quantised-run
  
  quantisation of activations   narrow (Conv): the range of n is too narrow: it holds -2.83 to 3.19,
      the data goes from -5.68 to 6.35; 268 of 4096 values (6.5 %) saturate, and quantising n alone
      leaves it at 17.8 dB SQNR; in 2 of 2 samples the largest value is among them, and up to 43
      elements tie at the limit; against the reference its inputs are at 44.4 dB, its output at 17.8
      dB.
      weights     w_narrow: int8 per channel (8, axis 0), -0.881 to 0.827; 8 channels span 0.549 to
                  0.881, the widest 1.27 times the median; 0 % are zero; SQNR 49.1 dB (channel 5:
                  46.1, median 49.4)
      values      n (reference): -5.68 to 6.35; of |x| p50 0.961, p90 2.62, p99 3.94, p99.9 5.06,
                  largest 6.35
      quantiser   uint8 -2.83 to 3.19, step 0.024 (the data asks for 0.047: 0.500 times); 268 clipped,
                  alone 17.8 dB; 255 of 256 levels used, 5.1 % at the lower limit, 1.7 % at the upper
      output      17.8 dB against n, 4,000 of 4,096 differ, at most 3.17 (134 steps); paired: behind
                  its quantiser (T_DequantizeLinear_Output is T)
      input       a: 44.4 dB
      layout      ruled out: values match in place (NMSE 0.017)
      next        calibrate with the true minimum and maximum (not a moving average) over inputs like
                  these
  

Weights per tensor where one channel is wide; a residual sum with one large value; scores beside boxes.

  $ for layer in pt sum cat; do paritas explain $layer $all --json $layer.json --quiet; done
  $ "$PYTHON" - << 'PY'
  > import json
  > for layer in ("pt", "sum", "cat"):
  >     found = json.load(open(f"{layer}.json"))["layers"][0]
  >     print(found["cause"], "|", found["finding"]["id"], "|", found["residual"])
  > print(json.load(open("cat.json"))["layers"][0]["finding"]["text"][:80])
  > PY
  quantisation of weights | explain-weights | False
  quantisation of activations | explain-outliers | True
  quantisation of activations | explain-shared-scale | False
  cat (Concat): its inputs share one scale (2.51): scores uses 1 of 256 levels; it

A Clip that was folded into the quantiser: the codes at its bound are no saturation.

  $ paritas explain conv $all | grep -A 1 -e '^none' -e note
  none   conv (Conv): nothing stands out: output at 44.4 dB of the reference, its quantiser alone
      leaves 48.6 dB SQNR, weights at 48.6 dB.
  --
      note        68.8 % of the codes stand at the lower limit, 0: the bound of Clip clip of the float
                  model, no saturation

A tensor names its layer, in either model; a pattern names several; the worst are found.

  $ paritas explain n_DequantizeLinear_Output $all | grep -o '^quantisation of activations   narrow'
  quantisation of activations   narrow
  $ paritas explain 'p?' 'narrow' $all | tail -1
  2 layers: 1 quantisation of activations, 1 quantisation of weights
  $ paritas explain --worst 2 $all --json - | "$PYTHON" -c 'import json, sys; print([l["name"] for l in json.load(sys.stdin)["layers"]])'
  ['narrow', 'sum']

What was not given is not looked at, and acquits nothing.

  $ paritas explain conv --model quantised.onnx
  model      quantised.onnx
  float      not given: not looked at
  reference  not given: not looked at
  device     not given: not looked at
  
  cannot tell   conv (Conv): cannot tell: its output was not compared; no figure could be taken.
      weights     w_conv: int8 per channel (8, axis 0), -1.26 to 1.00; 8 channels span 0.465 to 1.26,
                  the widest 1.63 times the median; 1.6 % are zero
      quantiser   uint8 0 to 6.00, step 0.024
      layout      not looked at: the layer's output is not in both recordings
      unknown     not looked at: weights against the float ones (no --float)
      unknown     not looked at: what the data asks of the quantiser, what it clips, errors, layout
                  (no --reference)
      unknown     not looked at: the device's values: levels used, codes at the limits, errors (no
                  --device)
      next        give what was not looked at; the layer's own error: paritas locate on the quantised
                  model, both targets
  
  $ paritas explain pt --model quantised.onnx --float float.onnx | head -8
  model      quantised.onnx
  float      float.onnx
  reference  not given: not looked at
  device     not given: not looked at
  
  quantisation of weights   pt (Conv): its weights w_pt (int8 per tensor) are at 39.4 dB of the float
      ones, the median channel at 13.9 dB, channel 2 at 4.39 dB; the widest of 8 channels spans 63.5
      times the median one; 39 % became zero.

Without the float model, a range that ends at 0 or 6 may be a folded activation: that is said.

  $ paritas explain conv --model quantised.onnx --device quantised-run | grep -A 1 note
      note        68.8 % of the codes stand at the lower limit, 0: it may be the bound of a folded
                  Relu or Clip, which the float model would tell

One model on both sides leaves only the kernels; equal results are no fault.

  $ paritas explain narrow --model quantised.onnx --reference quantised-run --device quantised-run | grep -A 1 '^none'
  none   narrow (Conv): nothing stands out: output at inf dB of the reference, its quantiser alone
      leaves 152 dB SQNR.

Errors.

  $ paritas explain narow $all
  paritas: narow: quantised.onnx has no such layer or tensor; nearest: narrow, cat, x
  [2]
  $ paritas explain narrow --model float.onnx --device quantised-run
  paritas: quantised-run: is a recording of another file than --model; record that model, or give the one that was recorded
  [2]
  $ paritas explain --worst 3 --model quantised.onnx
  paritas: --worst: needs --reference and --device, whose layers it compares; record both with `paritas run --marks all`, or name layers
  [2]
  $ paritas explain --model quantised.onnx
  paritas: explain: give layers, or --worst N; paritas explain '*' takes every layer
  [2]
