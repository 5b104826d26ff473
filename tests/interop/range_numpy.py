"""Checks `paritas inspect --range` against numpy: ONNX Runtime's values of every tensor, rounded by numpy.

Part one: the broken and the healthy detector, every value-dependent float tensor: largest magnitude, counts, lost energy in
float16, bfloat16 and int8. Part two: two small networks that differ in scale alone; the larger one must be convicted, the
smaller one acquitted, and what composite operators hold inside must be what their definition says.

usage: range_numpy.py PARITAS SOURCE_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

PARITAS, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DETR = os.path.join(SOURCE, "examples/detr-mini")
failures = []


def check(what, got, expected, tolerance=0.0):
    if not abs(float(got) - float(expected)) <= tolerance * abs(float(expected)):
        failures.append(f"{what}: paritas {got}, numpy {expected}")


def preflight(model, inputs, form):
    command = [PARITAS, "inspect", model, "--range", "--format", form, "--json", "-"]
    for text in inputs:
        command += ["--input", text]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def all_tensors(path, feeds):
    model = onnx.load(path)
    have = {o.name for o in model.graph.output}
    for node in model.graph.node:
        model.graph.output.extend(onnx.ValueInfoProto(name=o) for o in node.output if o and o not in have)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return {**dict(zip((o.name for o in session.get_outputs()), session.run(None, feeds))), **feeds}


def bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def stored(x, form, step=None):
    if form == "fp16":
        with np.errstate(over="ignore"):
            return np.asarray(x, np.float64).astype(np.float16).astype(np.float64)
    return bfloat16(x) if form == "bf16" else np.rint(x / step) * step


def figures(samples, form):
    """Of one tensor over its samples: largest, overflowed, flushed, lost energy of the worst sample."""
    values = [np.asarray(s, np.float64).ravel() for s in samples]
    values = [v[np.isfinite(v)] for v in values]
    largest = max((np.abs(v).max() if v.size else 0.0) for v in values)
    overflowed = flushed = 0
    lost = 0.0
    for v in values:
        if not v.size or largest == 0:
            continue
        s = stored(v, form, largest / 127)
        overflowed += int((~np.isfinite(s)).sum())
        zero = (v != 0) & (s == 0)
        flushed += int(zero.sum())
        tiny = {"fp16": (v != 0) & (np.abs(v) < 2.0**-14), "bf16": (v != 0) & (np.abs(v) < 2.0**-126), "int8": zero}[form]
        energy = (v**2).sum()
        lost = max(lost, ((s - v)[tiny] ** 2).sum() / energy if energy > 0 else 0.0)
    return largest, overflowed, flushed, lost


def detector():
    feeds = {"images": np.load(f"{DETR}/images.npy"), "orig_target_sizes": np.load(f"{DETR}/orig_target_sizes.npy")}
    inputs = [f"{name}={DETR}/{name}.npy" for name in feeds]
    for name in ("detr_mini", "detr_mini_fragile"):
        tensors = all_tensors(f"{DETR}/{name}.onnx", feeds)
        for form in ("fp16", "bf16", "int8"):
            result = preflight(f"{DETR}/{name}.onnx", inputs, form)
            assert len(result["tensors"]) > 700, len(result["tensors"])
            for row in result["tensors"]:
                largest, overflowed, flushed, lost = figures([tensors[row["tensor"]]], form)
                what = f"{name} {form} {row['tensor']}"
                # Constants are folded first, which may move last digits of what follows.
                check(what + " max", row["max_abs"], largest, 1e-4)
                check(what + " overflowed", row["overflowed"], overflowed, 0.02)
                # A value on the edge of a code may fall to either side.
                if abs(row["flushed"] - flushed) > 2 + 0.002 * flushed:
                    failures.append(f"{what}: flushed {row['flushed']}, numpy {flushed}")
                if lost > 1e-12:
                    check(what + " lost", row["lost_energy"], lost, 0.05 if form == "int8" else 0.01)
                elif row["lost_energy"] > 1e-11:
                    failures.append(f"{what}: lost {row['lost_energy']}, numpy {lost}")
        faults = [f for f in preflight(f"{DETR}/{name}.onnx", inputs, "fp16")["findings"] if f["severity"] == "fault"]
        beyond = [n for n, v in tensors.items() if v.dtype == np.float32 and v.size and
                  np.abs(np.where(np.isfinite(v), v, 0)).max() >= 65520]
        if bool(beyond) != bool(faults):
            failures.append(f"{name}: numpy has {beyond} beyond float16, paritas {faults}")


def small(scale):
    """x -> * scale -> LayerNormalization, Softmax, Sigmoid, Softplus, InstanceNormalization, LpNormalization"""
    nodes = [helper.make_node("Mul", ["x", "scale"], ["v"], name="v"),
             helper.make_node("LayerNormalization", ["v", "ones", "zeros"], ["ln"], name="ln", axis=-1),
             helper.make_node("Softmax", ["v"], ["soft"], name="soft", axis=1),
             helper.make_node("Sigmoid", ["v"], ["sig"], name="sig"),
             helper.make_node("Softplus", ["v"], ["plus"], name="plus"),
             helper.make_node("InstanceNormalization", ["v", "one4", "zero4"], ["inst"], name="inst"),
             helper.make_node("LpNormalization", ["v"], ["lp"], name="lp", axis=1, p=2)]
    outputs = ["ln", "soft", "sig", "plus", "inst", "lp"]
    constants = {"scale": np.float32(scale), "ones": np.ones(8, np.float32), "zeros": np.zeros(8, np.float32),
                 "one4": np.ones(4, np.float32), "zero4": np.zeros(4, np.float32)}
    graph = helper.make_graph(
        nodes, "composites", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4, 8])],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 4, 8]) for n in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "small.onnx")


def hidden_by_numpy(v):
    v = v.astype(np.float64)
    centred = v - v.mean(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        return {"ln": (centred**2).mean(axis=-1), "soft": np.exp(v - v.max(axis=1, keepdims=True)), "sig": np.exp(-v),
                "plus": np.exp(v), "inst": (centred**2).mean(axis=-1), "lp": (v**2).sum(axis=1)}


def lost_by_numpy(name, v, form):
    """How far the operator's result moves when its hidden value alone is stored."""
    v = v.astype(np.float64)
    h = hidden_by_numpy(v)[name]
    k = stored(h, form)
    with np.errstate(all="ignore"):
        if name in ("ln", "inst"):
            c = v - v.mean(axis=-1, keepdims=True)
            r, s = (c / np.sqrt(m[..., None] + 1e-5) for m in (h, k))
        elif name == "soft":
            r, s = (m / m.sum(axis=1, keepdims=True) for m in (h, k))
        elif name == "sig":
            r, s = 1 / (1 + h), 1 / (1 + k)
        elif name == "plus":
            r, s = np.log1p(h), np.log1p(k)
        else:
            r, s = (v / np.sqrt(m[:, None, :]) for m in (h, k))
    ok = np.isfinite(s) & np.isfinite(r)
    return ((s[ok] - r[ok]) ** 2).sum() / (r[ok] ** 2).sum(), int((~ok).sum())


