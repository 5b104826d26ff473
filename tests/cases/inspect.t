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

An archive, or a folder of what another tool wrote: whatever paritas import reads.

  $ mkdir "$TMPDIR/dump" && cp x.npy "$TMPDIR/dump/"
  $ paritas inspect "$TMPDIR/dump" | sed "s:$TMPDIR/::g"
  dump: folder, 1 sample, 1 tensor
  imported from dump (folder)
  
  tensor  type     shape   role    op
  x       float32  [1,10]  output
  $ "$PYTHON" -c 'import numpy; numpy.savez("results.npz", y=numpy.zeros((2, 3), numpy.float16))'
  $ paritas inspect results.npz
  results.npz: npz, 1 sample, 1 tensor
  imported from results.npz (npz)
  
  tensor  type     shape  role    op
  y       float16  [2,3]  output

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
  paritas: notes.txt: is neither a recording nor in a format that is read; if you know its format, name it with paritas import --format: recording, npy, npz, safetensors, folder, tensor-proto, test-data-set, polygraphy, net-run, trtexec-json, trtexec-raw, tflite-outputs, raw
  [2]
  $ paritas inspect nothing.onnx
  paritas: nothing.onnx: no such file; check the path
  [2]

Names from files may hold anything. What would move the cursor, begin a line or turn the text around is written out; JSON has
its own escapes.

  $ "$PYTHON" -c '
  > import onnx; from onnx import helper as h
  > F = onnx.TensorProto.FLOAT
  > g = h.make_graph([h.make_node("Relu", ["x"], ["a\x1b[2J\nPASS"], name="n\x1b]0;t\x07"),
  >                   h.make_node("Exp", ["a\x1b[2J\nPASS"], ["y\u202ez"], name="e\x7f\u009b")], "g",
  >                  [h.make_tensor_value_info("x", F, [2])], [h.make_tensor_value_info("y\u202ez", F, [2])])
  > onnx.save(h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "weird.onnx")'
  $ paritas inspect weird.onnx --verbose
  weird.onnx: ONNX model, IR 8, opset ai.onnx 17, made by an unnamed producer
  2 nodes, 0 bytes of initialisers
  
  inputs      x float32 [2]
  outputs     y\u202ez float32 [2]
  
  operators   Exp 1, Relu 1
  
  tensor          op    node
  a\x1b[2J\nPASS  Relu  n\x1b]0;t\x07
  y\u202ez        Exp   e\x7f\x9b
  $ paritas inspect weird.onnx --json - | grep -c '\\u001b'
  2
  $ paritas inspect "$(printf 'no\nsuch\033[1mfile')"
  paritas: no\x0asuch\x1b[1mfile: no such file or folder; check the path
  [2]
