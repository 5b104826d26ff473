"""Writes into the working folder what the cases about packages split: releases of a small network, and its input x.npy.

net.onnx         x [1,8] -> MatMul, Relu (/front/Relu_output_0) -> MatMul, Add -> y [1,4]
reexported.onnx  the same with other names for its constants, and one of them in a Constant node
retrained.onnx   two weights changed
deeper.onnx      a Sigmoid in front of y
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

W1 = (np.arange(64, dtype=np.float32).reshape(8, 8) - 32) / 64
W2 = (np.arange(32, dtype=np.float32).reshape(8, 4) - 16) / 32
BIAS = np.array([0.5, -0.25, 1, 2], np.float32)


def write(file, weights, names, constant_node=False, deeper=False):
    first, second, bias = names
    nodes = []
    if constant_node:
        nodes.append(helper.make_node("Constant", [], [bias], value=numpy_helper.from_array(weights[2])))
    last = "sum" if deeper else "y"
    nodes += [
        helper.make_node("MatMul", ["x", first], ["/front/MatMul_output_0"], name="/front/MatMul"),
        helper.make_node("Relu", ["/front/MatMul_output_0"], ["/front/Relu_output_0"], name="/front/Relu"),
        helper.make_node("MatMul", ["/front/Relu_output_0", second], ["product"], name="/rear/MatMul"),
        helper.make_node("Add", ["product", bias], [last], name="/rear/Add"),
    ]
    if deeper:
        nodes.append(helper.make_node("Sigmoid", [last], ["y"], name="/rear/Sigmoid"))
    initializers = [numpy_helper.from_array(value, name)
                    for value, name in list(zip(weights, names))[: 2 if constant_node else 3]]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        initializers,
    )
    model = helper.make_model(graph, producer_name="package_models", opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, file)


def retrained():
    w2, bias = W2.copy(), BIAS.copy()
    w2[3] += 0.125
    bias[1] = -0.5
    return [W1, w2, bias]


NAMES = ["front.weight", "rear.weight", "rear.bias"]
write("net.onnx", [W1, W2, BIAS], NAMES)
write("reexported.onnx", [W1, W2, BIAS], ["onnx::MatMul_11", "onnx::MatMul_12", "rear.bias"], constant_node=True)
write("retrained.onnx", retrained(), NAMES)
write("deeper.onnx", [W1, W2, BIAS], NAMES, deeper=True)
np.save("x.npy", (np.arange(8, dtype=np.float32).reshape(1, 8) - 2) / 4)
np.save("x2.npy", (np.arange(8, dtype=np.float32).reshape(1, 8) - 5) / 2)