def composites():
    rng = np.random.default_rng(3)
    samples = [rng.normal(0, 1, (2, 4, 8)).astype(np.float32) for _ in range(3)]
    for i, sample in enumerate(samples):
        np.save(f"x{i}.npy", sample)
    for scale, convicted in ((1, set()), (500, {"ln", "inst", "lp", "plus"})):
        small(scale)
        result = preflight("small.onnx", [f"x=x{i}.npy" for i in range(3)], "fp16")
        assert result["samples"] == 3 and len(result["hidden"]) == 6, result["hidden"]
        runs = [all_tensors("small.onnx", {"x": s}) for s in samples]
        for row in result["hidden"]:
            values = [hidden_by_numpy(run["v"])[row["node"]] for run in runs]
            finite = [v[np.isfinite(v)] for v in values]  # exp may leave even float64
            what = f"scale {scale}, {row['what']} in {row['node']}"
            check(what + " max", row["max_abs"], max(np.abs(v).max() for v in finite), 1e-6)
            check(what + " overflowed", row["overflowed"], sum(int((~np.isfinite(stored(v, "fp16"))).sum()) for v in finite))
            losses = [lost_by_numpy(row["node"], run["v"], "fp16") for run in runs]
            check(what + " loss", row["result_loss"], max(l for l, _ in losses), 1e-3)
        faults = {n for f in result["findings"] if f["severity"] == "fault" for n in f["nodes"]}
        if faults != convicted:
            failures.append(f"scale {scale}: faults at {faults}, expected {convicted}")
        for form in ("fp16", "int8"):
            for row in preflight("small.onnx", [f"x=x{i}.npy" for i in range(3)], form)["tensors"]:
                largest, overflowed, flushed, lost = figures([run[row["tensor"]] for run in runs], form)
                what = f"scale {scale} {form} {row['tensor']}"
                check(what + " max", row["max_abs"], largest)
                check(what + " overflowed", row["overflowed"], overflowed)
                check(what + " flushed", row["flushed"], flushed)
                check(what + " lost", row["lost_energy"], lost, 1e-9)


