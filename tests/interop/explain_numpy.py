"""`paritas explain` on the small models of tests/cases/data/explain_models.py against an independent computation in numpy.

    explain_numpy.py PARITAS     exit 0 equal, 1 not, 77 skipped
"""
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from safetensors.numpy import load_file
except ImportError as error:
    print(f"skipped: {error}; tools/setup installs it")
    sys.exit(77)

paritas = Path(sys.argv[1]).resolve()
script = Path(__file__).resolve().parent.parent / "cases/data/explain_models.py"
failures, compared = [], 0
BINS = 1 / 64  # how far a percentile may lie above the exact one


def near(what, measured, expected, tolerance=1e-9):
    global compared
    compared += 1
    measured = float(measured) if not isinstance(measured, str) else float(measured.replace("inf", "inf"))
    if measured == expected or abs(measured - expected) <= tolerance * max(abs(expected), 1e-300):
        return
    failures.append(f"{what}: {measured} instead of {expected}")


def db(energy, error):
    return math.inf if error == 0 else 10 * math.log10(energy / error)


def recording(folder):
    info = json.loads(Path(folder, "run.json").read_text())
    keys = {t.get("id", t["name"]): t["name"] for t in info["tensors"]}
    samples = [load_file(os.path.join(folder, s["file"])) for s in info["samples"]]
    return {name: np.stack([s[key].astype(np.float64) for s in samples]) for key, name in keys.items()}


def check_value(layer, x, y, scale, point):
    v, what = layer["output"], layer["name"]
    d, q, e = v["distribution"], v["quantiser"], v["error"]
    near(f"{what} min", d["min"], x.min())
    near(f"{what} max", d["max"], x.max())
    ordered = np.sort(np.abs(x).ravel())
    for key, p in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
        exact = ordered[max(0, math.ceil(p * ordered.size) - 1)]
        if not exact <= d[key] * (1 + 1e-12) or d[key] > exact * (1 + BINS):
            failures.append(f"{what} {key}: {d[key]} for {exact}")
    near(f"{what} error", e["nmse"], ((x - y) ** 2).sum() / (x**2).sum())
    near(f"{what} largest", e["max_abs"], np.abs(x - y).max())
    near(f"{what} differing", e["differing"], int((x != y).sum()))
    if scale is None:
        return
    codes = np.clip(np.rint(x / scale) + point, 0, 255)
    own, low, high = (x - (codes - point) * scale) ** 2, -point * scale, (255 - point) * scale
    clipped = (x > high + scale / 2) | (x < low - scale / 2)
    device = np.rint(y / scale) + point
    near(f"{what} own", q["own_nmse"], own.sum() / (x**2).sum())
    near(f"{what} clip", q["clip_nmse"], own[clipped].sum() / (x**2).sum())
    near(f"{what} clipped", q["clipped"], int(clipped.sum()))
    near(f"{what} levels", q["levels_used"], np.unique(device).size)
    near(f"{what} at the lower limit", q["at_low"], int((device == 0).sum()))
    near(f"{what} at the upper limit", q["at_high"], int((device == 255).sum()))
    asked = (max(x.max(), 0) - min(x.min(), 0)) / 255
    near(f"{what} asked", q["asked_scale"], asked)
    near(f"{what} ratio", q["ratio"], scale / asked)


def check_weights(layer, w, stored, scale):
    f, what = layer["weights"][0], layer["name"] + " weights"
    v = stored.astype(np.float64) * np.reshape(scale, (-1, 1, 1, 1) if np.ndim(scale) else ())
    rows, error = w.reshape(len(w), -1), (w - v).reshape(len(w), -1)
    near(f"{what} SQNR", f["error"]["sqnr_db"], db((w**2).sum(), (error**2).sum()))
    each = [db((rows[i] ** 2).sum(), (error[i] ** 2).sum()) for i in range(len(w))]
    near(f"{what} worst channel", f["error"]["worst_channel_db"], min(each))
    near(f"{what} which", f["error"]["worst_channel"], int(np.argmin(each)))
    ranges = np.abs(v).reshape(len(v), -1).max(1)
    near(f"{what} spread", f["channels"]["spread"], ranges.max() / np.sort(ranges)[len(ranges) // 2])
    near(f"{what} zero", f["zero"], int((v == 0).sum()))
    near(f"{what} lost", f["error"]["lost"], int(((v == 0) & (w != 0)).sum()))


def main():
    subprocess.run([sys.executable, script], check=True)
    for model in ("float", "quantised"):
        subprocess.run([paritas, "run", f"{model}.onnx", "--input", "x=x0.npy", "--input", "x=x1.npy", "--marks", "all", "-o",
                        f"{model}-run", "--quiet"], check=True)
    text = subprocess.run([paritas, "explain", "*", "--model", "quantised.onnx", "--float", "float.onnx", "--reference",
                           "float-run", "--device", "quantised-run", "--json", "-"], check=True, capture_output=True, text=True)
    layers = {layer["name"]: layer for layer in json.loads(text.stdout)["layers"]}
    x, y = recording("float-run"), recording("quantised-run")
    read = {m: {i.name: numpy_helper.to_array(i) for i in onnx.load(f"{m}.onnx").graph.initializer} for m in ("float", "quantised")}
    stored = read["quantised"]
    for name, tensor in (("conv", "a"), ("pt", "p"), ("narrow", "n"), ("sum", "sum"), ("cat", "cat"), ("x", "x")):
        scale, point = float(stored[f"{tensor}_scale"]), float(stored[f"{tensor}_zero_point"])
        check_value(layers[name], x[tensor], y[f"{tensor}_DequantizeLinear_Output"], scale, point)
    check_value(layers["mul"], x["m"], y["m"], None, None)
    for name, w in (("conv", "w_conv"), ("pt", "w_pt"), ("narrow", "w_narrow")):
        check_weights(layers[name], read["float"][w].astype(np.float64), stored[f"{w}_quantized"], stored[f"{w}_scale"].astype(np.float64))
    scale = float(stored["cat_scale"])
    for shared in layers["cat"]["shared"]:
        v = x[shared["tensor"]]
        codes = np.clip(np.rint(v / scale), 0, 255)
        near(f"shared {shared['tensor']} levels", shared["levels_used"], np.unique(codes).size)
        near(f"shared {shared['tensor']} NMSE", shared["nmse"], ((v - codes * scale) ** 2).sum() / (v**2).sum())
    causes = {name: layer["cause"] for name, layer in layers.items()}
    expected = {"pt": "quantisation of weights", "narrow": "quantisation of activations", "sum": "quantisation of activations",
                "cat": "quantisation of activations", "conv": "none"}
    for name, cause in expected.items():
        if causes[name] != cause:
            failures.append(f"{name}: {causes[name]} instead of {cause}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
print(f"{compared} figures compared")
if compared < 90:
    failures.append("too few figures were compared")
for failure in failures:
    print(f"FAILED {failure}")
sys.exit(1 if failures else 0)
