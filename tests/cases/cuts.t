Cutting a model in two: which half breaks the outputs?
======================================================

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ MAPS=encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0

The fragile detector, cut at its three feature maps. The encoder may run in float16, the decoder may not.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --cut $MAPS --only-cuts --json cut.json --save-cuts cuts.json
  DEVIATES   scores: cosine 0.5249 < 0.99
             labels: no gate covers it
             boxes: no gate covers it
  
  output  reference max  device max  cosine  max abs  note
  labels                                              15 of 40 differ (integers: no cosine)
  boxes           639.7       647.0  0.8052      599  rows behind a decision: match by task, not by row
  scores         0.9620      0.1002  0.5249    0.862  rows behind a decision: match by task, not by row
  
  Where it ran   float16 (simulated: 1753 nodes on CPUExecutionProvider, each result rounded)
  
  Cut "encoder"   3 tensors, 134,400 bytes; 260 nodes in front, 544 behind
    front          rear       scores max    cosine  outcome
    reference      reference      0.9620         1  equals the whole, bit for bit
    device         reference      0.9620  1.000000  holds
    reference      device         0.1005  0.526082  deviates
    device         device         0.1002  0.524862  deviates
    device, uncut                 0.1002  0.524862  deviates
    device's front half: lowest cosine 1.000000 of 3 tensors of the cut, at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0
  
  Finding   Cut "encoder" (at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0,
            /enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0, /enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0): the
            rear half alone on the device is enough to break the outputs (scores: cosine 0.5261 <
            0.99); the front half alone is not (scores: cosine 1 >= 0.99).
            shows           fed with the reference's tensors, the rear half on the device deviates;
                            behind the device's front half the reference's rear half holds
            does not show   which node of the rear half, that the front half is exact, or how other
                            inputs behave
            next            cut the rear half again (--cut, --auto-cuts), or look at its nodes in the
                            ranking
  
  * s in all (glob)
  [1]

The healthy one is acquitted.

  $ locate detr_mini.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --cut $MAPS --only-cuts | sed -n '/^Cut/,/^$/p;/^Note/p'
  Cut "encoder"   3 tensors, 134,400 bytes; 260 nodes in front, 544 behind
    front          rear       scores max    cosine  outcome
    reference      reference      0.9620         1  equals the whole, bit for bit
    device         reference      0.9620  1.000000  holds
    reference      device         0.9624  1.000000  holds
    device         device         0.9624  1.000000  holds
    device, uncut                 0.9624  1.000000  holds
    device's front half: lowest cosine 1.000000 of 3 tensors of the cut, at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0
  
  Note      Cut "encoder" (at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0,

Beside the usual diagnosis, the matrix is a part of it.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --cut $MAPS --json all.json > text; echo "[$?]"
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("all.json"))
  > print([f["id"] for f in r["findings"] if f["severity"] == "fault"], len(r["nodes"]) > 800)
  > print([c["outcome"] for c in r["cross_matrix"][0]["cells"]], r["cross_matrix"][0]["split"])
  > PY
  ['range-overflow', 'cut-rear'] True
  ['holds', 'holds', 'deviates', 'deviates'] exact

A cut file is used again, and for another model only after each tensor was found to be what it was.

  $ locate detr_mini.onnx --device sim:fp16 --cuts cuts.json --only-cuts | grep -E '^(Cut|note)'
  Cut "encoder"   3 tensors, 134,400 bytes; 260 nodes in front, 544 behind
  note: cuts.json was written for another file (18ebd82055b5): its 1 cut was validated anew against this one
  $ sed -i 's/"op": "Mul"/"op": "Add"/' cuts.json
  $ locate detr_mini.onnx --device sim:fp16 --cuts cuts.json --only-cuts
  paritas: cuts.json, cut "encoder": "/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0" of detr_mini.onnx is not the tensor that was cut: it was made by Add, and is made by Mul; the name means something else in this model: choose the cut again with --cut
  [2]

Proposed cuts say between which two the outputs break.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --auto-cuts 3 --only-cuts --json auto.json > text; echo "[$?]"
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > for m in json.load(open("auto.json"))["cross_matrix"]:
  >     print(m["name"], len(m["tensors"]), m["front"]["nodes"], m["split"], [c["outcome"] for c in m["cells"]])
  > PY
  auto-1 3 260 exact ['holds', 'holds', 'deviates', 'deviates']
  auto-2 3 276 exact ['holds', 'holds', 'deviates', 'deviates']
  auto-3 2 771 exact ['holds', 'deviates', 'holds', 'deviates']

