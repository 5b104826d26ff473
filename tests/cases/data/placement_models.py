"""Writes attention.onnx and x.npy: a few nodes with a Softmax in the middle, for the placement cases. The evidence files in
placement/ are of this model, written by ONNX Runtime 1.32.0 and onnxruntime-qnn 2.7.0 with Softmax pinned to the CPU."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(3)
weights = [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
           for name, shape in (("w1", (8, 8)), ("b1", (8,)), ("w2", (8, 8)))]
nodes = [
    helper.make_node("MatMul", ["x", "w1"], ["m1"], name="/q/MatMul"),
    helper.make_node("Add", ["m1", "b1"], ["a1"], name="/q/Add"),
    helper.make_node("Relu", ["a1"], ["r1"], name="/q/Relu"),
    helper.make_node("Softmax", ["r1"], ["s1"], name="/attn/Softmax", axis=-1),
    helper.make_node("MatMul", ["s1", "w2"], ["m2"], name="/out/MatMul"),
    helper.make_node("Add", ["m2", "x"], ["y"], name="/out/Add"),
]
kind = TensorProto.FLOAT
graph = helper.make_graph(
    nodes, "attention", [helper.make_tensor_value_info("x", kind, [1, 4, 8])],
    [helper.make_tensor_value_info("y", kind, [1, 4, 8])], weights,
    value_info=[helper.make_tensor_value_info(name, kind, [1, 4, 8]) for name in ("m1", "a1", "r1", "s1", "m2")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "attention.onnx")
np.save("x.npy", rng.normal(size=(1, 4, 8)).astype(np.float32))
