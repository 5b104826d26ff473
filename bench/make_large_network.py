#!/usr/bin/env python3
"""Writes a network of many nodes and large intermediates with next to no weights, and its input.

usage: make_large_network.py FOLDER [--nodes N] [--elements N] [--fault]

Each intermediate is float32 with ELEMENTS elements: 8,000 nodes of 65,536 elements make 2.1 GB. Rounding errors die out
(each block contracts), so the network is healthy in float16; --fault plants a square in the middle block that overflows.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64
KINDS = 8          # different weights; blocks take them in turn
NODES_A_BLOCK = 8
SKIP_EVERY = 5     # every fifth block takes its residual from two blocks before: the graph is not one chain
PLANTED = "planted/square"


def weights(rng: np.random.Generator) -> list:
    made = [numpy_helper.from_array(np.float32(0.75), "keep"), numpy_helper.from_array(np.float32(0.2), "share"),
            numpy_helper.from_array(np.float32(3000), "up"), numpy_helper.from_array(np.float32(1 / 3000), "down")]
    for i in range(KINDS):
        # Orthogonal: a block can neither blow up nor extinguish what it is given.
        orthogonal = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0].astype(np.float32)
        bias = rng.normal(size=(1, WIDTH)).astype(np.float32)
        made += [numpy_helper.from_array(orthogonal, f"weight{i}"), numpy_helper.from_array(bias, f"bias{i}")]
    return made


def block(i: int, current: str, residual: str) -> tuple:
    """The nodes of block i, and the name of its result: 0.75 residual + 0.2 tanh(z) sigmoid(z), z = current W + b."""
    def node(op, inputs, part):
        return helper.make_node(op, inputs, [f"block{i}/{part}"], name=f"block{i}/{part}")

    at = f"block{i}/"
    return [
        node("MatMul", [current, f"weight{i % KINDS}"], "matmul"),
        node("Add", [at + "matmul", f"bias{i % KINDS}"], "bias"),
        node("Tanh", [at + "bias"], "tanh"),
        node("Sigmoid", [at + "bias"], "sigmoid"),
        node("Mul", [at + "tanh", at + "sigmoid"], "gated"),
        node("Mul", [at + "gated", "share"], "share"),
        node("Mul", [residual, "keep"], "keep"),
        node("Add", [at + "keep", at + "share"], "add"),
    ], at + "add"


def planted(current: str) -> tuple:
    """abs(x) as sqrt((3000 x)^2) / 3000: the square leaves float16 where abs(x) > 0.085."""
    steps = [("Mul", [current, "up"], "planted/up"), ("Mul", ["planted/up", "planted/up"], PLANTED),
             ("Sqrt", [PLANTED], "planted/root"), ("Mul", ["planted/root", "down"], "planted/down")]
    return [helper.make_node(op, inputs, [name], name=name) for op, inputs, name in steps], "planted/down"


def build(nodes: int, elements: int, fault: bool) -> onnx.ModelProto:
    shape = [elements // WIDTH, WIDTH]
    graph_nodes, results = [], ["x"]
    blocks = nodes // NODES_A_BLOCK
    for i in range(blocks):
        residual = results[-3] if i % SKIP_EVERY == SKIP_EVERY - 1 else results[-1]
        made, result = block(i, results[-1], residual)
        graph_nodes += made
        if fault and i == blocks // 2:
            made, result = planted(result)
            graph_nodes += made
        results.append(result)
    graph_nodes.append(helper.make_node("Tanh", [results[-1]], ["y"], name="last"))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    read = {name for node in graph_nodes for name in node.input}
    constants = [w for w in weights(np.random.default_rng(7)) if w.name in read]
    graph = helper.make_graph(graph_nodes, "large", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--elements", type=int, default=65536)
    parser.add_argument("--fault", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    onnx.save(build(options.nodes, options.elements, options.fault), os.path.join(options.folder, "large.onnx"))
    x = np.random.default_rng(1).normal(size=(options.elements // WIDTH, WIDTH)).astype(np.float32)
    np.save(os.path.join(options.folder, "x.npy"), x)


if __name__ == "__main__":
    main()
