"""Writes models that draw random numbers: ids.onnx (no seed), seeded.onnx, mixed.onnx (one of two outputs depends on the draw),
loop.onnx (drawn in the body of an If), and x.npy; ids.onnx changes its answer from draw to draw."""
import numpy as np
import onnx
from onnx import TensorProto, helper

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def save(name, nodes, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", F, [4, 16])],
                              [helper.make_tensor_value_info(n, t, s) for n, t, s in outputs], list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name + ".onnx")


def noise(seed=None):
    options = {} if seed is None else {"seed": seed}
    return [helper.make_node("RandomUniformLike", ["x"], ["r"], name="/noise", low=-1.0, high=1.0, **options),
            helper.make_node("Add", ["x", "r"], ["a"], name="/add")]


save("ids", noise() + [helper.make_node("ArgMax", ["a"], ["ids"], name="/best", axis=1, keepdims=0)], [("ids", I, [4])])
save("seeded", noise(7.0) + [helper.make_node("Tanh", ["a"], ["y"], name="/tanh")], [("y", F, [4, 16])])
square = [helper.make_node("Mul", ["x", "big"], ["scaled"], name="/scale"),
          helper.make_node("Mul", ["scaled", "scaled"], ["square"], name="/square"),
          helper.make_node("Div", ["square", "back"], ["z"], name="/back")]
save("mixed", noise() + [helper.make_node("Tanh", ["a"], ["y"], name="/tanh")] + square,
     [("y", F, [4, 16]), ("z", F, [4, 16])],
     [helper.make_tensor("big", F, [], [300.0]), helper.make_tensor("back", F, [], [90000.0])])
body = [helper.make_graph([helper.make_node(op, ["x"], [out], name="/if/" + op)], out, [],
                          [helper.make_tensor_value_info(out, F, [4, 16])])
        for op, out in (("RandomNormalLike", "drawn"), ("Neg", "other"))]
save("loop", [helper.make_node("If", ["yes"], ["a"], name="/if", then_branch=body[0], else_branch=body[1]),
              helper.make_node("Tanh", ["a"], ["y"], name="/tanh")], [("y", F, [4, 16])],
     [helper.make_tensor("yes", B, [], [True])])
np.save("x.npy", np.random.default_rng(5).uniform(0.5, 2, size=(4, 16)).astype(np.float32))
