A package: split, proved, used as a target
==========================================

  $ cp -r "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy "$EXAMPLES"/detr-mini/more .
  $ cat > paritas.toml <<'END'
  > schema = "paritas.project/1"
  > [model]
  > reference = "detr_mini_fragile.onnx"
  > [inputs.images]
  > files = ["images.npy", "more/images_0.npy"]
  > meaning = "RGB / 255, 160 x 160 pixels"
  > [inputs.orig_target_sizes]
  > file = "orig_target_sizes.npy"
  > meaning = "[width, height] in pixels"
  > [outputs.scores]
  > role = "scores"
  > [outputs.boxes]
  > meaning = "x1, y1, x2, y2 in pixels"
  > [targets]
  > reference = "cpu"
  > device = "sim:fp16"
  > [cuts]
  > encoder = ["fpn.1.1.2/Mul_output_0", "pan.0.1.2/Mul_output_0", "pan.1.1.2/Mul_output_0"]
  > [gates]
  > profiles = ["detection-device"]
  > [package.cpu_gates]
  > profiles = ["detection-export"]
  > [[task]]
  > type = "detection"
  > name = "detections"
  > boxes = "boxes"
  > scores = "scores"
  > labels = "labels"
  > format = "xyxy"
  > END

The uncut model does not hold on the device; its encoder on the device with the decoder on the CPU does.

  $ paritas check paritas.toml | head -1
  DEVIATES   scores: cosine 0.5249 < 0.99 (sample-000000)
  $ paritas split paritas.toml -o package --json split.json --ledger ledger.jsonl
  PASS   all 6 checks hold
  
  Package    package: 7 files, manifest.json and SHA256SUMS
  Cut        encoder: feature_0 [1,64,20,20], feature_1 [1,64,10,10], feature_2 [1,64,5,5] hand over
               33,600 elements, 134,400 bytes (0.13 MiB)
               feature_0 is /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0
               feature_1 is /enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0
               feature_2 is /enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0
  Premise    on the reference, the parts equal the whole bit for bit on 2 samples
  Part       encoder: encoder.onnx for sim:fp16, 260 nodes of the model, 589 on CPUExecutionProvider
               of its own graph
  Part       decoder: decoder.onnx for cpu,opt=all, 544 nodes of the model, 539 on
               CPUExecutionProvider of its own graph
  Check      files: 7 files and the manifest have the SHA-256 that they had
  Check      reload: encoder.onnx in * s, decoder.onnx in * s (glob)
  Check      placement: no part was made for a device other than the CPU
  Check      cpu parts: 2 tensors of 2 samples pass their gates, the lowest cosine is 1.000000 (scores
               of sample-000001); detections: unmatched 0 <= 0; detections: matched_iou_min 1 >= 0.99;
               detections: max_score_difference 5.96e-08 <= 0.001
  Check      chain: 8 tensors of 2 samples pass their gates, the lowest cosine is 0.999995 (scores of
               sample-000001); detections: unmatched 0 <= 0; detections: matched_iou_min 0.9996 >=
               0.95; detections: max_score_difference 6.843e-05 <= 0.05; detections: same_top_class 1
               >= 1
  Check      repeat: a second run of every sample gives the same bits
  model sha256 18ebd82055b5, * s (glob)
  $ find package -type f | sort
  package/SHA256SUMS
  package/decoder.onnx
  package/encoder.onnx
  package/gates.json
  package/gates_cpu_parts.json
  package/manifest.json
  package/reference/run.json
  package/reference/sample-000000.safetensors
  package/reference/sample-000001.safetensors
  $ (cd package && sha256sum --quiet -c SHA256SUMS && echo sums hold)
  sums hold

