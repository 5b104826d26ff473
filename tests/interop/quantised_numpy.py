"""Checks what compare says about quantised tensors, integers and zeros against numpy and Python's whole numbers.

usage: quantised_numpy.py PARITAS

The recordings are written here, from the documented form. Exit code 77 means skipped.
"""
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

CODES = {"float32": "F32", "float64": "F64", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32",
         "int64": "I64", "uint64": "U64"}


def write(folder, arrays, quantisation):
    os.makedirs(folder)
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": CODES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in arrays.values())
    with open(f"{folder}/sample-000000.safetensors", "wb") as file:
        file.write(data)
    tensors = []
    for name, array in arrays.items():
        entry = {"name": name, "dtype": str(array.dtype), "role": "output"}
        if name in quantisation:
            scale, zero_point, axis = quantisation[name]
            entry["quantisation"] = {"scale": scale, "zero_point": zero_point, **({} if axis is None else {"axis": axis})}
        tensors.append(entry)
    sample = {"file": "sample-000000.safetensors", "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
              "shapes": {name: list(a.shape) for name, a in arrays.items()}}
    with open(f"{folder}/run.json", "w") as file:
        json.dump({"schema": "paritas.run/1", "model": {"path": "", "sha256": ""}, "tensors": tensors, "samples": [sample]}, file)


def real(array, quantisation):
    if quantisation is None:
        return array.astype(np.float64)
    scale, zero_point, axis = quantisation
    shape = [1] * array.ndim
    if axis is not None:
        shape[axis] = -1
    return (array.astype(np.float64) - np.reshape(zero_point, shape if axis is not None else [1] * array.ndim)) * np.reshape(
        scale, shape if axis is not None else [1] * array.ndim)


def close(a, b, what):
    a = float(a)
    assert (math.isinf(a) and a == b) or abs(a - b) <= 1e-12 * max(1e-300, abs(b)), f"{what}: {a}, numpy {b}"


def check_real(name, metrics, x, y):
    d = y - x
    close(metrics["max_abs"], np.abs(d).max(), f"{name} max_abs")
    close(metrics["mean_abs"], math.fsum(np.abs(d).ravel()) / d.size, f"{name} mean_abs")
    close(metrics["mse"], math.fsum((d * d).ravel()) / d.size, f"{name} mse")
    energy = math.fsum((x * x).ravel())
    if energy > 0:
        close(metrics["nmse"], math.fsum((d * d).ravel()) / energy, f"{name} nmse")
    assert metrics["differing"] == int((x != y).sum()), f"{name} differing"
    assert metrics["reference_zeros"] == int((x == 0).sum()), f"{name} reference_zeros"
    assert metrics["device_zeros"] == int((y == 0).sum()), f"{name} device_zeros"
    assert metrics["reference_range"] == [x.min(), x.max()], f"{name} range"


def check_codes(name, codes, x, y):
    d = y.astype(np.int64) - x.astype(np.int64)
    histogram = [int((np.clip(d, -8, 8) == k).sum()) for k in range(-8, 9)]
    assert codes["steps"] == histogram, f"{name} steps: {codes['steps']}, numpy {histogram}"
    assert codes["max_step"] == int(np.abs(d).max()), f"{name} max_step"
    close(codes["mean_step"], float(np.abs(d).sum()) / d.size, f"{name} mean_step")
    close(codes["mean_bias"], float(d.sum()) / d.size, f"{name} mean_bias")
    for side, values in (("reference", x), ("device", y)):
        levels, counts = np.unique(values, return_counts=True)
        assert codes[side]["levels"] == len(levels), f"{name} levels"
        info = np.iinfo(values.dtype)
        assert codes[side]["at_lowest"] == int((values == info.min).sum()), f"{name} at_lowest"
        assert codes[side]["at_highest"] == int((values == info.max).sum()), f"{name} at_highest"
        share = counts / values.size
        assert abs(codes[side]["entropy_bits"] + float((share * np.log2(share)).sum())) < 1e-9, f"{name} entropy"


