How near was the decision?
==========================

Picks among near ties change with the last bit. `locate` says how near they were, which error is enough to change them, and
what depends on them.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini.onnx --device sim:fp16 --json healthy.json | sed -n '/^Decisions/,/figures below/p'
  Decisions      /dec/TopK: 11 of 40 moved, 0 picked otherwise
                   at most 0.0032 apart in the reference; a storage step there is 0.00391, local error
                   0.00195, accumulated 0.00356; rounding the scores is enough
                   decides over labels, boxes, scores; 2 nodes gather by it
                 /post/TopK: 11 of 40 moved, 2 picked otherwise
                   at most 0.00166 apart in the reference; a storage step there is 3.81e-06, local
                   error 9.43e-05, accumulated 0.00166; the accumulated error is enough
                   decides over labels, boxes; 1 node gathers by it
                 figures below use the reference's picks
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("healthy.json"))
  > for d in r["decisions"]:
  >     t = d["tie"]
  >     print(d["node"], t["explained_by"], t["margin"] <= 2 * t["accumulated_error"], d["outputs"])
  > labels = next(o for o in r["outputs"] if o["name"] == "labels")
  > print(sorted(labels["metrics"]), labels["class_ids"])
  > PY
  /dec/TopK storage True ['labels', 'boxes', 'scores']
  /post/TopK accumulated True ['labels', 'boxes']
  ['count', 'differing', 'finite', 'values'] True

The CPU decides as the CPU does: nothing changed, so there is no margin; the nearest tie is known all the same.

  $ locate detr_mini.onnx --device cpu --json - | "$PYTHON" -c '
  > import json, sys
  > for d in json.load(sys.stdin)["decisions"]: print(d["moved"], d["tie"]["margin"], d["tie"]["runner_up"] > 0)'
  0 None True
  0 None True

NonMaxSuppression weighs scores and overlaps: every box that one side alone keeps has the smallest change that turns it.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, onnx
  > from onnx import TensorProto, helper, numpy_helper
  > values = {"third": np.float32(1 / 3), "most": np.array([10], np.int64), "iou": np.array([0.5], np.float32)}
  > nodes = [helper.make_node("Mul", ["s", "third"], ["scores"], "/scores"),
  >          helper.make_node("NonMaxSuppression", ["b", "scores", "most", "iou"], ["selected"], "/nms")]
  > graph = helper.make_graph(nodes, "nms", [helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, 4, 4]),
  >                                          helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 1, 4])],
  >                           [helper.make_tensor_value_info("selected", TensorProto.INT64, [None, 3])],
  >                           [numpy_helper.from_array(value, name) for name, value in values.items()])
  > onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "nms.onnx")
  > np.save("b.npy", np.float32([[[0, 0, 4, 1], [1, 0, 5, 1], [10, 0, 14, 1], [20, 0, 24, 1]]]))
  > np.save("s.npy", np.float32([[[2.7, 2.7001, 2, 1]]]))
  > PY
  $ paritas locate nms.onnx --device sim:fp16 -i b=b.npy -i s=s.npy --json nms.json | sed -n '/^Decisions/,/^$/p'
  Decisions      /nms: 1 of 9 changed
                   2 boxes kept on one side only; in the reference at most 3.33e-05 from it, by score
                   (1 follows from others); a storage step there is 0.000488, local error 0.000619,
                   accumulated 0.000619; rounding the scores is enough
                   decides over selected
                 figures below use the reference's picks
  Tensors        0 of 1 float tensors under cosine 0.99 with the reference's decisions fed in (0
                 without); 1 of 1 probed one by one
  
  $ "$PYTHON" -c '
  > import json
  > tie = json.load(open("nms.json"))["decisions"][0]["tie"]
  > print(tie["margin_of"], tie["explained_by"])
  > for box in tie["boxes"]: print(box["box"], box["kept"], box["follows"], box["margin_of"], box["competitor"])'
  score storage
  0 False True None None
  1 True False score 0