Verified again by anybody, from the files alone.

  $ paritas verify package --json verify.json
  PASS   all 6 checks hold
  
  Package    package, of detr_mini_fragile.onnx (SHA-256 18ebd82055b5)
  Check      files: 7 files and the manifest have the SHA-256 that they had
  Check      reload: encoder.onnx in * s, decoder.onnx in * s (glob)
  Check      placement: no part was made for a device other than the CPU
  Check      cpu parts: 2 tensors of 2 samples pass their gates, the lowest cosine is 1.000000 (scores
               of sample-000001); detections: unmatched 0 <= 0; detections: matched_iou_min 1 >= 0.99;
               detections: max_score_difference 5.96e-08 <= 0.001
  Check      chain: 8 tensors of 2 samples pass their gates, the lowest cosine is 0.999995 (scores of
               sample-000001); detections: unmatched 0 <= 0; detections: matched_iou_min 0.9996 >=
               0.95; detections: max_score_difference 6.843e-05 <= 0.05; detections: same_top_class 1
               >= 1
  Check      repeat: a second run of every sample gives the same bits
  manifest sha256 *, * s (glob)
  $ "$PYTHON" -c "
  > import json
  > v = json.load(open('verify.json')); m = json.load(open('package/manifest.json'))
  > print(v['verdict'], [c['id'] for c in v['checks']])
  > print([t['name'] + ' is ' + t['source'] for t in m['cuts'][0]['tensors']], sum(t['elements'] for t in m['cuts'][0]['tensors']))
  > print([(p['name'], [i['tensor'] for i in p['inputs']], [o['tensor'] for o in p['outputs']]) for p in m['parts']])
  > print(m['inputs'][1]['meaning'], '|', m['outputs'][1]['meaning'], '|', m['verification']['verdict'])
  > "
  pass ['files', 'reload', 'placement', 'cpu parts', 'chain', 'repeat']
  ['feature_0 is /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0', 'feature_1 is /enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0', 'feature_2 is /enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0'] 33600
  [('encoder', ['images'], ['feature_0', 'feature_1', 'feature_2']), ('decoder', ['feature_0', 'feature_1', 'feature_2', 'orig_target_sizes'], ['labels', 'boxes', 'scores'])]
  [width, height] in pixels | x1, y1, x2, y2 in pixels | pass

Nothing is overwritten, and what is changed is refused by name.

  $ paritas split paritas.toml -o package
  paritas: package: exists already; choose another name or pass --force
  [2]
  $ cp -r package changed; printf x >> changed/decoder.onnx; paritas verify changed
  paritas: changed/decoder.onnx: was changed: its SHA-256 is *, SHA256SUMS says *; copy the package again, or split the model again (glob)
  [2]
  $ cp -r package more-files; touch more-files/notes.txt; paritas verify more-files
  paritas: more-files/notes.txt: does not belong to the package: SHA256SUMS does not list it; remove it, or copy the package again
  [2]
  $ cp -r package fewer; rm fewer/reference/sample-000001.safetensors; paritas verify fewer
  paritas: fewer/reference/sample-000001.safetensors: is listed in SHA256SUMS, but absent; copy the package again, or split the model again
  [2]
  $ paritas verify more
  paritas: more/SHA256SUMS: is absent: nothing shows that the package is whole; copy the package again, or split the model again
  [2]
  $ paritas verify nowhere
  paritas: nowhere: no such folder; give the folder that paritas split wrote
  [2]

Gates that the chain does not hold: nothing is delivered.

  $ paritas split detr_mini_fragile.onnx --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy -o strict \
  >   --cut fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0 --device sim:fp16 --gate 'scores: max_abs<=1e-9' --quiet
  [1]
  $ ls strict
  ls: cannot access 'strict': No such file or directory
  [2]

The package is a target: its chain is recorded, compared, checked.

  $ paritas run package --input images=more/images_1.npy --input orig_target_sizes=orig_target_sizes.npy -o chain
  Recorded 1 sample of package on package:package in * s: chain (glob)
  Where it ran   1128 of 1128 nodes on CPUExecutionProvider
  note: package of detr_mini_fragile.onnx; SHA-256 of its manifest * (glob)
  note: part "encoder" (encoder.onnx) on sim:fp16: 589 on CPUExecutionProvider of the session
  note: part "decoder" (decoder.onnx) on cpu,opt=all: 539 on CPUExecutionProvider of the session
  $ paritas run detr_mini_fragile.onnx --input images=more/images_1.npy --input orig_target_sizes=orig_target_sizes.npy -o whole --quiet
  $ paritas compare whole chain --gate 'scores: cosine>=0.999' --json - | "$PYTHON" -c "
  > import json, sys
  > for t in json.load(sys.stdin)['tensors']: print(t['name'], t['role'], t['rule'])"
  labels output no gate covers it
  boxes output no gate covers it
  scores output cosine 1 >= 0.999
  images input equal inputs
  orig_target_sizes input equal inputs
  feature_0 intermediate missing, not gated
  feature_1 intermediate missing, not gated
  feature_2 intermediate missing, not gated
  $ paritas compare whole package --gate 'scores: cosine>=0.999' | head -2
  NOT JUDGED   labels: no gate covers it
               boxes: no gate covers it
  $ sed -i 's|device = "sim:fp16"|device = "package:package"|' paritas.toml
  $ paritas check paritas.toml | head -1
  PASS   labels: left to the task "detections" (sample-000000)

