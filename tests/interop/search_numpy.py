"""Checks `paritas locate --search` and `paritas inject` on a network small enough to try every hybrid in numpy.

Two parts of the network overflow in float16, far from each other, and each ruins the output alone; a third has a large
relative error that nothing reads much of. numpy computes every one of the 2^n hybrids (some nodes in float32 with exact
constants, the others with constants, inputs and results rounded to float16). Then
  - the set that the search finds holds, and none of it can be dropped;
  - both overflowing parts are in it, the harmless node is not;
  - what injection makes of the output is what numpy makes of it, for every mode.

usage: search_numpy.py PARITAS
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F16 = np.float16
CONSTANTS = {"k300": 300.0, "two": 2.0, "eps": 1e-6, "k400": 400.0, "small": 1e-5, "tiny": 1e-6, "third": 1 / 3}
NODES = [  # name, op, inputs
    ("scaled", "Mul", ["x", "k300"]), ("square", "Pow", ["scaled", "two"]), ("mean", "ReduceMean", ["square"]),
    ("biased", "Add", ["mean", "eps"]), ("root", "Sqrt", ["biased"]), ("normed", "Div", ["scaled", "root"]),
    ("odd", "Mul", ["normed", "third"]), ("harmless", "Mul", ["odd", "tiny"]),
    ("large", "Mul", ["normed", "k400"]), ("larger", "Mul", ["large", "large"]), ("back", "Mul", ["larger", "small"]),
    ("y", "Add", ["back", "harmless"]),
]
NAMES = [name for name, _, _ in NODES]


def model():
    nodes = []
    for name, op, inputs in NODES:
        more = {"axes": [-1], "keepdims": 1} if op == "ReduceMean" else {}
        nodes.append(helper.make_node(op, inputs, [name], name=name, **more))
    graph = helper.make_graph(
        nodes, "two_culprits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])],
        [numpy_helper.from_array(np.float32(value), name) for name, value in CONSTANTS.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rounded(values):
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32).astype(F16).astype(np.float32)


def apply(op, a):
    with np.errstate(all="ignore"):
        if op == "Mul":
            return a[0] * a[1]
        if op == "Add":
            return a[0] + a[1]
        if op == "Div":
            return a[0] / a[1]
        if op == "Pow":
            return a[0] * a[0]
        if op == "Sqrt":
            return np.sqrt(a[0])
        return a[0].mean(axis=-1, keepdims=True, dtype=np.float32)


def hybrid(x, restored, added=None):
    """added: tensor -> what is added to the node's result."""
    exact, handed = {"x": x}, {"x": rounded(x)}
    for name, value in CONSTANTS.items():
        exact[name], handed[name] = np.float32(value), rounded(value)
    for name, op, inputs in NODES:
        here = restored is None or name in restored
        # An exact node reads other exact nodes' results as they are; a rounded node's result is rounded for everybody.
        result = apply(op, [(exact if here else handed)[i] for i in inputs])
        if added and name in added:
            with np.errstate(all="ignore"):
                result = result + added[name]
        exact[name] = result if here else rounded(result)
        handed[name] = rounded(result)
    return exact


def cosine(a, b):
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    if not np.isfinite(b).all():
        return 0.0
    return float(a @ b / np.sqrt((a @ a) * (b @ b))) if (b @ b) > 0 else 0.0


