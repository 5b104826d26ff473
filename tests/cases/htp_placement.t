Where the detector really runs, and what a pin does
===================================================

On Qualcomm's HTP, emulated on this machine, every node of the optimised graph goes to the accelerator, and all sources agree.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ placement() { paritas placement "$@" --target qnn:htp,soc_model=77,htp_arch=73 --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ placement detr_mini_fragile.onnx --require 100% --json plain.json > text; echo "[$?]"
  [0]
  $ grep -E '^(PASS|Device|Optimised)' text
  PASS   optimised graph: 842 of 842 nodes on the device, required 100%
  Device         842 of 842 nodes, 100 % on QNNExecutionProvider, 1 partition
  Optimised      842 nodes: 842 on QNNExecutionProvider
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("plain.json"))
  > p = r["placement"]
  > print([e["source"] for e in p["evidence"]], p["contradictions"], p["unmapped"])
  > print(p["totals"]["source_nodes"], p["totals"]["optimised_nodes"], p["totals"]["crossings"], p["totals"]["places"]["unknown"])
  > print(p["traced_ops"], p["totals"]["device_cycles"] > 1e6)
  > PY
  ['session assignment', 'profile', 'op trace', 'cycles'] [] []
  1352 842 0 0
  774 True

Pinning Softmax to the CPU looks like a repair that one might try. Every node that it touches is listed; it cuts the graph into
12 partitions, and it does not repair.

  $ placement detr_mini_fragile.onnx --pin Softmax=CPU --gate 'scores: cosine>=0.99' --against plain.json --json pin.json > text; echo "[$?]"
  [1]
  $ grep -E '^(Device|After|Pinned|Against)' text
  Device         828 of 842 nodes, 98.3 % on QNNExecutionProvider, 12 partitions
  After          14 of them on the CPU, 0 other nodes beside them; partitions 1 -> 12; hand-overs 0 ->
  Pinned         did not repair
  Against        plain.json: device 100 % -> 98.3 %, partitions 1 -> 12, hand-overs 0 -> 88
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
  14 14 14 []
  {'CPUExecutionProvider': 14, 'QNNExecutionProvider': 828} 1 12
  14 0 []
  True True
  True False pin-did-not-repair 14

The runtime's own profile counts the bytes that enter a partition: they are those of the tensors that cross (the first one
reads the graph's inputs).

  $ "$PYTHON" - << 'PY'
  > import json
  > p = json.load(open("pin.json"))["placement"]
  > crossing = {}
  > for c in p["crossings"]:
  >     for to in c["to"]: crossing[to] = crossing.get(to, 0) + c["bytes"]
  > device = [row for row in p["partitions"] if row["provider"] == "QNNExecutionProvider"]
  > print(len(device), all(row["input_bytes"] == crossing[row["name"]] for row in device[1:]), device[0]["input_bytes"])
  > print(p["totals"]["crossing_bytes"])
  > PY
  12 True 307216
  2561432

Pinning all that is in the faulty layer norm does bring the score back, because the CPU computes it.

  $ placement detr_mini_fragile.onnx $(for op in Pow ReduceMean Add Sqrt Div; do echo --pin $op=CPU; done) --gate 'scores: cosine>=0.99' --json repaired.json > text; echo "[$?]"
  [0]
  $ grep '^Pinned' text
  Pinned         the outputs match again, with the pinned nodes computed by the CPU
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("repaired.json"))
  > f = r["findings"][0]
  > print(r["pin"]["recovered"], f["id"], r["placement"]["totals"]["optimised"])
  > print(f["does_not_show"])
  > PY
  True pin-matches-on-cpu {'CPUExecutionProvider': 138, 'QNNExecutionProvider': 704}
  that the device is repaired, or which of the nodes was the cause (a pin concerns a type everywhere and cuts the graph anew, so other kernels changed too)

A back end that cannot be loaded takes nothing, and the session runs without an error.

  $ paritas placement detr_mini_fragile.onnx --target qnn:cpu,backend_path=/nowhere/libQnnCpu.so --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy > text; echo "[$?]"
  [1]
  $ head -1 text; grep '^Finding' text
  DEVIATES   0 of 813 nodes on QNNExecutionProvider
  Finding   QNNExecutionProvider took none of 813 nodes: 0 %. Everything was computed by others.
