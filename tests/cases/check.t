Check: a project file says what is compared with what, and what is good enough
==============================================================================

The detector of the examples, on the simulator of a float16 device. Everything that the verdict rests on stands in the
file; gates are read before anything runs.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/images.npy .
  $ cat > paritas.toml << 'TOML'
  > schema = "paritas.project/1"
  > 
  > [model]
  > reference = "detr_mini.onnx"
  > 
  > [inputs.images]
  > file = "images.npy"
  > 
  > [inputs.orig_target_sizes]
  > value = [640, 480]
  > dtype = "int64"
  > shape = [1, 2]
  > 
  > [targets]
  > reference = "cpu"
  > device = "sim:fp16"
  > 
  > [outputs.scores]
  > role = "scores"
  > 
  > [gates]
  > profiles = ["detection-device"]
  > 
  > [[task]]
  > type = "detection"
  > name = "detections"
  > boxes = "boxes"
  > scores = "scores"
  > labels = "labels"
  > format = "xyxy"
  > TOML

The healthy detector passes. Boxes and labels stand behind a TopK: no metric of tensors fits them, so the task judges
them. What one picture does not show is said.

  $ paritas check
  PASS   labels: left to the task "detections"
         boxes: left to the task "detections"
         scores: cosine 1 >= 0.99
         detections: unmatched 0 <= 0
         detections: matched_iou_min 0.99* >= 0.95 (glob)
         ... and 2 more (--verbose)
  
  Checked    sim:fp16 against cpu, 1 sample
  Input      images: float32 [1,3,160,160], images.npy, sha256 1df0f2598a37
  Input      orig_target_sizes: int64 [1,2], declared value, sha256 6f292c3284be
  Ran on     1753 of 1753 nodes on CPUExecutionProvider (sim:fp16: simulated, each result rounded)
  Task       detections: pass (1 of 1 box matched, 1 on the device)
             unmatched 0 <= 0
             matched_iou_min 0.99* >= 0.95 (glob)
             max_score_difference 0.0003* <= 0.05 (glob)
             same_top_class 1 >= 1
             does not show average precision: the boxes are held against the reference, not against
               the truth
             does not show a rate: this is one image
             does not show crowded scenes, low confidence or confused classes: 1 box is a thin sample
             does not show that the device tells classes apart: all reference boxes have one class
  
  tensor             type                     cosine  SQNR dB  max abs    differing  note
  labels             int64 [1,40]                  -        - * of 40 (glob)
  boxes              float32 [1,40,4] * of 160 (glob)
  scores             float32 [1,40]         1.0000* of 40 (glob)
  images             float32 [1,3,160,160]  1.000000      inf        0  0 of 76,800  equal
  orig_target_sizes  int64 [1,2]                   -        -        0       0 of 2  equal; only 2 elements: proves little
  
  Coverage   3 of 3 outputs compared, 1 gated; 1 sample
  note: the gate "role=feature: cosine >= 0.99" (profile detection-device) applies to nothing here
  project sha256 *, gates * (glob)

Its fragile twin, the same function in float32, does not survive float16. With a step "locate" the check says where it
begins.

  $ sed 's/detr_mini.onnx/detr_mini_fragile.onnx/' paritas.toml > fragile.toml
  $ printf '[[step]]\ntype = "locate"\n' >> fragile.toml
  $ paritas check fragile.toml > fragile.txt
  [1]
  $ grep -E -A 4 '^(DEVIATES|Task|Step)' fragile.txt
  DEVIATES   scores: cosine 0.5249 < 0.99
             detections: unmatched 1 > 0
             detections: matched_iou_min could not be computed: 1 box has no partner, so the matched ones do not tell the whole
             detections: max_score_difference could not be computed: 1 box has no partner, so the matched ones do not tell the whole
             detections: same_top_class 0 < 1
  --
  Task       detections: deviates (0 of 1 box matched, 0 on the device)
             unmatched 1 > 0 (deviates)
             matched_iou_min could not be computed: 1 box has no partner, so the matched ones do not
               tell the whole (deviates)
             max_score_difference could not be computed: 1 box has no partner, so the matched ones do
  --
  Step       locate: first divergence at /dec/layers.0/n3/Pow
             finding: /dec/layers.0/n3/Pow (Pow) makes values up to 5.94e+07; float16 ends at 65504,
               so they are 907 times too large. Further nodes leave the range behind it:
               /dec/layers.0/n3/ReduceMean, /dec/layers.0/n3/Add, /dec/layers.0/n3/Sqrt.
  

Only a pass is exit code 0. Without gates nothing passes, and neither does a task that no gate is on.

  $ sed '/^\[gates\]/,/^profiles/d' paritas.toml > ungated.toml
  $ paritas check ungated.toml --quiet
  [1]

[width, height] or [height, width]?
===================================

Names of size inputs do not tell. The probe doubles each element in turn and looks what follows: x or y.

  $ cat >> paritas.toml << 'TOML'
  > [[step]]
  > type = "size-probe"
  > input = "orig_target_sizes"
  > boxes = "boxes"
  > format = "xyxy"
  > order = "wh"
  > TOML
  $ paritas check | grep -A 1 size-probe
  Step       size-probe: doubling the first element of "orig_target_sizes" doubles x alone, the second
             y alone: the model reads [width, height]

