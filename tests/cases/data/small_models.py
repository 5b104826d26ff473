"""Writes into the working folder what the cases run: square.onnx with its inputs x.npy and x2.npy."""

import numpy as np
import onnx
from onnx import TensorProto, helper

# x [batch,10] -> y = sqrt(x * x) + x; the square of 1000 leaves the range of float16.
graph = helper.make_graph(
    [
        helper.make_node("Mul", ["x", "x"], ["square"], name="/square/Mul"),
        helper.make_node("Sqrt", ["square"], ["root"], name="/root/Sqrt"),
        helper.make_node("Add", ["root", "x"], ["y"], name="/add/Add"),
    ],
    "square",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 10])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])],
)
model = helper.make_model(graph, producer_name="small_models", opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
onnx.save(model, "square.onnx")

x = np.arange(1, 11, dtype=np.float32).reshape(1, 10)
np.save("x2.npy", x)
x[0, 9] = 1000
np.save("x.npy", x)
