Quantised tensors and quantised inputs
======================================

A model that was run twice on the CPU, the second time by a float program that took the codes' real values.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, json, onnx
  > from onnx import helper as h, TensorProto as T
  > q = h.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quantise")
  > init = [h.make_tensor("s", T.FLOAT, [], [0.5]), h.make_tensor("z", T.UINT8, [], [128])]
  > graph = h.make_graph([q], "g", [h.make_tensor_value_info("x", T.FLOAT, [6])], [h.make_tensor_value_info("q", T.UINT8, [6])], init)
  > onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "q.onnx")
  > np.save("x.npy", np.array([-1, -0.25, 0.25, 0.75, 1, 2], np.float32))
  > PY
  $ paritas run q.onnx --input x=x.npy --target cpu -o a --quiet
  $ paritas run q.onnx --input x=x.npy --target cpu,threads=2 -o b --quiet
  $ paritas compare a b --profile w8a8-steps | head -1
  PASS   q: max_step 0 <= 2; mean_step 0 <= 0.5

One step more in two elements; the profile names its origin in docs/gates.md.

  $ "$PYTHON" - << 'PY'
  > import json, hashlib, shutil, numpy as np
  > from safetensors.numpy import load_file, save_file
  > def edit(name, change):
  >     shutil.copytree("a", name)
  >     tensors = load_file("a/sample-000000.safetensors")
  >     change(tensors)
  >     save_file(tensors, f"{name}/sample-000000.safetensors")
  >     info = json.load(open("a/run.json"))
  >     data = open(f"{name}/sample-000000.safetensors", "rb").read()
  >     info["samples"][0].update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
  >     for t in info["tensors"]:
  >         t["dtype"] = {"float32": "float32", "uint8": "uint8"}[str(tensors[t["name"]].dtype)]
  >     json.dump(info, open(f"{name}/run.json", "w"))
  > edit("steps", lambda t: t.update(q=t["q"] + np.array([0, 1, 0, 0, 1, 0], np.uint8)))
  > edit("far", lambda t: t.update(q=t["q"] + np.array([0, 3, 0, 0, 0, 0], np.uint8)))
  > def codes(t): t["x"] = (np.round(t["x"] / 0.5) + 128).astype(np.uint8)
  > edit("codes", codes)
  > def away(t): t["x"] = (np.sign(t["x"]) * np.floor(np.abs(t["x"] / np.float32(0.5)) + 0.5) + 128).astype(np.uint8)
  > edit("away", away)
  > PY
  $ paritas compare a steps --profile w8a8-steps
  PASS   q: max_step 1 <= 2; mean_step 0.3333 <= 0.5
  
  tensor  type           cosine  SQNR dB  max abs  differing  note
  q       uint8 [6]           -        -    1.000     2 of 6  step 1.00 max, 0.333 mean; codes are shifted in one direction (+0.33 steps on average): a zero point or rounding rule differs
  x       float32 [6]  1.000000      inf        0     0 of 6  equal
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: contents not re-hashed (--verify-hashes does)
  $ paritas compare a far --profile w8a8-steps | head -1
  DEVIATES   q: max_step 3 > 2

Inputs come first. Here the device was fed with codes: they are the same values only by the rule that is declared.

  $ paritas compare a codes --gate 'q: differing<=0' | head -2
  INVALID   x: the inputs differ: 6 of 6 elements
  
  $ paritas compare a codes --gate 'q: differing<=0' --input-quantisation x=scale=0.5,zero_point=128 | head -1
  PASS   q: differing 0 <= 0
  $ paritas compare a away --gate 'q: differing<=0' --input-quantisation x=scale=0.5,zero_point=128 | head -1
  INVALID   x: the inputs differ: 2 of 6 elements differ after quantisation (scale 0.5, zero point 128 outside the rounding, ties to even, float32), by up to 1 step; they are equal by another rule: scale 0.5, zero point 128 outside the rounding, ties away from zero, float32: declare that one if it is meant
  $ paritas compare a away --gate 'q: differing<=0' --input-quantisation x=scale=0.5,zero_point=128,rounding=away | head -1
  PASS   q: differing 0 <= 0
