"""Figures of local probes: one session for all of them, against one session a node."""
import json
import os
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import figures as base

SAMPLE = 6  # nodes that are given a session of their own


def one_node_models(model: onnx.ModelProto, wanted: list, tensors: dict, folder: str) -> list:
    """(path, inputs) of models with one node each, fed with the reference's tensors."""
    types = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64}
    constants = {i.name: i for i in model.graph.initializer}
    constants.update({n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"})
    made = []
    for node in model.graph.node:
        if node.name not in wanted or not all(i in tensors or i in constants for i in node.input if i):
            continue
        fed = sorted({i for i in node.input if i in tensors})
        initializers = []
        for name in {i for i in node.input if i in constants and i not in tensors}:
            initializers.append(numpy_helper.from_array(numpy_helper.to_array(constants[name]), name))
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(i, types[tensors[i].dtype], tensors[i].shape) for i in fed],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in node.output if o], initializers)
        path = os.path.join(folder, f"{len(made)}.onnx")
        onnx.save(helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), path)
        inputs = []
        for i, name in enumerate(fed):
            np.save(os.path.join(folder, f"{len(made)}-{i}.npy"), tensors[name])
            inputs += ["--input", f"{name}={folder}/{len(made)}-{i}.npy"]
        made.append((path, inputs))
    return made


def probes_htp(f) -> None:
    from safetensors.numpy import load_file  # part of the test environment
    path, inputs = base.detr("detr_mini_fragile")
    result, _ = base.locate(path, inputs, base.HTP, ["--probe-checks", *base.GATE])
    checks = result["probe_checks"]
    islands = {n["local"]["island"] for n in result["nodes"] if n["local"]}
    f.line("all local probes, qnn:htp", "one session, under 10 s", f"{len(islands)} islands, {checks['sessions']} session(s), "
           f"{checks['seconds']:.1f} s", checks["sessions"] == 1 and checks["seconds"] < 10)
    with tempfile.TemporaryDirectory() as folder:
        given = [a for text in inputs for a in ("--input", text)]
        subprocess.run([base.PARITAS, "run", path, *given, "--target", "cpu", "--marks", "all", "-o", f"{folder}/r", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        tensors = load_file(f"{folder}/r/sample-000000.safetensors")
        with open(f"{folder}/r/run.json") as file:
            ids = {t.get("id", t["name"]): t["name"] for t in json.load(file)["tensors"]}
        tensors = {ids.get(key, key): value for key, value in tensors.items()}
        probed = [n["name"] for n in result["nodes"] if n["local"]]
        step = max(1, len(probed) // SAMPLE)
        models = one_node_models(onnx.load(path), probed[step // 2::step][:SAMPLE], tensors, folder)
        seconds = []
        for model, fed in models:
            start = time.perf_counter()
            done = subprocess.run([base.PARITAS, "run", model, *fed, "--target", base.HTP, "-o", f"{model}.r", "--quiet"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                seconds.append(time.perf_counter() - start)
    mean = sum(seconds) / len(seconds)
    f.note("one session a node, qnn:htp", f"{mean:.2f} s a node ({len(seconds)} of {len(islands)} measured, each in a process "
           f"of its own); extrapolated {mean * len(islands):.0f} s, {mean * len(islands) / checks['seconds']:.0f} times the "
           "one session")


CASES = [("probes-htp", probes_htp, True)]
