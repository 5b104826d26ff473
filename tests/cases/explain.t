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

Weights per tensor where one channel is wide; a residual sum with one large value; scores beside boxes.

  $ for layer in pt sum cat; do paritas explain $layer $all --json $layer.json --quiet; done
  $ "$PYTHON" - << 'PY'
  > import json
  > for layer in ("pt", "sum", "cat"):
  >     found = json.load(open(f"{layer}.json"))["layers"][0]
  >     print(found["cause"], "|", found["finding"]["id"], "|", found["residual"])
  > print(json.load(open("cat.json"))["layers"][0]["finding"]["text"][:80])
  > PY

A Clip that was folded into the quantiser: the codes at its bound are no saturation.

  $ paritas explain conv $all | grep -A 1 -e '^none' -e note

A tensor names its layer, in either model; a pattern names several; the worst are found.

  $ paritas explain n_DequantizeLinear_Output $all | grep -o '^quantisation of activations   narrow'
  $ paritas explain 'p?' 'narrow' $all | tail -1
  $ paritas explain --worst 2 $all --json - | "$PYTHON" -c 'import json, sys; print([l["name"] for l in json.load(sys.stdin)["layers"]])'

What was not given is not looked at, and acquits nothing.

  $ paritas explain conv --model quantised.onnx
  $ paritas explain pt --model quantised.onnx --float float.onnx | head -8

Without the float model, a range that ends at 0 or 6 may be a folded activation: that is said.

  $ paritas explain conv --model quantised.onnx --device quantised-run | grep -A 1 note

One model on both sides leaves only the kernels; equal results are no fault.

  $ paritas explain narrow --model quantised.onnx --reference quantised-run --device quantised-run | head -2

Errors.

  $ paritas explain narow $all
  $ paritas explain narrow --model float.onnx --device quantised-run
  $ paritas explain --worst 3 --model quantised.onnx
  $ paritas explain --model quantised.onnx
