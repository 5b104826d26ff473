Where in a tensor is the error?
===============================

Errors of a tensor by heads, tokens, channels: any of its axes.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --groups '/dec/layers.0/n3/Pow: axis=2 names=channel' --json groups.json > text; echo "[$?]"
  $ sed -n '/^Groups/,/^$/p' text
  $ grep '^Note.*Of the' text
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("groups.json"))
  > print([(g["tensor"], g["run"], g["names"], g["groups"]) for g in r["groups"]])
  > PY

An even error names nobody.

  $ locate detr_mini.onnx --device sim:fp16 --groups '/enc/aifi/Softmax: axes=0,1' --json - |
  > "$PYTHON" -c 'import json, sys; print([f["id"] for f in json.load(sys.stdin)["findings"] if f["id"] == "uneven-error"])'

What is asked must make sense.

  $ locate detr_mini.onnx --device sim:fp16 --groups 'scores: axis=7'; echo "[$?]"
  $ locate detr_mini.onnx --device sim:fp16 --groups 'score: axis=0'; echo "[$?]"
  $ locate detr_mini.onnx --device sim:fp16 --groups 'scores'; echo "[$?]"
