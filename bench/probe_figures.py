"""Figures of local probes: one session for all of them, against one session a node."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import figures as base

RUNS = 3  # the emulation's time varies with what else the machine does
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
    results = [base.locate(path, inputs, base.HTP, ["--probe-checks", *base.GATE])[0] for _ in range(RUNS)]
    result = min(results, key=lambda r: r["probe_checks"]["seconds"])
    checks, seconds = result["probe_checks"], sorted(r["probe_checks"]["seconds"] for r in results)
    islands = {n["local"]["island"] for n in result["nodes"] if n["local"]}
    f.line("all local probes, qnn:htp", "one session, under 10 s", f"{len(islands)} islands, {checks['sessions']} session(s), "
           f"best of {', '.join(f'{s:.1f}' for s in seconds)} s", checks["sessions"] == 1 and checks["seconds"] < 10)
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


def noise_floor(f) -> None:
    """smart-turn: the answer of the reference itself depends on its optimiser."""
    folder = os.path.join(base.MODELS, "smart-turn")
    if not os.path.isdir(folder):
        return f.skip("noise floor, smart-turn", "needs the shared models")
    model, inputs = f"{folder}/smart-turn-v3.2-cpu.onnx", [f"input_features={folder}/inputs/cut_off.npy"]
    for reference, other in (("cpu,opt=all", "cpu"), ("cpu", "cpu,opt=all")):
        result, _ = base.locate(model, inputs, other, ["--consistency", "--reference", reference, "--gate", "logits: sqnr_db>=20"])
        floor, own = result["outputs"][0]["noise_floor"], result["outputs"][0]["metrics"]["sqnr_db"]
        # From one direction 9 dB, from the other more: the larger answer is then what the difference is measured in.
        f.line(f"noise floor, smart-turn, reference {reference}", "8 to 13 dB, by the optimiser alone; invalid: cannot tell; no fault",
               f"{floor['sqnr_db']:.1f} dB by {floor['check']} (device {own:.1f} dB); {result['verdict']}; faults: {base.faults(result)}",
               floor["check"] == "reference optimisation" and 8 < floor["sqnr_db"] < 13 and result["verdict"] == "invalid"
               and "cannot tell" in result["reasons"][0] and not base.faults(result))


# Faults that are none of the device's: what float16 with infinities really does to minilm's mask of -3.4e38 (0 * -inf).
TRUE_FAULTS = {("minilm-l3", "sim:fp16"): ["constant-not-representable"]}


def full_published(f) -> None:
    s, m, e = (os.path.join(base.MODELS, name) for name in ("silero-vad", "minilm-l3", "efficientnet-lite0"))
    if not os.path.isdir(s):
        return f.skip("locate --full, published", "needs the shared models")
    networks = [("silero-vad", f"{s}/silero_vad.onnx",
                 [f"input={s}/inputs/onset.input.npy", f"state={s}/inputs/onset.state.npy", f"sr={s}/inputs/sr.npy"]),
                ("minilm-l3", f"{m}/minilm-l3.fp32.onnx",
                 [f"input_ids={m}/inputs/pair_cat.input_ids.npy", f"attention_mask={m}/inputs/pair_cat.attention_mask.npy"])]
    networks += [(f"efficientnet-lite0 {kind}", f"{e}/efficientnet-lite0.{kind}.onnx", [f"image={e}/inputs/coffee.npy"])
                 for kind in ("qdq-pc", "qdq-pt")]
    for device in ["sim:fp16"] + ([base.HTP] if f.qnn else []):
        for name, model, inputs in networks:
            what, expected = f"locate --full, {name}, {device.split(',')[0]}", TRUE_FAULTS.get((name, device), [])
            result, watch = base.locate(model, inputs, device, ["--full"])
            measured = [c["check"] for c in result["consistency"]["checks"] if c["status"] == "measured"]
            f.line(what, f"faults: {expected}; device repeats and rebuilds measured",
                   f"{result['verdict']}; faults: {base.faults(result)}; {watch.seconds:.1f} s; measured: {', '.join(measured)}",
                   base.faults(result) == expected and {"device repeats", "device rebuild"} <= set(measured))


def planted(f) -> None:
    """Two parts that overflow, not adjacent, and a large error that nothing reads much of; every hybrid tried in numpy."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, f"{root}/tests/interop/search_numpy.py", base.PARITAS], capture_output=True, text=True)
    said = (done.stdout.strip() or done.stderr.strip()).splitlines()
    f.line("two planted culprits, one harmless error", "both found, the harmless one acquitted", said[-1] if said else "nothing was said",
           done.returncode == 0)


CASES = [("planted", planted, False), ("probes-htp", probes_htp, True), ("noise-floor", noise_floor, False), ("full-published", full_published, False)]
