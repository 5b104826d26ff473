What is in a local error?
=========================

A local error has several sources: the result is rounded, its inputs are, and the kernel has an error of its own. `--probe-checks`
tells them apart, by node and by module.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --probe-checks --json probes.json > text; echo "[$?]"
  [1]
  $ sed -n '/^Modules/,/^  .dec.layers.0.n3/p' text
  Modules (local errors of their tensors; out: accumulated NMSE of what leaves them)
    module             probed  nan/inf  NMSE sum  worst node                   x storage      out
    /dec              513/514        4   8.2e-05  /dec/layers.0/n3/Pow            15.4 x  5.9e-02
    /dec/layers.0     101/101        4   1.0e-05  /dec/layers.0/n3/Pow            7.86 x  1.0e+00
    /dec/layers.0/n3      8/8        4   4.5e-07  /dec/layers.0/n3/Pow            2.81 x  1.0e+00
  $ grep -E '^(Kernel remainder|Softmax sums|Normalisations|Sums of products)' text
  Kernel remainder (local max error less what rounding the result and the inputs costs at most)
  Softmax sums (|sum - 1| along its axis, and what storing the reference costs)
  Normalisations (relative errors, rms: of steps by themselves; scale: the statistic that the result implies)
  Sums of products (rms: estimates for rounded operands (grows as sqrt K) and partial sums (as K); measured kernel)

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
  fused True 1
  ['/dec', '/dec/layers.0', '/dec/layers.0/n3']
  14 True
  ['LayerNormalization', 'RMSNormalization'] 9
  ['/dec/layers.0/n3/Mul']
  True

Modules can be probed as a whole, and so can what a pattern names.

  $ locate detr_mini.onnx --device sim:fp16 --probe-checks --islands blocks --json blocks.json > text; echo "[$?]"
  [0]
  $ locate detr_mini.onnx --device sim:fp16 --islands '/dec/layers.?/n3' --json n3.json > text; echo "[$?]"
  [0]
  $ "$PYTHON" - << 'PY'
  > import json
  > for file in ("blocks.json", "n3.json"):
  >     r = json.load(open(file))
  >     print(sorted({n["local"]["island"] for n in r["nodes"] if n["local"] and n["local"]["island"].endswith("/n3")}))
  >     print({n["not_probed"] for n in r["nodes"] if n["name"] == "/dec/layers.0/n3/Sqrt"})
  > PY
  ['/dec/layers.0/n3', '/dec/layers.1/n3', '/dec/layers.2/n3']
  {'inside the island /dec/layers.0/n3'}
  ['/dec/layers.0/n3', '/dec/layers.1/n3', '/dec/layers.2/n3']
  {'inside the island /dec/layers.0/n3'}
  $ locate detr_mini.onnx --device sim:fp16 --islands '/decoder/*' ; echo "[$?]"
  paritas: --islands: "/decoder/*" matches no module path and no node of the model; there are "/dec", "/dec/bh.0", "/dec/bh.0/layers.0", "/dec/bh.0/layers.1" and 149 more paths; write blocks, nodes, fused, patterns, or a pattern with * that matches
  [2]

A check whose node injection convicts becomes evidence of the finding: probed as one block, the normalisation's error is that of its
statistic. Healthy networks convict nobody, and nothing is added.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --probe-checks --islands patterns --json patterns.json --quiet; echo "[$?]"
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > for file in ("patterns.json", "blocks.json"):
  >     found = json.load(open(file))["findings"]
  >     for f in found:
  >         for key in {"softmax_sums", "implied_statistic", "accumulation"} & set(f["evidence"] or {}):
  >             e = f["evidence"][key]
  >             print(f["id"], key, e["node"], round(e["scale_rms"], 2), e["rest_rms"] < 0.01 * e["result_rms"], "A wrong statistic explains it" in f["text"])
  > PY
  local-cause implied_statistic /dec/layers.0/n3/Mul 1.0 True True
