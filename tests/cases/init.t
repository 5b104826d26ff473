Init: a project file to begin with
==================================

It is written from the model's inputs and outputs. Roles, tasks and gates are suggestions behind comment marks: only you
know what outputs mean and what is good enough.

  $ cp "$EXAMPLES/detr-mini/detr_mini.onnx" "$EXAMPLES/detr-mini/images.npy" "$EXAMPLES/detr-mini/orig_target_sizes.npy" .
  $ paritas init detr_mini.onnx
  Wrote paritas.toml: declare roles, gates and tasks in it, then run paritas check
  $ grep -v -e '^#' -e '^$' paritas.toml
  schema = "paritas.project/1"
  [model]
  reference = "detr_mini.onnx"
  [inputs.images]   # float32 [1,3,160,160]
  file = "images.npy"
  [inputs.orig_target_sizes]   # int64 [1,2]
  file = "orig_target_sizes.npy"
  [targets]
  reference = "cpu"
  device = "sim:fp16"   # or "qnn:htp,soc_model=77,htp_arch=73", ...
  $ sed -n '/What outputs mean/,/^$/p' paritas.toml
  # What outputs mean, for gates on roles. Only you know: these are guesses from names.
  # Roles: logits, probabilities, scores, boxes, labels, feature, embedding, keypoints, mask.
  # [outputs.labels]   # int64 [1,40]
  # role = "labels"
  # [outputs.boxes]   # float32 [1,40,4]
  # role = "boxes"
  # [outputs.scores]   # float32 [1,40]
  # role = "scores"
  # quantisation = { scale = 0.065, zero_point = 75 }   # of an integer output whose recording has none
  

What it writes is a project: it runs, and is not judged.

  $ paritas check > checked.txt
  [1]
  $ head -3 checked.txt
  NOT JUDGED   labels: no gate covers it
               boxes: no gate covers it
               scores: no gate covers it

Every free dimension is listed.

  $ "$PYTHON" - << 'PY'
  > import onnx
  > from onnx import TensorProto, helper
  > x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 3, "h", "w"]) for n in "xy")
  > graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
  > onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "free.onnx")
  > PY
  $ paritas init free.onnx -o free.toml --quiet && grep '^# dims' free.toml
  # dims = { batch = 1, h = 1, w = 1 }   # free dimensions; else they follow from the inputs

It overwrites nothing unless told so.

  $ paritas init detr_mini.onnx
  paritas: paritas.toml: exists already; choose another name or pass --force
  [2]
  $ paritas init detr_mini.onnx --force --quiet

With a dump of the device, that side is read instead of run. Names that it does not have are listed.

  $ mkdir dump
  $ "$PYTHON" - << 'PY'
  > import numpy as np
  > np.save("dump/scores.npy", np.zeros((1, 40), np.float32))
  > np.save("dump/out_boxes.npy", np.zeros((1, 40, 4), np.float32))
  > PY
  $ paritas init detr_mini.onnx dump -o board.toml
  Wrote board.toml: declare roles, gates and tasks in it, then run paritas check board.toml
  $ grep -A 2 -e '^\[recordings' board.toml
  [recordings.device]
  path = "dump"
  model = "detr_mini.onnx"
  $ grep -e 'aliases' -e 'the dump has:' board.toml
  # aliases = { labels = "...", boxes = "..." }   # the dump has no tensors of these names
  # the dump has: "out_boxes", "scores"
