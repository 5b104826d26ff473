Look into a file without running it
===================================

A model: its interface and what it is made of.

  $ "$PYTHON" "$CASES/data/small_models.py"
  $ paritas inspect square.onnx
  square.onnx: ONNX model, IR 8, opset ai.onnx 17, made by small_models
  3 nodes, 0 bytes of initialisers
  
  inputs      x float32 [batch,10]
  outputs     y float32 [batch,10]
  
  operators   Add 1, Mul 1, Sqrt 1
  $ paritas inspect square.onnx --verbose | tail -4
  tensor  op    node
  square  Mul   /square/Mul
  root    Sqrt  /root/Sqrt
  y       Add   /add/Add
  $ paritas inspect square.onnx --json - | "$PYTHON" -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["schema"], r["kind"], r["node_count"], r["ops"], r["inputs"])'
  paritas.inspect/1 ONNX model 3 {'Add': 1, 'Mul': 1, 'Sqrt': 1} [{'name': 'x', 'dtype': 'float32', 'shape': '[batch,10]', 'role': 'input'}]

A tensor file.

  $ paritas inspect x.npy
  x.npy: npy, 1 sample, 1 tensor
  
  tensor  type     shape   role  op
  data    float32  [1,10]

The detector of the examples.

  $ cd "$EXAMPLES/detr-mini" && paritas inspect detr_mini.onnx | head -9
  detr_mini.onnx: ONNX model, IR 8, opset ai.onnx 17, made by pytorch 1.13.0
  1,352 nodes, 3,589,924 bytes of initialisers
  
  inputs      images float32 [1,3,160,160]
              orig_target_sizes int64 [1,2]
  outputs     labels int64 [1,40]
              boxes float32 [1,40,4]
              scores float32 [1,40]
  

What is neither is refused.

  $ echo hello > "$TMPDIR/notes.txt" && cd "$TMPDIR" && paritas inspect notes.txt
  paritas: notes.txt: is neither a recording folder nor a .npy or .safetensors file
  [2]
  $ paritas inspect nothing.onnx
  paritas: nothing.onnx: no such file; check the path
  [2]
