The same story on a real accelerator stack
==========================================

Qualcomm's HTP, emulated on this machine through ONNX Runtime's QNN provider.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device qnn:htp,soc_model=77,htp_arch=73 --gate 'scores: cosine>=0.99' --json fragile.json > text; echo "[$?]"
  [1]
  $ head -1 text
  DEVIATES   scores: cosine 0.8696 < 0.99
  $ grep -E '^Where it ran' text
  Where it ran   842 of 842 nodes on QNNExecutionProvider (1 partition); evidence: session assignment, op trace

The top score falls from 0.962 to 0.339, although every node really ran on the accelerator. The ranking starts with the four
nodes of the layer norm that was written out.

  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("fragile.json"))
  > scores = next(o for o in r["outputs"] if o["name"] == "scores")
  > print(round(scores["reference"]["max"], 3), abs(scores["device"]["max"] - 0.3389) <= 0.002)
  > print(r["placement"]["nodes"], r["placement"]["device_share"])
  > print(sorted(r["ranked"][:4]))
  > print(r["first_divergence"])
  > print([f["id"] for f in r["findings"] if f["severity"] == "fault"], r["findings"][0]["nodes"][0])
  > effect = next(e for e in r["probe_effect"] if e["output"] == "scores")
  > print(effect["changed"], round(effect["unmarked"], 2), round(effect["marked"], 3))
  > PY
  0.962 True
  {'QNNExecutionProvider': 842} 1.0
  ['/dec/layers.0/n3/Add', '/dec/layers.0/n3/Pow', '/dec/layers.0/n3/ReduceMean', '/dec/layers.0/n3/Sqrt']
  /dec/layers.0/n3/Pow
  ['range-overflow'] /dec/layers.0/n3/Pow
  True 0.34 0.325

Marking intermediates changes what the compiler makes of the graph: that is reported, not hidden.

  $ tr -s '\n ' ' ' < text | grep -oE "Marking intermediates as outputs changes the device's scores"
  Marking intermediates as outputs changes the device's scores

The healthy detector has no fault. With the reference's decisions fed in, no tensor is under cosine 0.99.

  $ locate detr_mini.onnx --device qnn:htp,soc_model=77,htp_arch=73 --json healthy.json > text; echo "[$?]"
  [0]
  $ grep -c '^Finding' text
  0
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("healthy.json"))
  > print(r["verdict"], [f["id"] for f in r["findings"] if f["severity"] == "fault"], r["placement"]["nodes"])
  > best = [n["accumulated_forced"] or n["accumulated"] for n in r["nodes"] if n["dtype"].startswith("float")]
  > best = [m for m in best if m]
  > print(len(best) > 800, sum(not m["cosine"] >= 0.99 for m in best))
  > PY
  not judged [] {'QNNExecutionProvider': 842}
  True 0

An isolated node that the accelerator cannot run is `not probed`, never called its error.

  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("fragile.json"))
  > rows = [n for n in r["nodes"] if n["local"] and n["probe_ran_on"] not in ("", "QNNExecutionProvider")]
  > print(rows)
  > PY
  []