def nmse(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float(((a - b) ** 2).sum() / (a ** 2).sum())


def run(paritas, *args):
    done = subprocess.run([paritas, *args, "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def check(condition, text):
    check.count += 1
    if not condition:
        sys.exit(f"FAILED: {text}")


check.count = 0


def search(paritas, path, x, inputs):
    want = hybrid(x, None)["y"]
    good = {}
    for size in range(len(NAMES) + 1):
        for chosen in itertools.combinations(NAMES, size):
            good[frozenset(chosen)] = cosine(want, hybrid(x, set(chosen))["y"]) >= 0.9999
    check(not good[frozenset()], "the network fails in float16")
    found = run(paritas, "locate", path, *inputs, "--device", "sim:fp16", "--gate", "y: cosine>=0.9999", "--search")["search"]
    islands = frozenset(found["islands"])
    check(found["status"] == "minimal", f"status {found['status']}")
    check(good[islands], f"{sorted(islands)} holds")
    for name in islands:
        check(not good[islands - {name}], f"{name} can be dropped from {sorted(islands)}")
    check(islands & {"square", "mean"} and islands & {"larger", "back"}, f"both culprits are in {sorted(islands)}")
    check("harmless" not in islands and "odd" not in islands, f"no innocent node is in {sorted(islands)}")
    for test in found["tests"]:
        if test["islands"] is not None:
            check(good[frozenset(test["islands"])] == (test["outcome"] == "holds"), f"{test}")
    return found


def injection(paritas, path, x, inputs):
    exact = hybrid(x, None)

    def outcome(mode, *more):
        return run(paritas, "inject", path, *inputs, "--at", mode, *more)["experiments"][0]

    def compare(experiment, added, what):
        got = experiment["outputs"][0]["metrics"]
        want = hybrid(x, None, added)["y"]
        if not np.isfinite(want).all():
            check(sum(got["nonfinite"].values()) > 0, f"{what}: not finite")
            return
        check(abs(got["nmse"] - nmse(exact["y"], want)) <= 1e-4 * nmse(exact["y"], want) + 1e-14,
              f"{what}: {got['nmse']} != {nmse(exact['y'], want)}")

    compare(outcome("normed: offset(0.25)"), {"normed": np.full((4, 16), 0.25, np.float32)}, "offset")
    with np.errstate(all="ignore"):
        compare(outcome("large: round(float16)"), {"large": rounded(exact["large"]) - exact["large"]}, "round")
        compare(outcome("larger: round(float16)"), {"larger": rounded(exact["larger"]) - exact["larger"]}, "overflow")
    # The island's own result from reference inputs, all of it rounded.
    local = rounded(rounded(exact["scaled"]) / rounded(exact["root"])) - exact["normed"]
    compare(outcome("normed: local", "--device", "sim:fp16"), {"normed": local}, "local")
    compare(outcome("normed: difference*100", "--device", "sim:fp16"), {"normed": 100 * local}, "difference")
    free = hybrid(x, set())["scaled"] - exact["scaled"]
    compare(outcome("scaled: accumulated*10", "--device", "sim:fp16"), {"scaled": 10 * free}, "accumulated")
    # Noise: its energy, and the same numbers again for the same seed, others for another.
    first, again, other = (outcome(f"normed: noise(1e-4, seed {seed})") for seed in (3, 3, 4))
    check(first["outputs"] == again["outputs"] and first["outputs"] != other["outputs"], "the seed decides")
    size = first["injected"][0]["nmse"]
    check(0.5e-4 < size < 2e-4, f"noise of NMSE 1e-4 has {size}")
    # A large error that nothing reads much of is acquitted; a smaller one in the wrong place is not.
    gate = ("--gate", "y: cosine>=0.9999")
    report = run(paritas, "inject", path, *inputs, "--each", "--at", "harmless: noise(0.5)", "--at", "large: noise(1e-2)", *gate)
    check([f["id"] for f in report["findings"]] == ["injection-harmless", "injection-breaks"], "acquitted and convicted")


def main(paritas):
    paritas = os.path.abspath(paritas)
    with tempfile.TemporaryDirectory() as folder:
        x = np.random.default_rng(5).normal(size=(4, 16)).astype(np.float32)
        path = f"{folder}/two_culprits.onnx"
        onnx.save(model(), path)
        np.save(f"{folder}/x.npy", x)
        inputs = ("--input", f"x={folder}/x.npy")
        probe = subprocess.run([paritas, "run", path, *inputs, "--target", "cpu", "-o", f"{folder}/r"], capture_output=True, text=True)
        if probe.returncode == 3:
            print("skipped: no ONNX Runtime:", probe.stderr.strip())
            return 77
        found = search(paritas, path, x, inputs)
        injection(paritas, path, x, inputs)
    print(f"{check.count} checks; found {found['islands']} in {len(found['tests'])} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
