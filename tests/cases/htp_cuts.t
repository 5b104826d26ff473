The cross matrix on a real accelerator stack
============================================

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ MAPS=encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0
  $ paritas locate detr_mini_fragile.onnx --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy --device qnn:htp,soc_model=77,htp_arch=73 --gate 'scores: cosine>=0.99' --cut $MAPS --only-cuts --json cut.json > text; echo "[$?]"
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > m = json.load(open("cut.json"))["cross_matrix"][0]
  > tops = [next(o["device"]["max"] for o in c["outputs"] if o["name"] == "scores") for c in m["cells"]]
  > print(m["split"], [abs(a - b) <= 0.002 for a, b in zip(tops, (0.9620, 0.9618, 0.3384, 0.3389))])
  > print([c["outcome"] for c in m["cells"]], [t["metrics"]["cosine"] > 0.9999 for t in m["tensors"]])
  > print(m["front"]["placement"]["device_share"], m["rear"]["placement"]["device_share"])
  > PY
  exact [True, True, True, True]
  ['holds', 'holds', 'deviates', 'deviates'] [True, True, True]
  1.0 1.0
