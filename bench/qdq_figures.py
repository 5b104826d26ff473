"""Figures of quantised ONNX networks: EfficientNet-Lite0 as QDQ per tensor and per channel on the CPU and on the emulated
HTP, and smart-turn, whose reference moves by itself. Cases of bench/figures."""
import json
import os
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARITAS = os.path.join(ROOT, "build/release/paritas")
MODELS = os.environ.get("PARITAS_TEST_MODELS") or os.path.join(ROOT, "../shared/models")
HTP = "qnn:htp,soc_model=77,htp_arch=73"
PHOTOS = ["cat_center", "cat_full", "coffee", "rocket"]
LITE0 = f"{MODELS}/efficientnet-lite0"


def call(*command, codes=(0,)) -> str:
    done = subprocess.run([PARITAS, *map(str, command)], capture_output=True, text=True)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def tensor(path: str, name: str) -> np.ndarray:
    """One float32 tensor of a safetensors file."""
    with open(path, "rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
        data = stream.read()
    first, last = header[name]["data_offsets"]
    return np.frombuffer(data[first:last], np.float32).reshape(header[name]["shape"])


def answers(folder: str, model: str, target: str) -> tuple:
    """(top-1 of the four photos, nodes by provider)"""
    out = f"{folder}/run"
    inputs = [text for photo in PHOTOS for text in ("--input", f"image={LITE0}/inputs/{photo}.npy")]
    call("run", f"{LITE0}/{model}", *inputs, "--target", target, "--force", "--quiet", "-o", out)
    with open(f"{out}/run.json") as stream:
        run = json.load(stream)
    return [int(tensor(f"{out}/{s['file']}", "logits").argmax()) for s in run["samples"]], run["placement"]["nodes"]


def absent(f, what: str, folder: str) -> bool:
    if os.path.isdir(folder):
        return False
    f.skip(what, f"{folder} is not there (set PARITAS_TEST_MODELS)")
    return True


def top1(f, target: str, rocket: int, levels: list) -> None:
    with tempfile.TemporaryDirectory() as folder:
        right, _ = answers(folder, "efficientnet-lite0.b1.onnx", "cpu")
        for level in levels:
            tensors, nodes = answers(folder, "efficientnet-lite0.qdq-pt.onnx", level)
            f.line(f"QDQ per tensor, {level}", f"rocket is wrong: {rocket}, in float {right[3]}", f"{tensors}", tensors[3] == rocket)
            channels, other = answers(folder, "efficientnet-lite0.qdq-pc.onnx", level)
            f.line(f"QDQ per channel, {level}", f"top-1 of the float network {right}", f"{channels}", channels == right)
            if target == "htp":
                for kind, placed in (("tensor", nodes), ("channel", other)):
                    f.line(f"QDQ per {kind}, placement", "298 of 300 nodes on the HTP", f"{placed}",
                           placed.get("QNNExecutionProvider") == 298 and sum(placed.values()) == 300)


def cpu(f) -> None:
    if absent(f, "QDQ, CPU", LITE0):
        return
    top1(f, "cpu", 540, ["cpu", "cpu,opt=all"])
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/weights.json"
        call("compare", f"{LITE0}/efficientnet-lite0.b1.onnx", f"{LITE0}/efficientnet-lite0.qdq-pt.onnx", "--quiet", "--json", out)
        with open(out) as stream:
            weights = json.load(stream)["weights"]
    named = [w for w in weights if w["second"].startswith("int8")]
    worst = sorted(named, key=lambda w: w["sqnr_db"])[:2]
    f.line("QDQ per tensor, weights", "depthwise _blocks.7 and .8 worst, 24 to 26 dB",
           f"{[(w['reader'], round(w['sqnr_db'], 1)) for w in worst]}",
           sorted(w["reader"].split("/")[1:3] for w in worst) == [["_blocks.7", "_depthwise_conv"], ["_blocks.8", "_depthwise_conv"]]
           and all(24 <= w["sqnr_db"] <= 26 for w in worst))


def check(folder: str, model: str, name: str, file: str, device: str, least: int, reference: str = "cpu") -> dict:
    """The result of a project with one gate on the logits."""
    os.makedirs(folder, exist_ok=True)
    for path in (model, file):
        os.symlink(path, f"{folder}/{os.path.basename(path)}")
    with open(f"{folder}/paritas.toml", "w") as stream:
        stream.write(f'schema = "paritas.project/1"\n[model]\nreference = "{os.path.basename(model)}"\n'
                     f'[inputs.{name}]\nfile = "{os.path.basename(file)}"\n'
                     f'[targets]\nreference = "{reference}"\ndevice = "{device}"\n'
                     f'[[gate]]\ntensor = "logits"\nmetric = "sqnr_db"\nop = ">="\nvalue = {least}\n')
    out = f"{folder}/check.json"
    call("check", f"{folder}/paritas.toml", "--allow-outside", "--quiet", "--json", out, codes=(0, 1))
    with open(out) as stream:
        return json.load(stream)


def htp(f) -> None:
    if absent(f, "QDQ, HTP", LITE0):
        return
    top1(f, "htp", 812, [HTP])
    with tempfile.TemporaryDirectory() as folder:
        result = check(folder, f"{LITE0}/efficientnet-lite0.qdq-pt.onnx", "image", f"{LITE0}/inputs/rocket.npy", HTP, 10)
        moves = result["reference_variants"]["outputs"][0]
        f.line("QDQ per tensor, both references", "each with its distance",
               f"between {moves['sqnr_db']:.1f} dB; HTP {moves['device_to_declared_db']:.1f} dB and "
               f"{moves['device_to_other_db']:.1f} dB", moves["sqnr_db"] > 0)
        out = f"{folder}/locate.json"
        call("locate", f"{LITE0}/efficientnet-lite0.qdq-pt.onnx", "--input", f"image={LITE0}/inputs/rocket.npy", "--device",
             HTP, "--quiet", "--json", out, codes=(0, 1))
        with open(out) as stream:
            located = json.load(stream)
        blamed = [f"{x['id']} at {x['nodes'][:2]}" for x in located["findings"] if x["severity"] == "fault"]
        clips = sum(n["op"] == "Clip" for n in located["nodes"])
        # The quantiser folded every Clip away: that none is blamed would hold whatever locate did.
        f.note("QDQ per tensor, locate on the HTP", f"faults {blamed}; the file holds {clips} Clip nodes")


def smart_turn(f) -> None:
    home = f"{MODELS}/smart-turn"
    if absent(f, "smart-turn", home):
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments = (f"{home}/smart-turn-v3.2-cpu.onnx", "input_features", f"{home}/inputs/cut_off.npy", "cpu,opt=all,threads=2")
        tight = check(f"{folder}/tight", *arguments, 20, "cpu,opt=all")
        moves = tight["reference_variants"]["outputs"][0]
        f.line("smart-turn, the reference itself", "moves 9 dB with optimisation", f"{moves['sqnr_db']:.2f} dB",
               8 < moves["sqnr_db"] < 11)
        f.line("smart-turn, a tighter gate", "refused as meaningless: invalid, cannot tell",
               f"{tight['verdict']}: {tight['reasons'][0]}", tight["verdict"] == "invalid" and "cannot tell" in tight["reasons"][0])
        loose = check(f"{folder}/loose", *arguments, 5, "cpu,opt=all")
        f.line("smart-turn, a gate that it keeps", "stands", loose["verdict"], loose["verdict"] == "pass")


CASES = [("qdq-cpu", cpu, False), ("qdq-htp", htp, True), ("qdq-smart-turn", smart_turn, False)]
