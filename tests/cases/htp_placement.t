Where the detector really runs, and what a pin does
===================================================

On Qualcomm's HTP, emulated on this machine, every node of the optimised graph goes to the accelerator, and all sources agree.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ placement() { paritas placement "$@" --target qnn:htp,soc_model=77,htp_arch=73 --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ placement detr_mini_fragile.onnx --require 100% --json plain.json > text; echo "[$?]"
  $ grep -E '^(PASS|Device|Optimised)' text
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("plain.json"))
  > p = r["placement"]
  > print([e["source"] for e in p["evidence"]], p["contradictions"], p["unmapped"])
  > print(p["totals"]["source_nodes"], p["totals"]["optimised_nodes"], p["totals"]["crossings"], p["totals"]["places"]["unknown"])
  > print(p["traced_ops"], p["totals"]["device_cycles"] > 1e6)
  > PY

Pinning Softmax to the CPU looks like a repair that one might try. Every node that it touches is listed; it cuts the graph into
12 partitions, and it does not repair.

  $ placement detr_mini_fragile.onnx --pin Softmax=CPU --gate 'scores: cosine>=0.99' --against plain.json --json pin.json > text; echo "[$?]"
  $ grep -E '^(Device|After|Pinned|Against)' text
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("pin.json"))
  > pin, totals = r["pin"], r["placement"]["totals"]
  > print(len(pin["touched_source"]), len(pin["touched_optimised"]), len(pin["on_cpu_after"]), pin["moved_too"])
  > print(totals["optimised"], pin["before"]["totals"]["device_partitions"], totals["device_partitions"])
  > print(totals["places"]["planned_cpu"], totals["places"]["cpu_fallback"], r["placement"]["contradictions"])
  > scores = next(o for o in pin["outputs"] if o["name"] == "scores")
  > print(abs(scores["before"]["device_range"][1] - 0.3389) < 0.002, abs(scores["after"]["device_range"][1] - 0.319) < 0.002)
  > print(pin["deviated"], pin["recovered"], r["findings"][0]["id"], len(r["change"]["moved"]))
  > PY

Pinning all that is in the faulty layer norm does bring the score back, because the CPU computes it.

  $ placement detr_mini_fragile.onnx $(for op in Pow ReduceMean Add Sqrt Div; do echo --pin $op=CPU; done) --gate 'scores: cosine>=0.99' --json repaired.json > text; echo "[$?]"
  $ grep '^Pinned' text
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("repaired.json"))
  > f = r["findings"][0]
  > print(r["pin"]["recovered"], f["id"], r["placement"]["totals"]["optimised"])
  > print(f["does_not_show"])
  > PY

A back end that cannot be loaded takes nothing, and the session runs without an error.

  $ paritas placement detr_mini_fragile.onnx --target qnn:cpu,backend_path=/nowhere/libQnnCpu.so --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy > text; echo "[$?]"
  $ head -1 text; grep '^Finding' text
