"""Writes attention.onnx and x.npy: a few nodes with a Softmax in the middle, for the placement cases. The evidence files in
placement/ are of this model, written by ONNX Runtime 1.32.0 and onnxruntime-qnn 2.7.0 with Softmax pinned to the CPU. Also
conv.onnx: convolutions that ONNX Runtime 1.32.0 on x86-64 ran in blocked layout for placement/profile_nchwc.json (two runs of
one CPU session at optimisation "all")."""
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


def weights_of(name, *shape):
    return numpy_helper.from_array((rng.normal(size=shape) / 8).astype(np.float32), name)


convolutions = [
    helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "/stem/Conv", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c0"], ["r0"], "/stem/Relu"),
    helper.make_node("MaxPool", ["r0"], ["p0"], "/stem/MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Conv", ["p0", "w1", "b1"], ["c1"], "/block/Conv", pads=[1, 1, 1, 1]),
    helper.make_node("Sigmoid", ["c1"], ["s1"], "/block/Sigmoid"),
    helper.make_node("Mul", ["c1", "s1"], ["m1"], "/block/Mul"),
    helper.make_node("Add", ["p0", "m1"], ["a1"], "/block/Add"),
    helper.make_node("Conv", ["a1", "w2"], ["c2"], "", kernel_shape=[1, 1]),
    helper.make_node("Conv", ["c2", "w1"], ["c3"], "/skip/Conv", pads=[1, 1, 1, 1]),
    helper.make_node("Add", ["c3", "c2"], ["a3"], "/skip/Add"),
    helper.make_node("Relu", ["a3"], ["r3"], "/skip/Relu"),
    helper.make_node("Concat", ["r3", "a1"], ["cat"], "/head/Concat", axis=1),
    helper.make_node("Resize", ["cat", "", "scales"], ["big"], "/head/Resize", mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric"),
    helper.make_node("GlobalAveragePool", ["big"], ["g"], "/head/Pool"),
    helper.make_node("Flatten", ["g"], ["f"], "/head/Flatten"),
    helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "/head/Gemm", transB=1),
]
weights = [weights_of("w0", 16, 3, 3, 3), weights_of("b0", 16), weights_of("w1", 16, 16, 3, 3), weights_of("b1", 16),
           weights_of("w2", 16, 16, 1, 1), weights_of("w3", 5, 32), weights_of("b3", 5),
           numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")]
graph = helper.make_graph(convolutions, "conv", [helper.make_tensor_value_info("x", kind, [1, 3, 16, 16])],
                          [helper.make_tensor_value_info("y", kind, [1, 5])], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "conv.onnx")