What does not separate is refused, with the path that goes round.

  $ locate detr_mini.onnx --device sim:fp16 --cut pan.1.1.2/Mul_output_0 --only-cuts
  paritas: --cut cut-1: the cut does not separate detr_mini.onnx: a path goes round it, "images" -> ... -> "/enc/fpn.1/fpn.1.1/fpn.1.1.0/Conv_output_0" -> "/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0" -> "/dec/Reshape_output_0" -> ... -> "scores"; add "/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0", "/enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0" to the cut, or cut elsewhere
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --cut scores,boxes,labels --only-cuts
  paritas: --cut cut-1: the cut lies behind the outputs: nothing is left for the rear half; cut in front of the last nodes
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --cut images --only-cuts
  paritas: --cut cut-1: the cut holds nothing but graph inputs: the front half is empty; cut behind the first nodes
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --cut 1.2/Mul_output_0 --only-cuts
  paritas: --cut cut-1: "1.2/Mul_output_0" is the ending of 5 tensors: "/enc/stem/stem.1/stem.1.2/Mul_output_0", "/enc/fpn.0/fpn.0.1/fpn.0.1.2/Mul_output_0", "/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0", "/enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0", "/enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0"; give more of the name, so that one is left
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --cut 'nothing' --only-cuts
  paritas: --cut cut-1: "nothing" matches no tensor of detr_mini.onnx; give a tensor's name, its unique ending, or a regular expression; paritas inspect --verbose lists the names
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --cut 'a,,b' --only-cuts
  paritas: --cut: "a,,b" has an empty name; for example: encoder=map0,map1
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --only-cuts
  paritas: --only-cuts: there is no cut; name one with --cut, --cuts or --auto-cuts
  [2]

A project's cuts are used by a step that names them, and its tasks judge every cell.

  $ cat > p.toml << 'TOML'
  > schema = "paritas.project/1"
  > [model]
  > reference = "detr_mini_fragile.onnx"
  > [inputs.images]
  > file = "images.npy"
  > [inputs.orig_target_sizes]
  > file = "orig_target_sizes.npy"
  > [targets]
  > reference = "cpu"
  > device = "sim:fp16"
  > [[task]]
  > type = "detection"
  > boxes = "boxes"
  > scores = "scores"
  > labels = "labels"
  > format = "xyxy"
  > [[gate]]
  > task = "detection"
  > metric = "unmatched"
  > op = "<="
  > value = 0
  > [cuts]
  > encoder = ["fpn.1.1.2/Mul_output_0", "pan.0.1.2/Mul_output_0", "pan.1.1.2/Mul_output_0"]
  > [[step]]
  > type = "locate"
  > cuts = ["encoder"]
  > only_cuts = true
  > TOML
  $ paritas check p.toml | sed -n '/^Cut/,/^$/p;/^Step/p'
  Cut "encoder"   3 tensors, 134,400 bytes; 260 nodes in front, 544 behind
    front          rear       boxes max    cosine  outcome
    reference      reference      639.7         1  equals the whole, bit for bit
    device         reference      639.7  0.999901  holds; detection: unmatched 0 <= 0
    reference      device         647.0  0.803979  deviates; detection: unmatched 1 > 0
    device         device         647.0  0.805228  deviates; detection: unmatched 1 > 0
    device, uncut                 647.0  0.805228  deviates; detection: unmatched 1 > 0
    device's front half: lowest cosine 1.000000 of 3 tensors of the cut, at /enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0
  
  $ sed -i 's/cuts = \["encoder"\]/cuts = ["decoder"]/' p.toml
  $ paritas check p.toml
  paritas: p.toml: the step "locate" names the cut "decoder", which [cuts] lacks; declare it: [cuts] decoder = ["tensor"]
  [2]
  $ sed -i 's/cuts = \["decoder"\]/cuts = ["encoder"]/; s/pan.1.1.2/1.1.2/' p.toml
  $ paritas check p.toml
  paritas: p.toml, [cuts], "encoder": "1.1.2/Mul_output_0" is the ending of 2 tensors: "/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0", "/enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0"; give more of the name, so that one is left
  [2]
