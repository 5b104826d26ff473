"""Figures of `paritas explain` on EfficientNet-Lite0: quantised per tensor, per channel, and calibrated too narrowly."""
import json
import os
import subprocess
import tempfile

import numpy as np

import figures as base

PHOTOS = ("cat_center", "cat_full", "coffee", "rocket")


def record(model: str, inputs: list, target: str, out: str) -> None:
    given = [a for text in inputs for a in ("--input", text)]
    subprocess.run([base.PARITAS, "run", model, *given, "--target", target, "--marks", "all", "-o", out, "--quiet"], check=True)


def explain(model: str, floating: str, reference: str, device: str) -> list:
    done = subprocess.run([base.PARITAS, "explain", "*", "--model", model, "--float", floating, "--reference", reference, "--device",
                           device, "--json", "-"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["layers"]


def sqnr(layer: dict) -> float:
    return min((float(w["error"]["sqnr_db"]) for w in layer["weights"] if w["error"] and not w["bias"]), default=float("inf"))


def of(layers: list, cause: str) -> list:
    return [layer["name"] for layer in layers if layer["cause"] == cause]


def blamed_clips(layers: list) -> list:
    """Layers convicted for a range that ends at their own activation's bounds."""
    return [layer["name"] for layer in layers if layer["activation"] and layer["finding"]["id"] == "explain-range-narrow"
            and layer["output"]["quantiser"]["high_is_bound"]]


def qdq(f) -> None:
    e = os.path.join(base.MODELS, "efficientnet-lite0")
    if not os.path.isdir(e):
        return f.skip("explain, QDQ EfficientNet-Lite0", "needs the shared models")
    inputs = [f"image={e}/inputs/{photo}.npy" for photo in PHOTOS]
    model = {kind: f"{e}/efficientnet-lite0.{kind}.onnx" for kind in ("b1", "qdq-pt", "qdq-pc")}
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in model.items():
            record(path, inputs, "cpu", f"{folder}/{kind}")
        found = {kind: explain(model[kind], model["b1"], f"{folder}/b1", f"{folder}/{kind}") for kind in ("qdq-pt", "qdq-pc")}
    worst = sorted(found["qdq-pt"], key=sqnr)[:2]
    f.line("explain, QDQ per tensor", "depthwise weights of _blocks.7 and .8 worst, 24 to 26 dB, and named as the cause",
           ", ".join(f"{layer['name']} {sqnr(layer):.1f} dB: {layer['cause']}" for layer in worst),
           [layer["name"] for layer in worst] == [f"/_blocks.{i}/_depthwise_conv/Conv" for i in (7, 8)]
           and all(24 <= sqnr(layer) <= 26 and layer["cause"] == "quantisation of weights" for layer in worst))
    weights = of(found["qdq-pc"], "quantisation of weights")
    f.line("explain, QDQ per channel", "no layer blamed for weights",
           f"{len(weights)} blamed; lowest {min(map(sqnr, found['qdq-pc'])):.1f} dB", not weights)
    for kind, layers in found.items():
        folded = [layer for layer in layers if layer["activation"].startswith("Clip")]
        f.line(f"explain, {kind}, folded Clips", "33 recognised, none blamed", f"{len(folded)} recognised, blamed: {blamed_clips(layers)}",
               len(folded) == 33 and not blamed_clips(layers))


def w8a8(f) -> None:
    e = os.path.join(base.MODELS, "efficientnet-lite0")
    what = "explain, w8a8 TFLite, logits on chelsea"
    if not os.path.isdir(e):
        return f.skip(what, "needs the shared models")
    with tempfile.TemporaryDirectory() as folder:
        codes = np.fromfile(f"{e}/tflite-inputs/chelsea.i8.raw", np.int8).reshape(1, 224, 224, 3)
        np.save(f"{folder}/chelsea.npy", codes)
        floating, quantised = f"{e}/efficientnet_lite0_fp32.tflite", f"{e}/efficientnet_lite0_w8a8.tflite"
        try:
            record(floating, [f"images={e}/tflite-inputs/chelsea.f32.npy"], "tflite:ref", f"{folder}/float")
            record(quantised, [f"images={folder}/chelsea.npy"], "tflite:ref", f"{folder}/w8a8")
        except subprocess.CalledProcessError:
            return f.skip(what, "needs a TFLite library")
        layers = explain(quantised, floating, f"{folder}/float", f"{folder}/w8a8")
    logits = next(layer for layer in layers if layer["output"]["name"] == "logits")
    q = logits["output"]["quantiser"]
    f.line(what, "range too narrow, ends at 7.19; the three cat classes tie at the limit",
           f"{logits['finding']['id']}, ends at {q['high']:.2f}, data to {logits['output']['distribution']['max']:.2f}, "
           f"{q['clipped']} clipped, {q['largest_tie']} tie", logits["finding"]["id"] == "explain-range-narrow"
           and abs(q["high"] - 7.19) < 0.005 and q["largest_tie"] == 3 and q["top_cut_samples"] == 1)


def shared(f) -> None:
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/cases/data/explain_models.py")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([base.sys.executable, os.path.abspath(script)], check=True, cwd=folder)
        for model in ("float", "quantised"):
            record(f"{folder}/{model}.onnx", [f"x={folder}/x{i}.npy" for i in (0, 1)], "cpu", f"{folder}/{model}-run")
        layers = explain(f"{folder}/quantised.onnx", f"{folder}/float.onnx", f"{folder}/float-run", f"{folder}/quantised-run")
    text = next(layer["finding"]["text"] for layer in layers if layer["name"] == "cat")
    f.line("explain, boxes and scores before one quantiser", "scores uses n of 256 levels", text.split(";")[0],
           "scores uses 1 of 256 levels" in text)


CASES = [("explain-qdq", qdq, False), ("explain-w8a8", w8a8, False), ("explain-shared", shared, False)]
