"""Writes masked.onnx: Where(x > 0, x, mask) -> Softmax, with a mask of -1e9 or of what is given; x.npy, whose rows all have
something left, and whole.npy, of which one row is masked wholly."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

mask = float(sys.argv[1]) if len(sys.argv) > 1 else -1e9
nodes = [helper.make_node("Greater", ["x", "zero"], ["keep"], name="/keep"),
         helper.make_node("Where", ["keep", "x", "mask"], ["scores"], name="/mask"),
         helper.make_node("Softmax", ["scores"], ["y"], name="/softmax", axis=-1)]
graph = helper.make_graph(
    nodes, "masked", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])],
    [numpy_helper.from_array(np.float32(0), "zero"), numpy_helper.from_array(np.float32(mask), "mask")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "masked.onnx")
x = np.random.default_rng(2).normal(size=(4, 16)).astype(np.float32) * 2
np.save("x.npy", x)
x[2] = -np.abs(x[2])
np.save("whole.npy", x)
