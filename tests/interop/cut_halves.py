#!/usr/bin/env python3
"""The cells of the cross matrix against halves that the onnx package extracts.

usage: cut_halves.py PARITAS SOURCE_DIR       exit 0 fine, 1 not, 77 skipped

onnx.utils extracts both halves of the detector, `paritas run` runs each half by itself, and numpy compares with what the
cells of `locate --cut` say: the same largest scores and the same cosines, cell by cell. ONNX Runtime's own Python
binding computes the cell of the reference.
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
    import onnx.utils
    import onnxruntime as ort
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PARITAS, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MODEL = SOURCE / "examples/detr-mini/detr_mini_fragile.onnx"
MAPS = ["/enc/fpn.1/fpn.1.1/fpn.1.1.2/Mul_output_0", "/enc/pan.0/pan.0.1/pan.0.1.2/Mul_output_0",
        "/enc/pan.1/pan.1.1/pan.1.1.2/Mul_output_0"]
SIZE = "orig_target_sizes"
TARGETS = {"reference": "cpu", "device": "sim:fp16"}


def paritas(*arguments):
    done = subprocess.run([PARITAS, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"paritas {arguments[0]}: {done.stderr}")


def recorded(folder, name):
    """A tensor of a recording's safetensors file."""
    data = (folder / "sample-000000.safetensors").read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    entry = header[name]
    start, stop = (8 + int.from_bytes(data[:8], "little") + at for at in entry["data_offsets"])
    dtype = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
    return np.frombuffer(data[start:stop], dtype).reshape(entry["shape"])


def run(model, feeds, target, folder, names):
    inputs = []
    for number, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"in-{number}.npy", value)
        inputs += ["--input", f"{name}={folder / f'in-{number}.npy'}"]
    out = folder / "recording"
    paritas("run", model, *inputs, "--target", target, "-o", out, "--force")
    return {name: recorded(out, name) for name in names}


def cosine(a, b):
    a, b = (v.astype(np.float64).ravel() for v in (a, b))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def main():
    folder = Path(os.getcwd())
    example = MODEL.parent
    images, size = np.load(example / "images.npy"), np.load(example / "orig_target_sizes.npy")
    onnx.utils.extract_model(str(MODEL), "front.onnx", ["images"], MAPS)
    onnx.utils.extract_model(str(MODEL), "rear.onnx", [*MAPS, SIZE], ["labels", "boxes", "scores"])
    paritas("locate", MODEL, "--input", f"images={example / 'images.npy'}", "--input",
            f"{SIZE}={example / 'orig_target_sizes.npy'}", "--device", TARGETS["device"], "--cut", "m=" + ",".join(MAPS),
            "--only-cuts", "--json", "cut.json", "--quiet")
    matrix = json.loads(Path("cut.json").read_text())["cross_matrix"][0]

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
    whole = dict(zip(("labels", "boxes", "scores"),
                     session.run(["labels", "boxes", "scores"], {"images": images, SIZE: size})))

    features = {side: run("front.onnx", {"images": images}, target, folder, MAPS) for side, target in TARGETS.items()}
    failures = []
    for cell in matrix["cells"]:
        feeds = {**features[cell["front"]], SIZE: size}
        outputs = run("rear.onnx", feeds, TARGETS[cell["rear"]], folder, ["boxes", "scores"])
        for name, value in outputs.items():
            said = next(o for o in cell["outputs"] if o["name"] == name)
            expected = (float(value.max()), cosine(whole[name], value))
            got = (said["device"]["max"], said["metrics"]["cosine"])
            fine = expected[0] == got[0] and abs(expected[1] - got[1]) < 1e-12
            print(f"{cell['front']}/{cell['rear']} {name}: {got} {'fits' if fine else f'instead of {expected}'}")
            if not fine:
                failures.append(name)
    equal = all(np.array_equal(features["reference"][t], f) for t, f in run("front.onnx", {"images": images}, "cpu", folder, MAPS).items())
    for row in matrix["tensors"]:
        expected = cosine(features["reference"][row["name"]], features["device"][row["name"]])
        if abs(expected - row["metrics"]["cosine"]) > 1e-12 or not equal:
            failures.append(row["name"])
    sys.exit(f"{len(failures)} figures differ" if failures else 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main()
