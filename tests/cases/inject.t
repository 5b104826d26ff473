What does an error do to the answer?
====================================

A large local error may be harmless, and a small one fatal. `inject` puts an error into the reference run and measures what
arrives at the outputs. Here the device's own results, one island after another: those of every Softmax change nothing
that a gate minds; that of one Pow breaks the detector alone.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ inject() { paritas inject "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ inject detr_mini_fragile.onnx --device sim:fp16 --gate 'scores: cosine>=0.99' --each \
  > --at '*Softmax*: local' --at /dec/layers.0/n3/Pow': local' --json injected.json > text; echo "[$?]"
  [0]
  $ "$PYTHON" - << 'PY'
  > import collections, json
  > r = json.load(open("injected.json"))
  > print(collections.Counter(f["id"] for f in r["findings"]))
  > pow = r["experiments"][-1]
  > print(pow["injected"][0]["node"], pow["verdict"], [d["moved"] > 0 for d in pow["decisions"]])
  > scores = {o["name"]: o for o in r["observed"]}["scores"]
  > print("the device itself:", round(scores["device"]["max"], 3))
  > PY
  Counter({'injection-harmless': 14, 'injection-breaks': 1})
  /dec/layers.0/n3/Pow deviates [False, True]
  the device itself: 0.1
  $ grep -A3 'Injected into the reference: local at /enc/aifi' text
  Note      Injected into the reference: local at /enc/aifi/Softmax_output_0 (error NMSE *). The (glob)
            gates hold: the outputs move by an NMSE of * at most. (glob)
            shows           it weakens the suspicion against these nodes on these inputs
            does not show   that they are innocent on other inputs, or together with other errors

Errors can be made up as well. One experiment holds all that is named, unless --each parts them.

  $ inject detr_mini.onnx --at '/dec/layers.?/n3/Pow: noise(1e-4, seed 7)' --gate 'scores: cosine>=0.99' | sed -n 2,3p
  injected at                               how                  error NMSE  decisions moved  gates  outputs
  /dec/layers.0/n3/Pow_output_0 and 2 more  noise(1e-4, seed 7)     1.0e-04           1 of 2  hold   boxes: cosine 0.999*, max 639.7 -> 639.7; scores: cosine 1.000, max 0.9620 -> 0.96* (glob)

Names must mean something, modes too, and the error of a device needs one.

  $ inject detr_mini.onnx --at 'x_scores: offset(1)' ; echo "[$?]"
  paritas: x_scores: no float tensor that depends on the input has this name; paritas inspect lists the model's tensors with --verbose; node names do as well
  [2]
  $ inject detr_mini.onnx --at 'Pow: round(float16)'; echo "[$?]"
  paritas: Pow: fits 9 tensors: "/dec/layers.0/n1/Pow_output_0", "/dec/layers.0/gw/norm/Pow_output_0", "/dec/layers.0/n3/Pow_output_0", "/dec/layers.1/n1/Pow_output_0", "/dec/layers.1/gw/norm/Pow_output_0", "/dec/layers.1/n3/Pow_output_0", "/dec/layers.2/n1/Pow_output_0", "/dec/layers.2/gw/norm/Pow_output_0" and 1 more; name one of them, or write a pattern with * to inject into all
  [2]
  $ inject detr_mini.onnx --at '/dec/layers.0/n3/Pow: louder'; echo "[$?]"
  paritas: /dec/layers.0/n3/Pow: louder: "louder" is no mode; write TENSOR: MODE with local, difference*F, accumulated*F, round(float16), noise(NMSE) or offset(V)
  [2]
  $ inject detr_mini.onnx --at '/dec/layers.0/n3/Pow: local'; echo "[$?]"
  paritas: /dec/layers.0/n3/Pow: local: this is the error of a device, and none is given; name it with --device
  [2]
  $ inject detr_mini.onnx --at '/dec/layers.0/n3/Pow: noise(-1)'; echo "[$?]"
  paritas: /dec/layers.0/n3/Pow: noise(-1): noise needs its NMSE, a number of 0 or more; write TENSOR: MODE with local, difference*F, accumulated*F, round(float16), noise(NMSE) or offset(V)
  [2]
  $ inject detr_mini.onnx --at '/dec/layers.0/n3/Pow: noise(1)' --at '*n3/Pow: offset(1)'; echo "[$?]"
  paritas: *n3/Pow: offset(1): "/dec/layers.0/n3/Pow_output_0" is injected twice in one experiment; name it once, or make every tensor an experiment of its own with --each
  [2]

A name that is a tensor, and also the node of another tensor, is not guessed at.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, onnx
  > from onnx import TensorProto, helper
  > port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
  > nodes = [helper.make_node("Relu", ["x"], ["a"], "first"), helper.make_node("Abs", ["a"], ["y"], "a")]
  > onnx.save(helper.make_model(helper.make_graph(nodes, "g", [port("x")], [port("y")]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "twice.onnx")
  > np.save("x.npy", np.ones((1, 4), np.float32))
  > PY
  $ paritas inject twice.onnx --input x=x.npy --at 'a: offset(1)'
  paritas: a: is a tensor, and the name of the node that makes "y"; rename the node, or write a pattern with * that fits only what is meant
  [2]
