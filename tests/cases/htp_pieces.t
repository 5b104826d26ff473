The HTP's Sigmoid ends early
============================

On the emulated HTP a Sigmoid stays at one level from about -9 on, where float16 would reach on to -17.8. Few of the
detector's own inputs come near; the sweep shows it for every node, and says that its inputs are synthetic.

  $ cp "$EXAMPLES"/detr-mini/detr_mini.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ paritas pieces detr_mini.onnx --device qnn:htp,soc_model=77,htp_arch=73 --op Sigmoid --sweep --json htp.json --quiet \
  > --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("htp.json"))
  > swept = [p for p in r["pieces"] if p["synthetic"] and p["count"] > 1000]
  > print(len(swept), {p["ran_on"] for p in swept})
  > ends = [p["left"]["device"]["from"] for p in swept]
  > print(all(-9.1 < end < -8.8 for end in ends), all(p["left"]["stored"]["from"] < -17 for p in swept))
  > print([(f["id"], f["evidence"]["synthetic"], len(f["nodes"])) for f in r["findings"] if f["evidence"]["synthetic"]])
  > PY
  32 {'QNNExecutionProvider'}
  True True
  [('piece-tail-lost', True, 35)]
