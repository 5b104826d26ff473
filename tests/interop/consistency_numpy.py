"""Checks `paritas locate --consistency`, `--marks` and `--full` against numpy and against ONNX Runtime called from Python.

Every check convicts once and acquits once: random operators move repeats and rebuilds, offsets make rows of a batch
differ, fusion moves the reference and what marks leave of it.

usage: consistency_numpy.py PARITAS
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper


def check(condition, text):
    check.count += 1
    if not condition:
        sys.exit(f"FAILED: {text}")


check.count = 0


def near(got, want, relative, text):
    check(abs(got - want) <= relative * abs(want), f"{text}: {got} is not {want}")


def model(nodes, shape, constants=None, outputs=("y",)):
    graph = helper.make_graph(
        nodes, "consistency", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], name="/" + output, **attributes)


def session(made, optimisation):
    options = ort.SessionOptions()
    options.graph_optimization_level = optimisation
    options.intra_op_num_threads = 1
    return ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


def figures(first, other):
    first, other = np.asarray(first, np.float64), np.asarray(other, np.float64)
    d = other - first
    return {"max_abs": np.abs(d).max(), "nmse": (d * d).sum() / (first * first).sum(), "differing": int((d != 0).sum())}


def same(got, want, text):
    check(got["differing"] == want["differing"], f"{text}: {got['differing']} differ, not {want['differing']}")
    near(got["max_abs"], want["max_abs"], 1e-6, f"{text}: max_abs")
    near(got["nmse"], want["nmse"], 1e-6, f"{text}: nmse")


class Runs:
    def __init__(self, paritas, folder):
        self.paritas, self.folder = paritas, folder

    def locate(self, made, x, device, gate, *extra):
        onnx.save(made, f"{self.folder}/m.onnx")
        np.save(f"{self.folder}/x.npy", x)
        done = subprocess.run([self.paritas, "locate", f"{self.folder}/m.onnx", "--input", f"x={self.folder}/x.npy", "--device",
                               device, "--gate", gate, "--json", "-", "--quiet", *(extra or ["--consistency"])],
                              capture_output=True, text=True)
        if done.returncode == 3:
            print("skipped:", done.stderr.strip())
            sys.exit(77)
        if done.returncode not in (0, 1):
            sys.exit(f"FAILED: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def of(result, source):
    return next(c for c in result["consistency"]["checks"] if c["check"] == source)


def moved(result, source):
    return of(result, source)["outputs"][0]


def random_model(count, **seed):
    return model([node("RandomUniform", [], "u", shape=[1, count], **seed), node("Mul", ["u", "c"], "n"),
                  node("Add", ["x", "n"], "y")], [1, count], {"c": np.float32(0.01)})


def repeats_and_rebuild(runs):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1, 1000)).astype(np.float32)
    made = random_model(1000, seed=3.0)
    # Three runs of one session: the worse of the second and third against the first.
    python = session(made, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    first, *others = [python.run(None, {"x": x})[0] for _ in range(3)]
    want = max((figures(first, other) for other in others), key=lambda f: f["nmse"])
    tight = runs.locate(made, x, "cpu", "y: max_abs<=0.001")
    same(moved(tight, "device repeats"), want, "device repeats")
    check(moved(tight, "device rebuild")["differing"] == 0, "with a seed a session begins anew as every other")
    # Both sides draw the same numbers in their first run: a pass by luck.
    check(tight["outputs"][0]["metrics"]["max_abs"] == 0, "first runs are equal")
    check(tight["verdict"] == "invalid" and "cannot tell" in tight["reasons"][0], tight["reasons"])
    check(not [f for f in tight["findings"] if f["severity"] == "fault"], "nobody is blamed for noise")
    check([f["id"] for f in tight["findings"]] == ["device-noise"], tight["findings"])
    loose = runs.locate(made, x, "cpu", "y: max_abs<=0.02")
    check(loose["verdict"] == "pass", "noise below the gate leaves the verdict")
    check(loose["outputs"][0]["noise_floor"]["check"] == "device repeats", "and stands beside it")

    # Without a seed every process draws its own: the difference of two independent uniform numbers has variance 1/6.
    x = rng.normal(size=(1, 100000)).astype(np.float32)
    free = runs.locate(random_model(100000), x, "cpu", "y: max_abs<=0.001")
    rebuilt = moved(free, "device rebuild")
    near(rebuilt["nmse"] * (x.astype(np.float64)**2).sum() / x.size, 0.01**2 / 6, 0.03, "device rebuild: mse")
    check(0.009 < rebuilt["max_abs"] <= 0.01, "device rebuild: max_abs")
    check(free["verdict"] == "invalid" and "cannot tell" in free["reasons"][0], free["reasons"])
    check(not [f for f in free["findings"] if f["severity"] == "fault"], "nobody is blamed for noise")

    still = runs.locate(model([node("Add", ["x", "c"], "y")], [1, 1000], {"c": np.float32(1)}), x[:, :1000], "cpu",
                        "y: max_abs<=0")
    check(still["verdict"] == "pass" and still["outputs"][0]["noise_floor"] is None, "a network without noise")
    for source in ("device repeats", "device rebuild"):
        check(of(still, source)["status"] == "measured" and moved(still, source)["differing"] == 0, source)


def f16(values):
    return np.asarray(values, np.float32).astype(np.float16).astype(np.float32)


def offset_model(offsets, shape):
    return model([node("Add", ["x", "o"], "a"), node("Sub", ["a", "o"], "y")], shape,
                 {"o": np.array(offsets, np.float32).reshape(-1, 1)})


def rows(runs):
    rng = np.random.default_rng(2)
    grid = (rng.integers(0, 4096, size=(3, 64)) / 4096).astype(np.float32)
    grid[:, 0] = 0.5
    # Exact in float32; in float16 each row loses the digits that its offset asks for.
    offsets = np.array([0, 64, 512], np.float32).reshape(-1, 1)
    alike = np.repeat(f16(grid[:1]), 3, axis=0)
    y = f16(f16(alike + offsets) - offsets)
    found = runs.locate(offset_model([0, 64, 512], [3, 64]), grid, "sim:fp16", "y: max_abs<=0.1")
    same(moved(found, "device rows"), figures(np.repeat(y[:1], 3, axis=0), y), "device rows")
    check(moved(found, "reference rows")["differing"] == 0, "rows of the reference are equal")
    check("3 rows" in of(found, "device rows")["setting"], "three rows")
    # The gate fails: inside the noise nobody can tell, beyond it the verdict stands.
    device = figures(grid, f16(f16(f16(grid) + offsets) - offsets))
    noise = moved(found, "device rows")
    near(found["outputs"][0]["metrics"]["max_abs"], device["max_abs"], 1e-6, "the device's own error")
    check(device["max_abs"] > 0.1, "the gate fails")
    check(found["verdict"] == ("invalid" if device["max_abs"] <= noise["max_abs"] else "deviates"), found["reasons"])
    far = runs.locate(offset_model([0, 64, 512], [3, 64]), grid, "sim:fp16", "y: nmse<=0.001")
    check(far["verdict"] == ("invalid" if device["nmse"] <= noise["nmse"] else "deviates"), far["reasons"])
    # float32 loses digits as well when the offset is large enough.
    x = rng.uniform(0.25, 1, size=(2, 64)).astype(np.float32)
    big = np.array([0, 512], np.float32).reshape(-1, 1)
    alike = np.repeat(x[:1], 2, axis=0)
    y = (alike + big) - big
    found = runs.locate(offset_model([0, 512], [2, 64]), x, "cpu", "y: max_abs<=0.01")
    for source in ("device rows", "reference rows"):
        same(moved(found, source), figures(np.repeat(y[:1], 2, axis=0), y), source)
    # A free dimension takes two rows, and equal ones come out equal.
    found = runs.locate(model([node("Relu", ["x"], "y")], ["n", 64]), x[:1], "sim:fp16", "y: max_abs<=0.01")
    for source in ("device rows", "reference rows"):
        check(moved(found, source)["differing"] == 0 and moved(found, source)["count"] == 128, source)
    # A leading dimension that is no batch says nothing about noise.
    scaled = model([node("Mul", ["x", "c"], "y")], [2, 64], {"c": np.array([[1], [2]], np.float32)})
    found = runs.locate(scaled, x, "sim:fp16", "y: max_abs<=0.01")
    for source in ("device rows", "reference rows"):
        check(of(found, source)["status"] == "not applicable" and "is no batch" in of(found, source)["reason"], source)
    check(found["verdict"] == "pass", "no noise is made of it")


def blocks_model(count, rng):
    nodes, constants = [], {}
    before = "x"
    for i in range(count):
        constants[f"w{i}"] = rng.normal(size=(4, 4, 3, 3), scale=0.3).astype(np.float32)
        for name, low in (("s", 0.5), ("b", -0.5), ("m", -0.5), ("v", 0.5)):
            constants[f"{name}{i}"] = rng.uniform(low, low + 1, size=4).astype(np.float32)
        last = "y" if i + 1 == count else f"r{i}"
        nodes += [node("Conv", [before, f"w{i}"], f"c{i}", pads=[1, 1, 1, 1]),
                  node("BatchNormalization", [f"c{i}", f"s{i}", f"b{i}", f"m{i}", f"v{i}"], f"n{i}"),
                  node("Tanh", [f"n{i}"], last)]
        before = last
    return model(nodes, [1, 4, 8, 8], constants)


def marked(made, names):
    copy = onnx.ModelProto()
    copy.CopyFrom(made)
    copy.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    return copy


def optimisation_and_marks(runs):
    rng = np.random.default_rng(3)
    made = blocks_model(5, rng)
    x = rng.normal(size=(1, 4, 8, 8)).astype(np.float32)
    off, full = ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    plain = session(made, off).run(["y"], {"x": x})[0]
    fused = session(made, full).run(["y"], {"x": x})[0]
    want = figures(plain, fused)
    check(want["differing"] > 0, "fusing Conv and BatchNormalization moves the result")
    found = runs.locate(made, x, "cpu,opt=all", f"y: max_abs<={want['max_abs'] / 2}", "--full")
    same(moved(found, "reference optimisation"), want, "reference optimisation")
    # The device is the reference with the optimiser on: its whole difference is that noise.
    check(found["verdict"] == "invalid" and "cannot tell" in found["reasons"][0], found["reasons"])
    check(not [f for f in found["findings"] if f["severity"] == "fault"], "nobody is blamed for noise")
    for source in ("device repeats", "device rebuild"):
        check(moved(found, source)["differing"] == 0, source)
    # What the gate can tell stands.
    found_loose = runs.locate(made, x, "cpu,opt=all", f"y: max_abs<={want['max_abs'] * 2}")
    check(found_loose["verdict"] == "pass", "noise below the gate leaves the verdict")
    simulated = runs.locate(made, x, "sim:fp16", "y: max_abs<=1e-6")
    check(simulated["verdict"] == "deviates", "float16 is far beyond the optimiser's noise")
    relu = runs.locate(model([node("Relu", ["x"], "y")], [1, 4, 8, 8]), x, "cpu", "y: max_abs<=0")
    check(moved(relu, "reference optimisation")["differing"] == 0, "one operator does not move")

    # Outputs with no, few and all marks, on the fusing device.
    inner = [n.output[0] for n in made.graph.node if n.output[0] != "y"]
    few = [inner[(2 * i + 1) * len(inner) // 16] for i in range(8)]
    rows = found["probe_effect"][0]["graphs"]
    check([r["graph"] for r in rows] == ["unmarked", "8 marks", "all marks"], rows)
    for row, names in zip(rows, ([], few, inner)):
        y = session(marked(made, names), full).run(["y"], {"x": x})[0]
        near(row["max"], float(y.max()), 1e-7, f"largest value, {row['graph']}")
        check(row["changed"] == bool((y != fused).any()), f"changed, {row['graph']}")
        near(row["nmse"], figures(fused, y)["nmse"], 1e-6, f"nmse, {row['graph']}")
    check(rows[2]["changed"] and not rows[0]["changed"], "marks break up fusions")
    check({n["graphs"]["accumulated"] for n in found["nodes"]} == {"all marks"}, "one graph")
    check({n["graphs"]["local"] for n in found["nodes"] if n["local"]} == {"all-local"}, "local figures")
    check({o["graph"] for o in found["outputs"]} == {"unmarked"}, "outputs")

    # Every figure with three marks a graph, against the same graphs in Python.
    found = runs.locate(made, x, "cpu,opt=all", "y: max_abs<=1", "--marks", "3")
    chunks = [inner[i:i + 3] for i in range(0, len(inner), 3)]
    reference = session(marked(made, inner), off)
    expected = dict(zip(inner, reference.run(inner, {"x": x})))
    check("consistency" not in found, "not asked for")
    by_tensor = {n["tensor"]: n for n in found["nodes"]}
    for i, names in enumerate(chunks):
        device = session(marked(made, names), full)
        for name, y in zip(names, device.run(names, {"x": x})):
            check(by_tensor[name]["graphs"]["accumulated"] == f"marks {i + 1}/{len(chunks)}", by_tensor[name]["graphs"])
            same(by_tensor[name]["accumulated"], figures(expected[name], y), f"accumulated {name}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(os.path.abspath(sys.argv[1]), folder)
        repeats_and_rebuild(runs)
        rows(runs)
        optimisation_and_marks(runs)
    print(f"{check.count} checks")


if __name__ == "__main__":
    main()
