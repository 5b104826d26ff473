"""Checks `paritas locate --probe-checks`, --islands, --groups and the margins of decisions against numpy.

One small network with a Softmax as an operator and one taken apart, a normalisation taken apart, two sums of products, a
subtraction that loses one head's digits, and picks among near ties; the device is float16, each result rounded.

usage: probes_numpy.py PARITAS
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, TOKENS, WIDTH = 4, 6, 32


def f16(values):
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32).astype(np.float16).astype(np.float32)


def constants():
    rng = np.random.default_rng(2)
    offset = np.zeros((1, HEADS, 1, 1), np.float32)
    offset[0, 2] = 64.0
    return {"offset": offset, "two": np.float32(2), "eps": np.float32(1e-5),
            "w_short": rng.normal(size=(WIDTH, 64)).astype(np.float32),
            "w_long": rng.normal(size=(64, 8)).astype(np.float32), "third": np.float32(1 / 3),
            "k": np.array([5], np.int64), "axes": np.array([-1], np.int64), "half": np.float32(0.5)}


def model():
    def node(op, inputs, output, name, **attributes):
        return helper.make_node(op, inputs, [output] if isinstance(output, str) else output, name=name, **attributes)

    nodes = [
        node("Add", ["x", "offset"], "added", "/m/lose/Add"), node("Sub", ["added", "offset"], "lost", "/m/lose/Sub"),
        node("Softmax", ["lost"], "p", "/m/soft/Softmax", axis=2),
        node("Exp", ["lost"], "e", "/m/apart/Exp"), node("ReduceSum", ["e", "axes"], "s", "/m/apart/ReduceSum", keepdims=1),
        node("Div", ["e", "s"], "q", "/m/apart/Div"),
        node("Pow", ["lost", "two"], "square", "/m/norm/Pow"),
        node("ReduceMean", ["square"], "mean", "/m/norm/ReduceMean", axes=[-1], keepdims=1),
        node("Add", ["mean", "eps"], "biased", "/m/norm/Add"), node("Sqrt", ["biased"], "root", "/m/norm/Sqrt"),
        node("Div", ["lost", "root"], "normed", "/m/norm/Div"),
        node("MatMul", ["normed", "w_short"], "h", "/m/mlp/short"), node("MatMul", ["h", "w_long"], "out", "/m/mlp/long"),
        node("Mul", ["x", "third"], "scores", "/m/pick/Mul"),
        node("TopK", ["scores", "k"], ["values", "picks"], "/m/pick/TopK", axis=-1),
        node("Greater", ["scores", "half"], "mask", "/m/pick/Greater"),
        node("GatherElements", ["scores", "picks"], "chosen", "/m/pick/GatherElements", axis=3),
        node("Cast", ["mask"], "maskf", "/m/pick/Cast", to=TensorProto.FLOAT),
    ]
    outputs = ["p", "q", "out", "chosen", "maskf"]
    graph = helper.make_graph(
        nodes, "probes", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, HEADS, TOKENS, WIDTH])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants().items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(condition, text):
    check.count += 1
    if not condition:
        sys.exit(f"FAILED: {text}")


check.count = 0


def near(got, want, relative, text, absolute=0.0):
    check(abs(got - want) <= relative * abs(want) + absolute, f"{text}: {got} is not {want}")


def run(paritas, *args):
    done = subprocess.run([paritas, "locate", *args, "--json", "-"], capture_output=True, text=True)
    if done.returncode == 3:
        print("skipped: no ONNX Runtime:", done.stderr.strip())
        sys.exit(77)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def softmax(x, axis):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float32)


def sums(values, axis):
    off = np.abs(values.astype(np.float64).sum(axis=axis) - 1)
    return off.max(), off.mean()


def check_softmax(checks, lost):
    by_tensor = {c["tensor"]: c for c in checks["softmax"]}
    check(set(by_tensor) == {"p", "q"}, f"both Softmax are found: {sorted(by_tensor)}")
    whole, apart = by_tensor["p"], by_tensor["q"]
    check(whole["axes"] == [2] and whole["rows"] == HEADS * WIDTH and not whole["decomposed"], "the operator's own axis")
    check(apart["axes"] == [3] and apart["rows"] == HEADS * TOKENS and apart["decomposed"], "the reduction's axis")
    check(not apart["whole"], "single nodes hold the division alone")
    e = np.exp(lost)
    for got, device, reference, axis in (
            (whole, f16(softmax(f16(lost), 2)), softmax(lost, 2), 2),
            (apart, f16(f16(e) / f16(e.sum(axis=-1, keepdims=True))), e / e.sum(axis=-1, keepdims=True), 3)):
        for side, values in (("device", device), ("storage", f16(reference))):
            largest, mean = sums(values, axis)
            near(got[side]["max"], largest, 0.1, f"{got['tensor']} {side} max", 2e-5)
            near(got[side]["mean"], mean, 0.1, f"{got['tensor']} {side} mean", 2e-6)


def fitted(reference, device):
    x, y = reference.astype(np.float64), device.astype(np.float64)
    a = (x * y).sum(-1) / (x * x).sum(-1)
    rest = y - a[..., None] * x
    return (np.sqrt(((a - 1) ** 2).mean()), np.sqrt(((y - x) ** 2).sum() / (x * x).sum()),
            np.sqrt((rest ** 2).sum() / (x * x).sum()))


def check_norm(checks, lost, islands):
    (norm,) = checks["norms"]
    check(norm["kind"] == "RMSNormalization" and norm["decomposed"], "the normalisation is found")
    check([s["role"] for s in norm["steps"]] == ["square", "mean", "biased", "root", "result"], "its steps")
    c = constants()
    mean = (lost.astype(np.float64) ** 2).mean(-1, keepdims=True).astype(np.float32)
    root = np.sqrt(mean + c["eps"])
    reference = lost / root
    if islands:
        check(norm["whole"], "the island holds all of it")
        inside = f16(f16(f16(lost) ** 2).astype(np.float64).mean(-1, keepdims=True))
        device = f16(f16(lost) / f16(np.sqrt(f16(inside + f16(c["eps"])))))
    else:
        check(not norm["whole"], "single nodes: the division alone")
        device = f16(f16(lost) / f16(root))
        rounded = f16(f16(lost ** 2).astype(np.float64).mean(-1, keepdims=True))  # from the reference's squares
        off = np.abs(rounded - mean) / mean
        step = norm["steps"][1]["local"]
        near(step["max"], off.max(), 0.02, "mean, largest", 1e-6)
        near(step["rms"], np.linalg.norm(rounded - mean) / np.linalg.norm(mean), 0.02, "mean, rms", 1e-6)
    scale, result, rest = fitted(reference, device)
    near(norm["implied"]["scale_rms"], scale, 0.03, "implied scale", 1e-6)
    near(norm["implied"]["result_rms"], result, 0.03, "result", 1e-6)
    near(norm["implied"]["rest_rms"], rest, 0.03, "rest", 1e-6)


def check_sums(checks):
    by_node = {s["node"]: s for s in checks["sums"]}
    rho = 2.0 ** -11 / math.sqrt(8 * math.log(2))
    for node, terms, weight in (("/m/mlp/short", WIDTH, "w_short"), ("/m/mlp/long", 64, "w_long")):
        s = by_node[node]
        check(s["terms"] == terms, f"{node} has {terms} terms")
        w = constants()[weight].astype(np.float64)
        near(s["right_rms"], np.sqrt((w * w).mean()), 1e-9, f"{node} rms")
        sigma = s["left_rms"] * s["right_rms"]
        near(s["operand_rms"], rho * math.sqrt(2 * terms) * sigma, 1e-9, f"{node} operands")
        near(s["accumulation_rms"], rho * math.sqrt(terms * (terms + 1) / 2) * sigma, 1e-9, f"{node} partial sums")
        # The simulator sums in float32: no accumulation in float16 is to be seen.
        check(s["kernel_rms"] < 0.1 * s["accumulation_rms"], f"{node}: acquitted, {s['kernel_rms']}")


def check_probes(result):
    rows = {n["tensor"]: n for n in result["nodes"]}
    for p in result["probe_checks"]["probes"]:
        local = rows[p["tensor"]]["local"]
        near(p["rms"], local["metrics"]["rmse"], 0, p["tensor"])
        if p["remainder"] is not None:
            near(p["remainder"], max(0, p["max_abs"] - p["storage_max"] - p["input_max"]), 1e-12, f"{p['tensor']} remainder")
    for block in result["probe_checks"]["blocks"]:
        inside = [n for n in result["nodes"] if n["name"].startswith(block["path"] + "/") and n["local"]]
        check(block["probed"] == len(inside), f"{block['path']} holds {len(inside)} probed tensors")
        near(block["nmse_sum"], sum(n["local"]["metrics"]["nmse"] for n in inside), 1e-12, block["path"])


def check_groups(result, x):
    offset = constants()["offset"]
    added = x + offset
    lost = added - offset
    device = f16(f16(added) - f16(offset))
    d2, x2 = (device.astype(np.float64) - lost) ** 2, lost.astype(np.float64) ** 2
    local = [g for g in result["groups"] if g["run"] == "local"]
    heads, both = local[0], local[1]
    check(heads["names"] == ["head (axis 1)"] and heads["groups"] == HEADS, "one group a head")
    for g in heads["largest"]:
        (head,) = g["index"]
        near(g["error_energy"], d2[:, head].sum(), 1e-9, f"head {head}")
        near(g["nmse"], d2[:, head].sum() / x2[:, head].sum(), 1e-9, f"head {head} NMSE")
        near(g["error_share"], d2[:, head].sum() / d2.sum(), 1e-9, f"head {head} share")
        near(g["max_abs"], np.sqrt(d2[:, head].max()), 1e-9, f"head {head} max")
    check([u["where"] for u in heads["uneven"]] == ["index 2"], f"head 2 is named: {heads['uneven']}")
    for g in both["largest"]:
        head, token = g["index"]
        near(g["error_energy"], d2[0, head, token].sum(), 1e-9, f"head {head}, token {token}")
    check([u["axis"] for u in both["uneven"]] == [1], "no token is named")
    convicted = [f for f in result["findings"] if f["id"] == "uneven-error" and (f["evidence"] or {}).get("tensor") == "lost"]
    check(convicted and convicted[0]["nodes"] == ["/m/lose/Sub"], "the finding names the node")
    check(not [f for f in result["findings"] if (f["evidence"] or {}).get("tensor") == "scores"], "an even error is not named")


def check_decisions(result, x):
    c = constants()
    scores = x * c["third"]
    device = f16(f16(x) * f16(c["third"]))

    def top(values):
        return np.argsort(-values, axis=-1, kind="stable")[..., :5]

    r, d = top(scores), top(device)
    gaps = np.abs(np.take_along_axis(scores, r, -1) - np.take_along_axis(scores, d, -1))[r != d]
    tops = {t["tensor"]: t for t in result["decisions"]}
    picks = tops["picks"]
    check(picks["moved"] == int((r != d).sum()) > 0, f"{picks['moved']} picks moved, numpy {int((r != d).sum())}")
    near(picks["tie"]["margin"], gaps.max(), 1e-6, "margin of the picks")
    ordered = -np.sort(-scores, axis=-1)
    near(picks["tie"]["runner_up"], (ordered[..., 4] - ordered[..., 5]).min(), 1e-6, "runner-up")
    check(picks["tie"]["explained_by"] in ("storage", "local"), f"rounding is enough: {picks['tie']}")
    check(picks["gathers"] == ["/m/pick/GatherElements"] and picks["outputs"] == ["chosen"], "what depends on them")
    mask = tops["mask"]
    changed = (scores > 0.5) != (device > 0.5)
    check(mask["moved"] == int(changed.sum()), f"{mask['moved']} comparisons changed")
    near(mask["tie"]["runner_up"], np.abs(scores - np.float32(0.5)).min(), 1e-5, "nearest to the threshold", 1e-9)
    if changed.any():
        near(mask["tie"]["margin"], np.abs(scores - np.float32(0.5))[changed].max(), 1e-5, "margin of the threshold")
    else:
        check(mask["tie"]["margin"] is None, "nothing changed, no margin")


def main(paritas):
    paritas = os.path.abspath(paritas)
    with tempfile.TemporaryDirectory() as folder:
        x = np.random.default_rng(8).normal(size=(1, HEADS, TOKENS, WIDTH)).astype(np.float32)
        x[0, 0, 0, 1] = x[0, 0, 0, 0] = 2.5
        x[0, 0, 0, 1] += np.float32(0.0004)  # a near tie
        path = f"{folder}/probes.onnx"
        onnx.save(model(), path)
        np.save(f"{folder}/x.npy", x)
        common = (path, "--input", f"x={folder}/x.npy", "--device", "sim:fp16", "--probe-checks")
        result = run(paritas, *common, "--groups", "lost: axis=1 names=head", "--groups",
                     "/m/lose/Sub: axes=1,2 names=head,token", "--groups", "scores: axis=1")
        offset = constants()["offset"]
        lost = (x + offset) - offset
        check_softmax(result["probe_checks"], lost)
        check_norm(result["probe_checks"], lost, islands=False)
        check_sums(result["probe_checks"])
        check_probes(result)
        check_groups(result, x)
        check_decisions(result, x)
        patterns = run(paritas, *common, "--islands", "patterns")["probe_checks"]
        check({c["tensor"]: c["whole"] for c in patterns["softmax"]} == {"p": True, "q": True}, "whole Softmax probed")
        check_norm(patterns, lost, islands=True)
        blocks = run(paritas, *common, "--islands", "blocks")
        check({n["local"]["island"] for n in blocks["nodes"] if n["local"]} >= {"/m/lose", "/m/apart", "/m/norm"}, "blocks")
    print(f"{check.count} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