def softmax(v):
    e = np.exp(v - v.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masks():
    """Where(x > 0, x, mask) -> Softmax: which masks cost the result, and how much, in float16 and int8."""
    nodes = [helper.make_node("Greater", ["x", "zero"], ["keep"], name="keep"),
             helper.make_node("Where", ["keep", "x", "mask"], ["scores"], name="scores"),
             helper.make_node("Softmax", ["scores"], ["y"], name="soft", axis=-1)]
    x = np.random.default_rng(2).normal(size=(4, 16)).astype(np.float32) * 2
    whole = np.concatenate([x[:3], -np.abs(x[3:])])
    np.save("masked.npy", x)
    np.save("whole.npy", whole)
    for mask, given, form, expected in ((-3.4e38, "masked", "fp16", set()), (-3.4e38, "whole", "fp16", {"preflight-overflow"}),
                                        (-1e9, "masked", "int8", {"preflight-ruined-scale"}), (-10, "masked", "int8", set())):
        graph = helper.make_graph(nodes, "mask", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])],
                                  [numpy_helper.from_array(np.float32(v), n) for n, v in (("zero", 0), ("mask", mask))])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "mask.onnx")
        result = preflight("mask.onnx", [f"x={given}.npy"], form)
        what = f"mask {mask} {given} {form}"
        scores = {"masked": x, "whole": whole}[given].astype(np.float64)
        scores = np.where(scores > 0, scores, np.float64(np.float32(mask)))
        kept = stored(scores, form, np.abs(scores).max() / 127)
        if form == "fp16":
            kept = np.where(np.isfinite(kept), scores, kept)  # only what overflows is replaced
        with np.errstate(invalid="ignore"):
            exact, got = softmax(scores), softmax(kept)
        fine = np.isfinite(got)
        row = result["softmax"][0]
        check(what + " nonfinite", row["result_nonfinite"], int((~fine).sum()))
        check(what + " loss", row["result_loss"], ((got - exact)[fine] ** 2).sum() / (exact[fine] ** 2).sum(), 1e-9)
        faults = {f["id"] for f in result["findings"] if f["severity"] == "fault"}
        if faults != expected:
            failures.append(f"{what}: faults {faults}, expected {expected}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    detector()
    composites()
    masks()
for failure in failures[:20]:
    print(failure)
print(f"{len(failures)} differences")
sys.exit(1 if failures else 0)
