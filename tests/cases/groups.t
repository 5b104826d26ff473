Where in a tensor is the error?
===============================

Errors of a tensor by heads, tokens, channels: any of its axes. Here squares overflow in all channels alike, so none is named.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --groups '/dec/layers.0/n3/Pow: axis=2 names=channel' --json groups.json > text; echo "[$?]"
  [0]
  $ sed -n '/^Groups/,/^$/p' text
  Groups         /dec/layers.0/n3/Pow_output_0, local error
    channel (axis 2)  error share  energy share     NMSE  max abs  nan/inf
                   1          0 %           0 %  0.0e+00        0       40
                   7          0 %           0 %  0.0e+00        0       40
                   8          0 %           0 %  0.0e+00        0       40
                  10          0 %           0 %  0.0e+00        0       40
       ... 60 more
  
  Groups         /dec/layers.0/n3/Pow_output_0, accumulated error
    channel (axis 2)  error share  energy share     NMSE  max abs  nan/inf
                   1          0 %           0 %  0.0e+00        0       40
                   7          0 %           0 %  0.0e+00        0       40
                   8          0 %           0 %  0.0e+00        0       40
                  10          0 %           0 %  0.0e+00        0       40
       ... 60 more
  
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("groups.json"))
  > print([(g["tensor"], g["run"], g["names"], g["groups"]) for g in r["groups"]])
  > PY
  [('/dec/layers.0/n3/Pow_output_0', 'local', ['channel (axis 2)'], 64), ('/dec/layers.0/n3/Pow_output_0', 'accumulated', ['channel (axis 2)'], 64)]

An even error names nobody.

  $ locate detr_mini.onnx --device sim:fp16 --groups '/enc/aifi/Softmax: axes=0,1' --json - |
  > "$PYTHON" -c 'import json, sys; print([f["id"] for f in json.load(sys.stdin)["findings"] if f["id"] == "uneven-error"])'
  []

What is asked must make sense.

  $ locate detr_mini.onnx --device sim:fp16 --groups 'scores: axis=7'; echo "[$?]"
  paritas: scores: axis=7: the tensor has 2 dimensions, there is no axis 7; axes count from 0, or from -1 backwards
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --groups 'score: axis=0'; echo "[$?]"
  paritas: score: axis=0: no node and no tensor that a node makes is called "score"; paritas inspect lists the model's tensors with --verbose
  [2]
  $ locate detr_mini.onnx --device sim:fp16 --groups 'scores'; echo "[$?]"
  paritas: scores: no axis is named; write 'TENSOR: axis=1' or 'TENSOR: axes=1,2 names=head,token'
  [2]
