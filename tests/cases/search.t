Which nodes must be computed elsewhere?
=======================================

The search runs the network as a hybrid: some nodes on the reference, all others on the device. It looks for a set of nodes
with which the gates hold, and from which none can be dropped. (Injection, which guides it, is given time here: the default grows
with the speed of the machine.)

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ locate() { paritas locate "$@" --injection-seconds 60 --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --search --json found.json > text; echo "[$?]"
  [1]
  $ sed -n '/^Search/,/^$/p' text
  Search         minimal; 8 sets tried on 1 sample, 8 device sessions, * s (glob)
                 /dec/layers.0/n3/Pow
                 /dec/layers.0/n3/ReduceMean
                 /dec/layers.0/n3/Add
                 /dec/layers.0/n3/Sqrt
  
  $ "$PYTHON" - << 'PY'
  > import json
  > search = json.load(open("found.json"))["search"]
  > print(search["status"], search["device_sessions"] <= 20)
  > for test in search["tests"]: print(test["restored"], test["outcome"], test["device_sessions"])
  > PY
  minimal True
  0 does not hold 1
  4 holds 1
  2 does not hold 1
  2 does not hold 1
  3 does not hold 1
  3 does not hold 1
  3 does not hold 1
  3 does not hold 1

The verdict is still that of the network as it is deployed; that a part computed elsewhere would do is a finding.

  $ grep -A3 '^Note.*With 4 islands' text
  Note      With 4 islands (/dec/layers.0/n3/Pow, /dec/layers.0/n3/ReduceMean, /dec/layers.0/n3/Add,
            /dec/layers.0/n3/Sqrt) computed by the reference and everything else by sim:fp16, the
            gates hold on the sample. Without any one of them they do not.
  

A search needs to know what must hold.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --search; echo "[$?]"
  paritas: --search: no gate says what must hold; declare it, e.g. --gate 'scores: cosine>=0.99'
  [2]

Where the gates hold already there is nothing to search.

  $ locate detr_mini.onnx --device sim:fp16 --gate 'scores: cosine>=0.9' --search --json - | "$PYTHON" -c '
  > import json, sys; print(json.load(sys.stdin)["search"]["status"])'
  needless

(Several samples: many.t.) A budget that is too small gives the best so far, and says so.

  $ locate detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --search --search-sessions 4 --json - |
  > "$PYTHON" -c '
  > import json, sys; s = json.load(sys.stdin)["search"]; print(s["status"], s["minimal"], s["device_sessions"], len(s["islands"]))'
  best so far False 4 4
