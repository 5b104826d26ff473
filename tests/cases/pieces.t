Where on its input axis does a device's function err or saturate?
================================================================

Each function is fed with what the reference feeds it. A GELU in five nodes counts as one. The model's own inputs stay within
-2.4 and 2.9: float16 costs digits, nothing more.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ pieces() { paritas pieces "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ pieces detr_mini.onnx --device sim:fp16 --node /enc/blocks.0/Mul_1
  Functions of detr_mini.onnx on sim:fp16 (each fed with what cpu feeds it)
  
  node                 op    inputs   from    to  left end, device / format  right end    beyond
  /enc/blocks.0/Mul_1  Gelu  19,392  -2.39  2.87  none / none                none / none     0 %
  
  /enc/blocks.0/Mul_1 (Gelu, 5 nodes): declared exact; reference exact, device cannot tell
    input        share  max abs  format's  max rel  format's  to zero  NaN/Inf
    -3 to -2     0.5 %  3.5e-04   9.0e-05  7.9e-03   2.1e-03        0        0
    -2 to -1    12.2 %  3.2e-04   1.2e-04  6.4e-03   1.1e-03        0        0
    -1 to -0.5  37.8 %  2.3e-04   8.8e-05  1.4e-03   5.6e-04        0        0
    -0.5 to 0   22.2 %  1.7e-04   8.5e-05  1.1e-03   7.8e-04        0        0
    0 to 0.5     9.3 %  3.6e-04   2.1e-04  1.3e-03   1.0e-03        0        0
    0.5 to 1     9.7 %  7.2e-04   4.9e-04  1.3e-03   9.2e-04        0        0
    1 to 2       5.7 %  1.5e-03   1.0e-03  1.2e-03   9.1e-04        0        0
    2 to 3       2.5 %  2.7e-03   2.0e-03  1.2e-03   9.2e-04        0        0
  
  No function saturates before its number format has to, on these inputs.

Synthetic inputs go further, and are labelled: in parts, with 1 + erf rounded to float16, the negative tail is lost.

  $ pieces detr_mini.onnx --device sim:fp16 --op Gelu --sweep | grep -A2 -e Sweep -e Note
  Sweep: synthetic inputs, not the model's own distribution
  
  node                 op    inputs  from  to  left end, device / format  right end    beyond
  --
  Note      /enc/blocks.0/Mul_1 (Gelu) on sim:fp16 is zero from -3.67 on to the left; float16 alone
            would from -5.545 on. 1125 inputs of the sweep lie between and lose up to 0.00045. 3
            further nodes of this type do alike.

A Sigmoid of one operator ends where float16 does, on either side.

  $ pieces detr_mini.onnx --device sim:fp16 --op Sigmoid --sweep --json sigmoid.json | tail -1
  No function saturates before its number format has to, on these inputs.
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("sigmoid.json"))
  > real = [p for p in r["pieces"] if not p["synthetic"]]
  > swept = [p for p in r["pieces"] if p["synthetic"]]
  > print(len(real), len(swept), r["findings"])
  > print({(p["left"]["early"], p["right"]["early"]) for p in real + swept})
  > print({round(p["right"]["device"]["from"], 1) for p in swept if p["count"] > 1000})
  > PY
  35 35 []
  {(0, 0)}
  {8.3}

The Erf inside of a GELU is looked at when it is asked for.

  $ pieces detr_mini.onnx --device sim:fp16 --op Erf --json erf.json --quiet
  $ "$PYTHON" -c "import json; print([p['op'] for p in json.load(open('erf.json'))['pieces']])"
  ['Erf', 'Erf', 'Erf', 'Erf']

Bad requests.

  $ pieces detr_mini.onnx --device sim:fp16 --op Conv; echo "[$?]"
  paritas: --op Conv: fits no function of one tensor in this model; it has Erf, Gelu, Sigmoid
  [2]
  $ pieces detr_mini.onnx --device sim:fp16 --node bh.0/Sigmoid_2; echo "[$?]"
  paritas: --node bh.0/Sigmoid_2: fits no function of one tensor in this model; it has Erf, Gelu, Sigmoid
  [2]
  $ pieces detr_mini.onnx --device sim:fp16 --node Sigmoid_1; echo "[$?]"
  paritas: --node Sigmoid_1: fits 7 nodes: "/dec/ebb/Sigmoid_1", "/dec/qph/Sigmoid_1", "/dec/pre/Sigmoid_1", "/dec/Sigmoid_1", "/dec/bh.0/Sigmoid_1", "/dec/bh.1/Sigmoid_1", "/dec/bh.2/Sigmoid_1"; name one of them, or write a pattern with *
  [2]
  $ pieces detr_mini.onnx --op Erf; echo "[$?]"
  paritas: --device is required
  [2]

What the documentation shows is what is printed.

  $ pieces detr_mini.onnx --device sim:fp16 --node /enc/blocks.0/Mul_1 > text && "$PYTHON" "$CASES"/data/shown_output.py "$CASES"/../../docs/pieces.md "paritas pieces detr_mini.onnx" text
  as shown
