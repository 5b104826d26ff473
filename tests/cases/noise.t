What does each side do by itself?
=================================

`--consistency` measures, before anything is concluded, how far the outputs move without any difference between the two sides: the
device run again and built again, rows of a batch that are fed alike, the reference with its optimiser on and off.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --consistency --json healthy.json > text 2> /dev/null; echo "[$?]"
  [0]
  $ sed -n '1p;/^Noise floor/,/^$/p' text
  NOT JUDGED   labels: no gate covers it
  Noise floor    what outputs move by themselves, at worst:
    output  check  * (glob)
    boxes   reference optimisation  * dB   1.000  * of 160 (glob)
    scores  reference optimisation  * dB   1.000  * of 40 (glob)
                 equal to the bit: device repeats, device rebuild
                 device rows: not applicable: one row, and the leading dimension of "images" is fixed
                 reference rows: not applicable: one row, and the leading dimension of "images" is
                 fixed
  

The two sides below are the same runtime with the same settings, so they agree to the bit. But the gate asks for more than the
reference itself keeps when its optimiser is on: the agreement is luck, and no pass.

  $ locate detr_mini.onnx --device cpu --gate 'scores: max_abs<=1e-8' --json - 2> /dev/null | "$PYTHON" -c '
  > import json, sys
  > print(json.load(sys.stdin)["verdict"])'
  not judged
  $ locate detr_mini.onnx --device cpu --gate 'scores: max_abs<=1e-8' --consistency --json tight.json > text 2> /dev/null; echo "[$?]"
  [1]
  $ sed -n '1,3p;/^Note/,$p' text | grep -v ' s in all'
  INVALID   scores: cannot tell: max_abs 0 <= 1e-08, and reference optimisation alone would fail the gate (max_abs * > 1e-08) (glob)
            labels: no gate covers it
            boxes: no gate covers it
  Note      The reference moves by itself (reference optimisation: none against all): scores by up to
            * (* dB, * elements); a gate fails on that alone. (glob)
  

`--full` adds local probes in depth, outputs with few marks, and what the largest local errors do to the outputs when they are
injected alone. A large harmless error is then told apart from the cause.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --full --json full.json > text 2> /dev/null; echo "[$?]"
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("full.json"))
  > print(r["verdict"], r["ranked"][0], [f["id"] for f in r["findings"]])
  > rows = {n["name"]: n for n in r["nodes"]}
  > print("cause", rows["/dec/layers.0/n3/Pow"]["sensitivity"] > 0.5)
  > local = [n for n in r["nodes"] if n["local"] and not n["name"].startswith("/dec/layers.0/n3")]
  > largest = sorted(local, key=lambda n: -n["local"]["metrics"]["nmse"] if n["local"]["metrics"]["nmse"] != "nan" else 0)[:20]
  > print("others", all(n["sensitivity"] is not None and n["sensitivity"] < 1e-6 for n in largest))
  > print([g["graph"] for g in r["probe_effect"][0]["graphs"]][:2], {o["graph"] for o in r["outputs"]})
  > print("probe_checks" in r, r["consistency"]["checks"][0]["status"])
  > PY
  deviates /dec/layers.0/n3/Pow ['range-overflow']
  cause True
  others True
  ['unmarked', '8 marks'] {'unmarked'}
  True measured

With `--marks N` accumulated figures come from graphs with at most N marks each; every figure says which.

  $ locate detr_mini.onnx --device sim:fp16 --marks 300 --json marks.json > text 2> /dev/null; echo "[$?]"
  [0]
  $ "$PYTHON" -c '
  > import collections, json
  > nodes = json.load(open("marks.json"))["nodes"]
  > inner = [n for n in nodes if n["accumulated"] and n["tensor"] not in ("labels", "boxes", "scores")]
  > graphs = collections.Counter(n["graphs"]["accumulated"] for n in inner)
  > print(graphs)'
  Counter({'marks 1/3': 300, 'marks 2/3': 300, 'marks 3/3': 205})
