"""monitor_numpy.py MONITOR.json REFERENCE DEVICE: recomputes the figures of `paritas monitor` with numpy from two recordings of the same
samples (paritas run --marks all), and says how many were held against each other. Exit 1 where one differs, 2 where nothing was checked."""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file


def number(value):
    return float(value)  # "inf" and "nan" are strings


def side(folder):
    index = json.loads((Path(folder) / "run.json").read_text())
    scales = {t["name"]: t.get("quantisation") for t in index["tensors"]}
    return scales, [load_file(path) for path in sorted(Path(folder).glob("sample-*.safetensors"))]


def real(array, quantisation):
    values = array.astype(np.float64)
    if quantisation is None or array.dtype.kind not in "iu":
        return values
    scale, zero = np.array(quantisation["scale"]), np.array(quantisation["zero_point"], dtype=np.float64)
    if scale.size > 1:
        shape = [1] * array.ndim
        shape[quantisation["axis"]] = scale.size
        scale, zero = scale.reshape(shape), zero.reshape(shape) if zero.size > 1 else zero
    return (values - zero) * scale


def figures(x, y):
    d = y - x
    energy, error = np.sum(x * x), np.sum(d * d)
    return {
        "mean_abs": np.mean(np.abs(d)),
        "mse": np.mean(d * d),
        "max_abs": np.max(np.abs(d)),
        "nmse": error / energy if energy else (0.0 if error == 0 else np.inf),
        "cosine": np.sum(x * y) / np.sqrt(energy * np.sum(y * y)) if energy and np.any(y) else None,
    }


def main():
    result = json.loads(Path(sys.argv[1]).read_text())
    (x_scales, reference), (y_scales, device) = side(sys.argv[2]), side(sys.argv[3])
    checked, wrong = 0, 0
    for layer in result["layers"]:
        x_name, y_name = layer["name"], layer["device_name"]
        rows = [figures(real(x[x_name], x_scales.get(x_name)), real(y[y_name], y_scales.get(y_name)))
                for x, y in zip(reference, device, strict=True) if x_name in x and y_name in y]
        for metric, smaller_is_worse in (("mean_abs", 0), ("mse", 0), ("max_abs", 0), ("nmse", 0), ("cosine", 1)):
            stored = layer["metrics"].get(metric)
            if stored is None or any(row[metric] is None for row in rows):
                continue
            values = sorted(row[metric] for row in rows)
            tail = len(values) // 100
            want = {
                "median": values[(len(values) - 1) // 2],
                "p99": values[tail] if smaller_is_worse else values[-1 - tail],
                "worst": values[0] if smaller_is_worse else values[-1],
            }
            for key, value in want.items():
                checked += 1
                if not np.isclose(number(stored[key]), value, rtol=1e-6, atol=1e-12):
                    wrong += 1
                    print(f"{x_name}, {metric}, {key}: {stored[key]}, numpy says {value}")
    print(f"{checked} figures, {wrong} differ")
    return 1 if wrong else 0 if checked else 2


sys.exit(main())
