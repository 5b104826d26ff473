Bad project files: one sentence with place, cause and remedy, before anything runs
===================================================================================

  $ cp "$EXAMPLES/detr-mini/detr_mini.onnx" "$EXAMPLES/detr-mini/images.npy" "$EXAMPLES/detr-mini/orig_target_sizes.npy" .
  $ cat > base.toml << 'TOML'
  > schema = "paritas.project/1"
  > [model]
  > reference = "detr_mini.onnx"
  > [targets]
  > reference = "cpu"
  > device = "sim:fp16"
  > [inputs.images]
  > file = "images.npy"
  > [inputs.orig_target_sizes]
  > file = "orig_target_sizes.npy"
  > TOML
  $ with() { { cat base.toml; printf '%s\n' "$@"; } > p.toml; paritas check p.toml; }

No file, no TOML, no schema, keys that nobody knows.

  $ paritas check
  paritas: paritas.toml: no such file; check the path
  [2]
  $ echo 'schema = "paritas.project/1' > p.toml; paritas check p.toml
  paritas: p.toml: not valid TOML at line 1: Error while parsing string: unescaped control characters other than TAB (U+0009) are explicitly prohibited
  [2]
  $ : > p.toml; paritas check p.toml
  paritas: p.toml: the key "schema" is missing; begin with schema = "paritas.project/1"
  [2]
  $ echo 'schema = "paritas.project/2"' > p.toml; paritas check p.toml
  paritas: p.toml: schema "paritas.project/2" is not known; this version reads "paritas.project/1"
  [2]
  $ with '[modle]'
  paritas: p.toml: unknown key "modle"; keys are schema, gates, gate, model, inputs, targets, recordings, exec, outputs, pairing, task, cuts, probes, step, package
  [2]
  $ with '[outputs.scores]' 'rule = "scores"'
  paritas: p.toml, [outputs.scores]: unknown key "rule"; keys are role, quantisation, meaning
  [2]
  $ with '[outputs.scores]' 'role = "score"'
  paritas: p.toml, [outputs.scores]: "score" is not a role; roles are logits, probabilities, scores, boxes, labels, feature, embedding, keypoints, mask
  [2]

Names that the model does not have.

  $ with '[outputs.score]' 'role = "scores"'
  paritas: p.toml, [outputs.score]: neither side has a tensor of this name; the reference has: images, orig_target_sizes, labels, boxes, scores
  [2]
  $ with '[[gate]]' 'tensor = "score"' 'metric = "cosine"' 'op = ">="' 'value = 0.9'
  paritas: p.toml, gates, gate 1: no tensor is called "score"; there is: images, orig_target_sizes, labels, boxes, scores
  [2]
  $ with '[[gate]]' 'task = "detection"' 'metric = "unmatched"' 'op = "<="' 'value = 0'
  paritas: p.toml, gates, gate 1: no task is called "detection"; declare a [[task]]
  [2]
  $ with '[probes]' 'positions = ["/dec/layers.0/n3/Pow", "/dec/layers.9/*"]'
  paritas: p.toml, [probes]: detr_mini.onnx has no node or tensor "/dec/layers.9/*"; paritas inspect lists them with --verbose
  [2]
  $ with '[cuts]' 'encoder = ["feature_9"]'
  paritas: p.toml, [cuts], "encoder": "feature_9" matches no tensor of detr_mini.onnx; give a tensor's name, its unique ending, or a regular expression; paritas inspect --verbose lists the names
  [2]
  $ with '[inputs.image]' 'file = "images.npy"'
  paritas: p.toml: input "image" is not in detr_mini.onnx; it has "images" float32 [1,3,160,160] and "orig_target_sizes" int64 [1,2]; correct it under [inputs]
  [2]

Paths stay inside of the project's folder, through symbolic links too.

  $ mkdir inner
  $ sed 's/"images.npy"/"..\/images.npy"/' base.toml > inner/p.toml
  $ cp detr_mini.onnx orig_target_sizes.npy inner
  $ paritas check inner/p.toml
  paritas: inner/p.toml: the path "../images.npy" leads out of the project's folder; move the file there, or allow it with --allow-outside
  [2]
  $ ln -s ../images.npy inner/link.npy
  $ sed 's/"images.npy"/"link.npy"/' base.toml > inner/p.toml
  $ paritas check inner/p.toml
  paritas: inner/p.toml: the path "link.npy" leads out of the project's folder; move the file there, or allow it with --allow-outside
  [2]
  $ paritas check inner/p.toml --allow-outside | head -1
  NOT JUDGED   labels: no gate covers it

Commands do not run by themselves.

  $ with '[[task]]' 'type = "command"' 'command = ["touch", "evidence"]'
  paritas: p.toml: the task "command" runs the command "touch evidence", and nothing allows that; read it, then pass --allow-exec
  [2]
  $ ls evidence 2>/dev/null
  [2]

Inputs that are not there, or not what the model takes.

  $ rm orig_target_sizes.npy
  $ with
  paritas: orig_target_sizes.npy: no such file; check the path
  [2]
  $ sed 's/file = "orig_target_sizes.npy"/value = [640.5, 480]\ndtype = "int64"\nshape = [1, 2]/' base.toml > p.toml
  $ paritas check p.toml
  paritas: p.toml, [inputs.orig_target_sizes]: the value 640.5 does not fit int64
  [2]
  $ sed 's/file = "orig_target_sizes.npy"/value = [640, 480]\ndtype = "int32"\nshape = [1, 2]/' base.toml > p.toml
  $ paritas check p.toml
  paritas: p.toml: input "orig_target_sizes" must be int64, the given tensor is int32; correct it under [inputs]
  [2]
