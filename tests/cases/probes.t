What is in a local error?
=========================

A local error has several sources: the result is rounded, its inputs are, and the kernel has an error of its own. `--probe-checks`
tells them apart, by node and by module.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --probe-checks --json probes.json > text; echo "[$?]"
  $ sed -n '/^Modules/,/^  .dec.layers.0.n3/p' text
  $ grep -E '^(Kernel remainder|Softmax sums|Normalisations|Sums of products)' text

The module that breaks is the only one with NaN and infinities; Softmax sums are those of storing alone; the statistic of the
normalisation is broken there, and nowhere else.

  $ "$PYTHON" - << 'PY'
  > import json
  > c = json.load(open("probes.json"))["probe_checks"]
  > print(c["islands"], len(c["probes"]) > 700, c["sessions"])
  > print([b["path"] for b in c["blocks"] if b["device_only"] > 0])
  > print(len(c["softmax"]), max(s["device"]["max"] / s["storage"]["max"] for s in c["softmax"]) < 2)
  > print(sorted({n["kind"] for n in c["norms"]}), sum(n["decomposed"] for n in c["norms"]))
  > broken = [n["node"] for n in c["norms"] if any(s["local"] and s["local"]["device_only"] for s in n["steps"])]
  > print(broken)
  > print(max(s["kernel_rms"] / s["accumulation_rms"] for s in c["sums"] if s["kernel_rms"] is not None) < 0.5)
  > PY

Modules can be probed as a whole, and so can what a pattern names.

  $ locate detr_mini.onnx --device sim:fp16 --probe-checks --islands blocks --json blocks.json > text; echo "[$?]"
  $ locate detr_mini.onnx --device sim:fp16 --islands '/dec/layers.?/n3' --json n3.json > text; echo "[$?]"
  $ "$PYTHON" - << 'PY'
  > import json
  > for file in ("blocks.json", "n3.json"):
  >     r = json.load(open(file))
  >     print(sorted({n["local"]["island"] for n in r["nodes"] if n["local"] and n["local"]["island"].endswith("/n3")}))
  >     print({n["not_probed"] for n in r["nodes"] if n["name"] == "/dec/layers.0/n3/Sqrt"})
  > PY
  $ locate detr_mini.onnx --device sim:fp16 --islands '/decoder/*' ; echo "[$?]"