def cases(rng):
    """name -> (reference, device, reference's quantisation, device's)"""
    out = {}
    for dtype in ("int8", "uint8", "int16", "uint16"):
        info = np.iinfo(dtype)
        for size in (1, 7, 2048, 70001):
            x = rng.integers(info.min, info.max + 1, size=size).astype(dtype)
            d = rng.integers(-10, 11, size=size) * (rng.random(size) < 0.3)
            y = np.clip(x.astype(np.int64) + d, info.min, info.max).astype(dtype)
            out[f"{dtype}-{size}-plain"] = (x, y, None, None)
            scale = float(rng.uniform(1e-3, 2))
            out[f"{dtype}-{size}-same"] = (x, y, ([scale], [3], None), ([scale], [3], None))
            out[f"{dtype}-{size}-other"] = (x, y, ([scale], [3], None), ([scale * 1.5], [4], None))
            out[f"{dtype}-{size}-float"] = (x.astype(np.float32), y, None, ([scale], [-1], None))
    x = rng.integers(-128, 128, size=(3, 5, 11)).astype(np.int8)
    y = np.clip(x + rng.integers(-2, 3, size=x.shape), -128, 127).astype(np.int8)
    for axis in range(3):
        n = x.shape[axis]
        q = ([float(s) for s in rng.uniform(0.01, 1, size=n)], [int(z) for z in rng.integers(-5, 6, size=n)], axis)
        p = ([float(s) for s in rng.uniform(0.01, 1, size=n)], [int(z) for z in rng.integers(-5, 6, size=n)], axis)
        out[f"channel-{axis}-same"] = (x, y, q, q)
        out[f"channel-{axis}-other"] = (x, y, q, p)
    zeros = (rng.random(5000) < 0.4).astype(np.float32) * rng.normal(size=5000).astype(np.float32)
    out["zeros"] = (zeros, np.roll(zeros, 1), None, None)
    return out


def long_integers(rng):
    """Pairs beyond 2^53, with a tolerance: exact in Python."""
    out = {}
    for dtype in ("int64", "uint64"):
        info = np.iinfo(dtype)
        x = [int(v) for v in rng.integers(info.max - 2**60, info.max - 100, size=500, dtype=np.uint64)]
        y = [min(info.max, v + int(k)) for v, k in zip(x, rng.integers(0, 6, size=500))]
        out[f"long-{dtype}"] = (np.array(x, dtype), np.array(y, dtype), None, None)
    out["long-mixed"] = (np.array([-1, -(2**63), 5, 2**62 + 1], np.int64), np.array([2**64 - 1, 0, 5, 2**62], np.uint64), None, None)
    return out


def main():
    paritas = sys.argv[1]
    rng = np.random.default_rng(23)
    tensors = {**cases(rng), **long_integers(rng)}
    atol = 2
    with tempfile.TemporaryDirectory() as folder:
        write(f"{folder}/a", {n: c[0] for n, c in tensors.items()}, {n: c[2] for n, c in tensors.items() if c[2]})
        write(f"{folder}/b", {n: c[1] for n, c in tensors.items()}, {n: c[3] for n, c in tensors.items() if c[3]})
        done = subprocess.run([paritas, "compare", f"{folder}/a", f"{folder}/b", "--json", "-", "--gate", f"long-*: outside<=0, atol={atol}"],
                              capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        result = json.loads(done.stdout)
    rows = {t["name"]: t["metrics"] for t in result["tensors"]}
    assert rows.keys() == tensors.keys()
    for name, (x, y, q, p) in tensors.items():
        if name.startswith("long-"):
            outside = sum(abs(int(b) - int(a)) > atol for a, b in zip(x, y))
            assert rows[name]["outside"] == outside, f"{name}: {rows[name]['outside']} outside, in whole numbers {outside}"
            continue
        check_real(name, rows[name], real(x, q), real(y, p))
        same = x.dtype == y.dtype and x.dtype.kind in "iu" and q == p
        assert ("codes" in rows[name]) == same, f"{name}: codes"
        if same:
            check_codes(name, rows[name]["codes"], x, y)
    print(f"{len(tensors)} pairs agree")


main()
