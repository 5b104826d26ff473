#!/usr/bin/env python3
"""Writes a network of many nodes and large intermediates with next to no weights, and its input.

usage: make_large_network.py FOLDER [NODES] [ELEMENTS]
Each intermediate is float32 with ELEMENTS elements: 8,000 nodes of 65,536 elements make 2 GB.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def build(nodes: int, elements: int) -> onnx.ModelProto:
    """Blocks of four nodes, added and subtracted in turn, so that values stay where float16 holds them."""
    rows = 64
    shape = [rows, elements // rows]
    rng = np.random.default_rng(7)
    graph_nodes, weights = [], []
    current = "x"
    for i in range(nodes // 4):
        scale = numpy_helper.from_array(rng.uniform(0.5, 1.0, (1, shape[1])).astype(np.float32), f"scale{i % 8}")
        if i < 8:
            weights.append(scale)
        a, b, c, d = (f"block{i}/{part}" for part in ("mul", "tanh", "neg", "add"))
        graph_nodes += [
            helper.make_node("Mul", [current, f"scale{i % 8}"], [a], name=a),
            helper.make_node("Tanh", [a], [b], name=b),
            helper.make_node("Neg", [b], [c], name=c),
            helper.make_node("Add" if i % 2 else "Sub", [current, c], [d], name=d),
        ]
        current = d
    graph_nodes.append(helper.make_node("Tanh", [current], ["y"], name="last"))
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(graph_nodes, "large", [tensor("x")], [tensor("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main() -> None:
    folder = sys.argv[1]
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    elements = int(sys.argv[3]) if len(sys.argv) > 3 else 65536
    os.makedirs(folder, exist_ok=True)
    model = build(nodes, elements)
    onnx.save(model, os.path.join(folder, "large.onnx"))
    x = np.random.default_rng(1).normal(size=(64, elements // 64)).astype(np.float32)
    np.save(os.path.join(folder, "x.npy"), x)


main()
