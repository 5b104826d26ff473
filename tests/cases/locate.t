Where does it stop?
===================

The detector of the examples finds its object with a score of 0.962 on the CPU. In float16 the fragile variant, which computes
the same function, loses it. One command says that the answer is broken, and where the error enters.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --json fragile.json > text; echo "[$?]"
  [1]
  $ head -1 text
  DEVIATES   scores: cosine 0.5249 < 0.99
  $ grep -E '^scores' text
  scores * 0.9620 * 0.1002 * 0.5249 * (glob)
  $ grep -E '^(Where it ran|First divergence)' text
  Where it ran   float16 (simulated: * nodes on CPUExecutionProvider, each result rounded) (glob)
  First divergence   /dec/layers.0/n3/Pow; what deviates behind it inherits

The finding names the node, what it shows, what it does not show, and what to do next.

  $ sed -n '/^Finding/,/next/p' text | tr -s '\n ' ' ' | grep -oE '^Finding /dec/layers.0/n3/Pow \(Pow\) makes values up to [0-9.e+]+; float16 ends at 65504'
  Finding /dec/layers.0/n3/Pow (Pow) makes values up to 5.94e+07; float16 ends at 65504
  $ grep -cE '^ +(shows|does not show|next) ' text
  3

For scripts, the same as JSON.

  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("fragile.json"))
  > print(r["schema"], r["verdict"], r["reasons"][0].split()[0])
  > scores = next(o for o in r["outputs"] if o["name"] == "scores")
  > print(round(scores["reference"]["max"], 3), round(scores["device"]["max"], 1))
  > print(r["ranked"][0], r["first_divergence"])
  > row = next(n for n in r["nodes"] if n["name"] == r["ranked"][0])
  > print(row["op"], row["range_violation"], row["consequential"], row["local"]["representable"], row["local"]["storage_baseline"])
  > print([f["id"] for f in r["findings"] if f["severity"] == "fault"])
  > print(len(r["nodes"]) > 800, r["sessions"] > 0, sorted(r["placement"]))
  > PY
  paritas.locate/1 deviates scores:
  0.962 0.1
  /dec/layers.0/n3/Pow /dec/layers.0/n3/Pow
  Pow overflow True False None
  ['range-overflow']
  True True ['device_share', 'evidence', 'nodes', 'partitions', 'requested']

A device that only saturates hides nothing.

  $ locate detr_mini_fragile.onnx --device sim:fp16,overflow=saturate --gate 'scores: cosine>=0.99' --json - |
  > "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin); print(r["verdict"], r["ranked"][0])'
  deviates /dec/layers.0/n3/Pow

A healthy network
=================

No fault is found on the detector as it was trained; what differs behind its decisions is matched, not blamed.

  $ locate detr_mini.onnx --device sim:fp16 --json healthy.json > text; echo "[$?]"
  [0]
  $ grep -c '^Finding' text
  0
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("healthy.json"))
  > print(r["verdict"], [f["id"] for f in r["findings"] if f["severity"] == "fault"], r["first_divergence"])
  > PY
  not judged [] None

Nothing deviates
================

The CPU against itself differs nowhere, and says so.

  $ "$PYTHON" "$CASES/data/small_models.py"
  $ paritas locate square.onnx --input x=x2.npy --device cpu --gate 'y: differing<=0' > text; echo "[$?]"
  [0]
  $ head -1 text
  PASS   y: differing 0 <= 0
  $ grep -cE '^(Finding|First divergence)' text
  0
  [1]

Small values fit float16; the large one does not.

  $ paritas locate square.onnx --input x=x2.npy --device sim:fp16 --gate 'y: max_rel<=0.01' | head -1
  PASS   y: max_rel 0 <= 0.01
  $ paritas locate square.onnx --input x=x.npy --device sim:fp16 --gate 'y: max_rel<=0.01' --json - |
  > "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin); print(r["verdict"], r["ranked"][0], r["findings"][0]["id"])'
  deviates /square/Mul range-overflow

What is asked must make sense.

  $ paritas locate square.onnx --input x=x.npy
  paritas: --device is required
  [2]
  $ paritas locate square.onnx --input x=x.npy --input x=x2.npy --device sim:fp16 | head -1
  DEVIATES   y: 1 of 10 elements are NaN or infinite on the device only (sample-000000)