An order that the model contradicts makes the check invalid, however well the outputs agree: both sides were fed with
the same mistake.

  $ sed -i 's/order = "wh"/order = "hw"/' paritas.toml
  $ paritas check > contradicted.txt
  [1]
  $ head -1 contradicted.txt
  INVALID   size-probe: doubling the first element of "orig_target_sizes" doubles x alone, the second y alone: the model reads [width, height], but [height, width] is declared

Dumps instead of runs
=====================

A side may have been recorded elsewhere. Roles, tasks and gates are the same.

  $ paritas run detr_mini.onnx --input images=images.npy --input orig_target_sizes="$EXAMPLES/detr-mini/orig_target_sizes.npy" -o host --quiet
  $ paritas run detr_mini.onnx --input images=images.npy --input orig_target_sizes="$EXAMPLES/detr-mini/orig_target_sizes.npy" --target sim:fp16 -o board --quiet
  $ cat > dumps.toml << 'TOML'
  > schema = "paritas.project/1"
  > [recordings]
  > reference = "host"
  > device = "board"
  > [[gate]]
  > task = "detections"
  > metric = "unmatched"
  > op = "<="
  > value = 0
  > [[gate]]
  > tensor = "scores"
  > metric = "cosine"
  > op = ">="
  > value = 0.99
  > [[task]]
  > type = "detection"
  > name = "detections"
  > boxes = "boxes"
  > scores = "scores"
  > labels = "labels"
  > format = "xyxy"
  > TOML
  $ paritas check dumps.toml | head -5
  PASS   labels: left to the task "detections"
         boxes: left to the task "detections"
         scores: cosine 1 >= 0.99
         detections: unmatched 0 <= 0
  

Inputs that are declared beside two recordings are held against what each of them recorded.

  $ { cat dumps.toml; printf '[inputs.images]\nfile = "images.npy"\n'; } > declared.toml
  $ paritas check declared.toml | head -1
  PASS   labels: left to the task "detections"
  $ "$PYTHON" -c 'import numpy as np; x = np.load("images.npy"); x[0, 0, 0, 0] += 1; np.save("other.npy", x)'
  $ sed 's/images.npy/other.npy/' declared.toml > other.toml
  $ paritas check other.toml > other.txt
  [1]
  $ head -2 other.txt
  INVALID   images: the declared input is not what the reference recorded: 1 of 76800 elements differ
            images: the declared input is not what the device recorded: 1 of 76800 elements differ

For build servers, the same as JUnit XML.

  $ paritas check dumps.toml --junit check.xml --quiet
  $ grep -E 'testsuite |testcase' check.xml
    <testsuite name="paritas check dumps.toml" tests="8" failures="0" errors="0" skipped="0">
      <testcase classname="paritas.check" name="verdict" />
      <testcase classname="paritas.compare" name="labels" />
      <testcase classname="paritas.compare" name="boxes" />
      <testcase classname="paritas.compare" name="scores" />
      <testcase classname="paritas.compare" name="images" />
      <testcase classname="paritas.compare" name="orig_target_sizes" />
      <testcase classname="paritas.task" name="detections" />
      <testcase classname="paritas.task.detections" name="task=detections: unmatched &lt;= 0" />

The user's own evaluation
=========================

A command of a project file runs only when whoever starts the check allows it.

  $ cat >> dumps.toml << 'TOML'
  > [[task]]
  > type = "command"
  > name = "own"
  > command = ["sh", "-c", "test -f {device}/run.json && echo 0.71"]
  > figure = "map"
  > [[gate]]
  > task = "own"
  > metric = "map"
  > op = ">="
  > value = 0.7
  > TOML
  $ paritas check dumps.toml
  paritas: dumps.toml: the task "own" runs the command "sh -c test -f {device}/run.json && echo 0.71", and nothing allows that; read it, then pass --allow-exec
  [2]
  $ paritas check dumps.toml --allow-exec | head -5
  PASS   labels: left to the task "detections"
         boxes: left to the task "detections"
         scores: cosine 1 >= 0.99
         detections: unmatched 0 <= 0
         own: map 0.71 >= 0.7

A picture as input
==================

The steps from the file to the tensor are declared; the tensor that is fed is frozen, and its hash stands in the result.

  $ "$PYTHON" - << 'PY'
  > import struct, zlib
  > rows = b"".join(b"\0" + bytes((x * 5 + y * 3 + c * 70) % 256 for x in range(20) for c in range(3)) for y in range(10))
  > part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
  > open("photo.png", "wb").write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 20, 10, 8, 2, 0, 0, 0)) +
  >                               part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
  > PY
  $ sed 's/^file = "images.npy"/image = "photo.png"\n[inputs.images.steps]\nresize = { width = 160, height = 160, filter = "bilinear" }\ndivide_by = 255/; /^\[\[step/,$d' paritas.toml > photo.toml
  $ paritas check photo.toml --json photo.json --quiet || true
  $ "$PYTHON" - << 'PY'
  > import json
  > tensor = json.load(open("photo.json"))["inputs"][0]["tensors"][0]
  > print(tensor["file"], tensor["shape"], tensor["image"]["width"], tensor["image"]["height"], tensor["image"]["resized"])
  > print(tensor["image"]["tensor_sha256"] == tensor["tensor_sha256"] and len(tensor["tensor_sha256"]))
  > PY
  photo.png [1, 3, 160, 160] 20 10 {'width': 160, 'height': 160}
  64

A check has no parts: its result is not merged.

  $ paritas merge photo.json
  paritas: photo.json: is a result of paritas check, whose tasks and steps belong to all samples: they can be neither merged nor judged again; run paritas check on the whole recordings; parts are made with paritas compare --samples
  [2]
