#!/usr/bin/env python3
"""Writes the seed corpus of onnx_fuzz: small models that touch every branch of the loader. Needs numpy and onnx.

usage: make_seeds_onnx.py [FOLDER]     (default: corpus/onnx beside this file)
"""
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "corpus" / "onnx"


def value(name, shape=(1, 4), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), functions=(), ir=8):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
                              functions=list(functions), ir_version=ir)
    (OUT / f"{name}.onnx").write_bytes(model.SerializeToString())


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    weights = numpy_helper.from_array(np.arange(16, dtype=np.float32).reshape(4, 4), "w")
    save("matmul", [helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], [value("x")], [value("y")], [weights])

    large = numpy_helper.from_array(np.ones((16, 20), dtype=np.float32), "w")
    save("large", [helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", (1, 16))], [value("y", (1, 20))],
         [large])

    floats = helper.make_tensor("w", TensorProto.FLOAT, [300], np.ones(300).tolist())
    halves = helper.make_tensor("h", TensorProto.FLOAT16, [2], [1.0, 2.0])
    save("typed", [helper.make_node("Cast", ["h"], ["c"], to=1), helper.make_node("ReduceSum", ["w"], ["s"]),
                   helper.make_node("Add", ["x", "s"], ["t"]), helper.make_node("Add", ["t", "c"], ["y"])],
         [value("x", (1,))], [value("y", (2,))], [floats, halves])

    external = numpy_helper.from_array(np.ones(4, dtype=np.float32), "w")
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "w.bin"), ("offset", "0"), ("length", "16")):
        external.external_data.add(key=key, value=text)
    save("external", [helper.make_node("Add", ["x", "w"], ["y"])], [value("x")], [value("y")], [external])

    shape = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("ConstantOfShape", ["s"], ["z"]),
             helper.make_node("Add", ["x", "z"], ["y"]), helper.make_node("NonZero", ["y"], ["n"])]
    save("shapes", shape, [value("x", ("batch", 4))], [value("n", None, TensorProto.INT64)])

    then = helper.make_graph([helper.make_node("Add", ["x", "one"], ["t"])], "then", [], [value("t")],
                             [numpy_helper.from_array(np.ones((), dtype=np.float32), "one")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [value("e")])
    save("if", [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
         [value("x"), value("c", (), TensorProto.BOOL)], [value("y")])

    body = helper.make_graph([helper.make_node("Identity", ["go"], ["go_on"]),
                              helper.make_node("Add", ["a", "x"], ["b"])], "body",
                             [value("i", (), TensorProto.INT64), value("go", (), TensorProto.BOOL), value("a")],
                             [value("go_on", (), TensorProto.BOOL), value("b")])
    save("loop", [helper.make_node("Constant", [], ["n"], value=numpy_helper.from_array(np.array(3))),
                  helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], [value("x")], [value("y")])

    function = helper.make_function("own", "twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
                                    [helper.make_opsetid("", 17)])
    save("function", [helper.make_node("twice", ["x"], ["y"], domain="own")], [value("x")], [value("y")],
         functions=[function])

    sparse = helper.make_sparse_tensor(numpy_helper.from_array(np.ones(2, dtype=np.float32), "w"),
                                       numpy_helper.from_array(np.array([0, 3], dtype=np.int64), "w_i"), [4])
    save("sparse", [helper.make_node("Constant", [], ["k"], sparse_value=sparse),
                    helper.make_node("Add", ["x", "k"], ["y"])], [value("x")], [value("y")])
    save("old", [helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x"), value("w", (4, 4))], [value("y")],
         [weights], ir=3)


if __name__ == "__main__":
    main()