Which part departs from the model: the decoder, once it is on the device too.

  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device package:package --gate 'scores: cosine>=0.99'
  NOT JUDGED   labels: no gate covers it
               boxes: no gate covers it
  
  Located    package against detr_mini_fragile.onnx on cpu
  
    part     target       tensor     cosine, chain  cosine, part alone fed  this part alone
    encoder  sim:fp16     feature_0       1.000000                1.000000  scores: cosine 1 >= 0.99
                          feature_1       1.000000                1.000000
                          feature_2       1.000000                1.000000
    decoder  cpu,opt=all  labels          0 differ                0 differ  scores: cosine 1 >= 0.99
                          boxes           0.999901                1.000000
                          scores          1.000000                1.000000
  
  Note       The package holds on this sample (scores: cosine 1 >= 0.99): encoder, decoder.
               shows: the parts that ship give what the whole model gives on the reference, on this
                 sample
               does not show: other inputs, or that any part is exact
               next: paritas verify checks it on the package's own samples
  manifest sha256 *, * s (glob)
  $ sed -i 's|device = "package:package"|device = "sim:fp16"|' paritas.toml
  $ paritas split paritas.toml --part encoder=sim:fp16 --part decoder=sim:fp16 -o both
  DEVIATES   chain: scores: cosine 0.5249 < 0.99 (sample-000000); scores: cosine 0.7459 < 0.99
               (sample-000001); detections: unmatched 2 > 0; and 3 more
  
  Package    nothing was delivered: the package does not hold what it must: chain: scores: cosine
               0.5249 < 0.99 (sample-000000); scores: cosine 0.7459 < 0.99 (sample-000001);
               detections: unmatched 2 > 0; and 3 more
  Cut        encoder: feature_0 [1,64,20,20], feature_1 [1,64,10,10], feature_2 [1,64,5,5] hand over
               33,600 elements, 134,400 bytes (0.13 MiB)
               feature_0 is /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0
               feature_1 is /enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0
               feature_2 is /enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0
  Premise    on the reference, the parts equal the whole bit for bit on 2 samples
  Part       encoder: encoder.onnx for sim:fp16, 260 nodes of the model, 589 on CPUExecutionProvider
               of its own graph
  Part       decoder: decoder.onnx for sim:fp16, 544 nodes of the model, 1167 on CPUExecutionProvider
               of its own graph
  Check      files: 7 files and the manifest have the SHA-256 that they had
  Check      reload: encoder.onnx in * s, decoder.onnx in * s (glob)
  Check      placement: no part was made for a device other than the CPU
  Check      chain: scores: cosine 0.5249 < 0.99 (sample-000000); scores: cosine 0.7459 < 0.99
               (sample-000001); detections: unmatched 2 > 0; and 3 more (deviates)
  Check      repeat: a second run of every sample gives the same bits
  model sha256 18ebd82055b5, * s (glob)
  [1]
  $ paritas split detr_mini_fragile.onnx --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy -o both \
  >   --cut fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0 --part encoder=sim:fp16 --part decoder=sim:fp16 --quiet
  $ locate detr_mini_fragile.onnx --device package:both --gate 'scores: cosine>=0.99'
  DEVIATES   scores: cosine 0.5249 < 0.99
  
  Located    both against detr_mini_fragile.onnx on cpu
  
    part     target    tensor     cosine, chain  cosine, part alone fed  this part alone
    encoder  sim:fp16  feature_0       1.000000                1.000000  scores: cosine 1 >= 0.99
                       feature_1       1.000000                1.000000
                       feature_2       1.000000                1.000000
    decoder  sim:fp16  labels         15 differ               15 differ  scores: cosine 0.5261 < 0.99
                       boxes           0.805228                0.803979
                       scores          0.524862                0.526082
  
  Fault      The part "decoder" on sim:fp16 alone is enough to break the outputs (scores: cosine
               0.5261 < 0.99); every other part was the reference's.
               shows: with this part from the package and all others on the reference, the outputs
                 deviate on this sample
               does not show: which node of the part, that the other parts are exact, or how other
                 inputs behave
               next: paritas locate MODEL with --device sim:fp16 looks into its nodes
  manifest sha256 *, * s (glob)
  [1]
  $ locate detr_mini.onnx --device package:both
  paritas: both: was made from detr_mini_fragile.onnx with SHA-256 18ebd82055b5, not from detr_mini.onnx with b22511ada1ce; give the model that it was made from
  [2]

What was tried stands in the ledger, and in the next package.

  $ paritas ledger ledger.jsonl | tail -8
  detr_mini_fragile.onnx   sha256 18ebd82055b5, 1 experiment
    cut at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0, /enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0,
      /enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0: delivered in package
      *  package  encoder=sim:fp16 decoder=cpu,opt=all  pass (glob)
          delivered: 8 tensors of 2 samples pass their gates, the lowest cosine is 0.999995 (scores of
          sample-000001); detections: unmatched 0 <= 0; detections: matched_iou_min 0.9996 >= 0.95;
          detections: max_score_difference 6.843e-05 <= 0.05; detections: same_top_class 1 >= 1
  
