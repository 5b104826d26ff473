"""float.onnx, and codes.onnx and moved.onnx with the same weights as codes; one of moved.onnx's is not the nearest."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WEIGHTS = np.array([0.5, -1.0, 0.26, 3.0, -2.0, 0.1], np.float32).reshape(2, 3, 1, 1)
SCALE = np.array([0.1, 0.5], np.float32)


def save(name, initializers, nodes):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 4, 4])],
                              [numpy_helper.from_array(v, k) for k, v in initializers.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name)


save("float.onnx", {"w": WEIGHTS}, [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")])
codes = np.rint(WEIGHTS / SCALE.reshape(2, 1, 1, 1)).astype(np.int8)
for name, values in (("codes.onnx", codes), ("moved.onnx", codes + np.eye(6, dtype=np.int8)[4].reshape(2, 3, 1, 1))):
    dequantise = helper.make_node("DequantizeLinear", ["w_quantized", "w_scale"], ["w_DequantizeLinear_Output"], axis=0)
    conv = helper.make_node("Conv", ["x", "w_DequantizeLinear_Output"], ["y"], name="conv")
    save(name, {"w_quantized": values, "w_scale": SCALE}, [dequantise, conv])
