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
