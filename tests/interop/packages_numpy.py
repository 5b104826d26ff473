#!/usr/bin/env python3
"""What `paritas compare` says of two packages, against the onnx package and numpy.

usage: packages_numpy.py PARITAS SOURCE_DIR       exit 0 fine, 1 not, 77 skipped

The detector is split in two releases: as it is, and with weights that were disturbed, one of another type of storage (typed
fields instead of raw data), some renamed and some moved into Constant nodes. onnx loads the shipped parts, numpy takes the
figures of every constant that differs and of the recorded references, and each is held against the JSON.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PARITAS, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
EXAMPLE = SOURCE / "examples/detr-mini"
CUT = "encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0"
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(f"{what} {detail}")


def close(what, found, expected):
    found = float(found)
    check(what, found == expected or abs(found - expected) <= 1e-12 * abs(expected), f"{found!r} != {expected!r}")


def split(model, package):
    inputs = ["--input", f"images={EXAMPLE}/images.npy", "--input", f"orig_target_sizes={EXAMPLE}/orig_target_sizes.npy"]
    done = subprocess.run([PARITAS, "split", model, *inputs, "--cut", CUT, "--part", "encoder=sim:fp16", "--part",
                           "decoder=cpu", "--gate", "scores: cosine>=0.5", "--quiet", "-o", package],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"paritas split: {done.stdout}{done.stderr}")


def compare(before, after, code):
    done = subprocess.run([PARITAS, "compare", before, after, "--json", "-"], capture_output=True, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"paritas compare ended with {done.returncode}, not {code}: {done.stdout[:500]}{done.stderr}")
    return json.loads(done.stdout)


def constants(file):
    model = onnx.load(file)
    found = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def disturbed(model):
    """Every thirtieth larger weight, by ever more."""
    for number, tensor in enumerate(t for t in model.graph.initializer if np.prod(t.dims) >= 64):
        values = numpy_helper.to_array(tensor)
        if number % 30 or values.dtype != np.float32:
            continue
        changed = values + np.float32(1e-4 * (number + 1)) * np.sin(np.arange(values.size, dtype=np.float32)).reshape(values.shape)
        tensor.ClearField("raw_data")
        tensor.float_data.extend(changed.ravel().tolist())
    return model


def renamed(model):
    """Constants numbered anew, and small ones moved into Constant nodes."""
    names = {tensor.name: f"constant_{number}" for number, tensor in enumerate(model.graph.initializer)}
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = names.get(name, name)
    small = [tensor for tensor in model.graph.initializer if np.prod(tensor.dims) == 1]
    for tensor in small:
        model.graph.node.insert(0, onnx.helper.make_node("Constant", [], [tensor.name], value=tensor))
        model.graph.initializer.remove(tensor)
    return model


def nmse(x, y):
    x, y = x.astype(np.float64), y.astype(np.float64)
    return float(np.sum((y - x) ** 2) / np.sum(x * x))


def check_constants(part, before, after):
    a, b = constants(before / part["before"]["file"]), constants(after / part["after"]["file"])
    expected = {name for name in a if name in b and a[name].tobytes() != b[name].tobytes()}
    told = {c["name"]: c for c in part["constants"]["differing"] if c["difference"] == "changed"}
    check(f"{part['name']}: names of changed constants", expected == set(told), f"{expected ^ set(told)}")
    check(f"{part['name']}: something changed", bool(expected))
    for name in expected & set(told):
        metrics = told[name]["metrics"]
        close(f"{name}: nmse", metrics["nmse"], nmse(a[name], b[name]))
        close(f"{name}: max_abs", metrics["max_abs"], float(np.max(np.abs(b[name].astype(np.float64) - a[name]))))
        check(f"{name}: differing", metrics["differing"] == int(np.sum(a[name] != b[name])))
        check(f"{name}: shape", told[name]["before"]["shape"] == list(a[name].shape))
    order = [float(c["metrics"]["nmse"]) for c in part["constants"]["differing"]]
    check(f"{part['name']}: most changed first", order == sorted(order, reverse=True))
    count = sum(part["constants"][key] for key in ("same", "renamed", "changed", "removed"))
    check(f"{part['name']}: number of constants", count == len(a), f"{count} != {len(a)}")
    check(f"{part['name']}: the graph is the same", part["graph"]["same"])
    nodes = [n for n in onnx.load(before / part["before"]["file"]).graph.node if n.op_type != "Constant"]
    check(f"{part['name']}: number of nodes", part["graph"]["nodes_before"] == len(nodes))


def recorded(package):
    data = (package / "reference/sample-000000.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "I64": np.int64}
    return {name: np.frombuffer(data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]],
                                types[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in json.loads(data[8:8 + length]).items() if name != "__metadata__"}


def check_reference(diff, before, after):
    a, b = recorded(before), recorded(after)
    names = [tensor["name"] for tensor in diff["reference"]["tensors"]]
    check("tensors of the reference", names == ["labels", "boxes", "scores", "feature_0", "feature_1", "feature_2"], names)
    for tensor in diff["reference"]["tensors"]:
        x, y = a[tensor["name"]], b[tensor["name"]]
        check(f"{tensor['name']}: equal", tensor["equal"] == int(x.tobytes() == y.tobytes()))
        if tensor["name"] != "labels":
            close(f"{tensor['name']}: nmse", tensor["worst"]["metrics"]["nmse"], nmse(x, y))


def main():
    original = EXAMPLE / "detr_mini.onnx"
    onnx.save(disturbed(onnx.load(original)), "disturbed.onnx")
    onnx.save(renamed(onnx.load(original)), "renamed.onnx")
    onnx.save(renamed(disturbed(onnx.load(original))), "both.onnx")
    before = Path("before")
    split(original, before)
    for name in ("disturbed", "renamed", "both"):
        split(f"{name}.onnx", name)
    diff = compare(before, "disturbed", 1)
    check("finding", diff["finding"]["id"] == "package-weights", diff["finding"]["id"])
    for part in diff["parts"]:
        check_constants(part, before, Path("disturbed"))
    check_reference(diff, before, Path("disturbed"))

    diff = compare(before, "renamed", 0)
    for part in diff["parts"]:
        found = part["constants"]
        check(f"{part['name']}: renamed alone is no change", found["differing"] == [] and part["graph"]["same"])
        names = set(constants(before / part["before"]["file"])) - set(constants(Path("renamed") / part["after"]["file"]))
        check(f"{part['name']}: number of renamed", found["renamed"] >= len(names) > 0, f"{found['renamed']} {len(names)}")

    # Another name and another value: told by where it is read.
    names = {t.name: f"constant_{number}" for number, t in enumerate(onnx.load(original).graph.initializer)}
    diff = compare(before, "both", 1)
    for part in diff["parts"]:
        a, b = constants(before / part["before"]["file"]), constants(Path("both") / part["after"]["file"])
        expected = {name for name in a if name in names and names[name] in b and a[name].tobytes() != b[names[name]].tobytes()}
        told = {c["name"]: c for c in part["constants"]["differing"]}
        check(f"{part['name']}: renamed and changed", set(told) == expected != set(), f"{set(told) ^ expected}")
        for name in expected & set(told):
            check(f"{name}: its new name", told[name]["after_name"] == names[name])
            close(f"{name}: nmse", told[name]["metrics"]["nmse"], nmse(a[name], b[names[name]]))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
for failure in failures:
    print(f"FAILED {failure}")
print("figures of packages agree" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
