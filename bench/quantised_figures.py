"""Figures of quantised TFLite models on three sets of kernels. Cases of bench/figures."""
import json
import os
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARITAS = os.path.join(ROOT, "build/release/paritas")
EXAMPLE = os.path.join(ROOT, "examples/w8a8-three-way")
MODELS = os.environ.get("PARITAS_TEST_MODELS") or os.path.join(ROOT, "../shared/models")
LOGITS = f"{EXAMPLE}/efficientnet_lite0_logits_w8a8.tflite"
# photo, pair: differing of 1,000, largest and mean step, largest difference of a probability. TensorFlow Lite 2.21.0,
# one thread; the rows with builtin hold on processors with AVX2 or AVX-512.
PUBLISHED = {
    "chelsea.png": {("ref", "builtin"): (415, 2, 0.436, 0.00886), ("ref", "xnnpack"): (421, 2, 0.439, 0.01374), ("builtin", "xnnpack"): (417, 2, 0.429, 0.01432)},
    "coffee.png": {("ref", "builtin"): (430, 2, 0.449, 0.00200), ("ref", "xnnpack"): (442, 2, 0.466, 0.00110), ("builtin", "xnnpack"): (493, 3, 0.543, 0.00310)},
    "rocket.jpg": {("ref", "builtin"): (451, 2, 0.468, 0.00964), ("ref", "xnnpack"): (528, 3, 0.595, 0.01304), ("builtin", "xnnpack"): (532, 3, 0.615, 0.02268)},
    "flower.jpg": {("ref", "builtin"): (448, 3, 0.475, 0.00825), ("ref", "xnnpack"): (444, 2, 0.472, 0.00904), ("builtin", "xnnpack"): (475, 3, 0.511, 0.00245)},
    "china.jpg": {("ref", "builtin"): (386, 2, 0.395, 0.01605), ("ref", "xnnpack"): (459, 2, 0.487, 0.02891), ("builtin", "xnnpack"): (427, 2, 0.440, 0.02264)},
}
SIDES = {"reference": "ref", "device": "xnnpack", "builtin": "builtin"}


def run(arguments: list, codes=(0,)) -> None:
    done = subprocess.run([PARITAS, *arguments, "--quiet"], capture_output=True, text=True)
    if done.returncode not in codes:
        raise RuntimeError(f"paritas {' '.join(arguments)}: exit {done.returncode}: {done.stderr}")


def bytes_of_samples(folder: str) -> list:
    """What the samples hold, without their headers."""
    with open(f"{folder}/run.json") as file:
        names = [sample["file"] for sample in json.load(file)["samples"]]
    result = []
    for name in names:
        data = open(f"{folder}/{name}", "rb").read()
        result.append(data[8 + int.from_bytes(data[:8], "little"):])
    return result


def photos(folder: str) -> list:
    from PIL import Image
    inputs = []
    for name in PUBLISHED:
        image = Image.open(f"{EXAMPLE}/{name}").convert("RGB")
        w, h = image.size
        s = int(224 / 256 * min(w, h))
        x, y = (w - s + 1) // 2, (h - s + 1) // 2
        np.save(f"{folder}/{name}.npy", np.asarray(image.crop((x, y, x + s, y + s)).resize((224, 224), Image.BICUBIC))[None])
        inputs += ["--input", f"images={folder}/{name}.npy"]
    return inputs


def processor_flags() -> set:
    with open("/proc/cpuinfo") as file:
        return set(next((line for line in file if line.startswith("flags")), "").split())


def logits(f) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(["check", f"{EXAMPLE}/paritas.toml", "--json", f"{folder}/check.json"], codes=(1,))
        shown = json.load(open(f"{folder}/check.json"))
        names = [entry["file"] for entry in shown["inputs"][0]["tensors"]]
        with_avx2 = "avx2" in processor_flags()
        for pair in shown["all_sides"]["pairs"]:
            sides = (SIDES[pair["first"]], SIDES[pair["second"]])
            key = sides if sides in PUBLISHED[names[0]] else sides[::-1]
            outputs = [t for t in pair["comparison"]["tensors"] if t["role"] == "output"]
            rows = pair["tasks"][0]["result"]["rows"]
            for name, tensor, row in zip(names, outputs, rows, strict=True):
                m, (differ, most, mean, probability) = tensor["metrics"], PUBLISHED[name][key]
                what, measured = f"logits w8a8, {name}, {key[0]} / {key[1]}", \
                    f"{m['differing']} of 1,000, step {m['max_step']:.0f} max, {m['mean_step']:.3f} mean, probability {row['max_probability_difference']:.5f}"
                if "builtin" in key and not with_avx2:
                    f.note(what, measured + " (no AVX2)")
                    continue
                f.line(what, f"{differ} of 1,000, step {most} max, {mean:.3f} mean, probability {probability:.5f}", measured,
                       m["differing"] == differ and m["max_step"] == most and round(m["mean_step"], 3) == mean
                       and round(row["max_probability_difference"], 5) == probability)
        inputs, recorded = photos(folder), {}
        for side in ("ref", "builtin", "xnnpack"):
            repeats = []
            for i in range(3):
                run(["run", LOGITS, "--target", f"tflite:{side}", "-o", f"{folder}/{side}{i}", *inputs])
                repeats.append(bytes_of_samples(f"{folder}/{side}{i}"))
            recorded[side] = repeats[0]
            f.line(f"logits w8a8, {side}, three repeats", "identical", "identical" if repeats[0] == repeats[1] == repeats[2] else "differ",
                   repeats[0] == repeats[1] == repeats[2])
        same = sum(a == b for a, b in zip(recorded["ref"], recorded["xnnpack"]))
        f.line("logits w8a8, ref and xnnpack", "other bytes for each of 5 photos", f"the same bytes for {same}", same == 0)


def softmax(f) -> None:
    model = f"{MODELS}/efficientnet-lite0/efficientnet_lite0_w8a8.tflite"
    if not os.path.exists(model):
        f.skip("w8a8 with softmax", "the model is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        codes = np.fromfile(f"{MODELS}/efficientnet-lite0/tflite-inputs/chelsea.i8.raw", np.int8).reshape(1, 224, 224, 3)
        np.save(f"{folder}/cat.npy", codes)
        for side in ("ref", "xnnpack"):
            run(["run", model, "--target", f"tflite:{side}", "--marks", "all", "--input", f"images={folder}/cat.npy", "-o", f"{folder}/{side}"])
        run(["compare", f"{folder}/ref", f"{folder}/xnnpack", "--json", f"{folder}/compare.json"], codes=(0, 1))
        tensors = [t for t in json.load(open(f"{folder}/compare.json"))["tensors"] if t["role"] != "input"]
        inside, (output,) = tensors, [t for t in tensors if t["role"] == "output"]
        differ = [t for t in inside if t["metrics"]["differing"] > 0]
        worst = max(inside, key=lambda t: t["metrics"].get("max_step", 0))
        f.line("w8a8 with softmax, inside", "59 to 62 of 62 tensors differ, the worst by 106 steps",
               f"{len(differ)} of {len(inside)} differ, the worst by {worst['metrics']['max_step']:.0f} steps ({worst['name']})",
               len(inside) == 62 and 59 <= len(differ) <= 62 and worst["metrics"]["max_step"] == 106)
        f.line("w8a8 with softmax, the cat's output", "differs by at most one step",
               f"{output['metrics']['differing']} of 1,000, step {output['metrics']['max_step']:.0f}", output["metrics"]["max_step"] <= 1)


CASES = [("w8a8-logits", logits, False), ("w8a8-softmax", softmax, False)]
