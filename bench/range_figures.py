"""Figures of the range preflight: no device runs. Case of bench/figures."""
import glob
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARITAS = os.path.join(ROOT, "build/release/paritas")
DETR = os.path.join(ROOT, "examples/detr-mini")


def preflight(model: str, inputs: list) -> list:
    """The findings that are faults."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "range.json")
        command = [PARITAS, "inspect", model, "--range", "--format", "fp16", "--quiet", "--json", out]
        for text in inputs:
            command += ["--input", text]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        with open(out) as file:
            return [f for f in json.load(file)["findings"] if f["severity"] == "fault"]


def detector(f) -> None:
    inputs = [f"{name}={DETR}/{name}.npy" for name in ("images", "orig_target_sizes")]
    found = preflight(f"{DETR}/detr_mini_fragile.onnx", inputs)
    first = found[0] if found else {"nodes": ["none"], "evidence": {"factor": 0}}
    f.line("preflight, fragile", "/dec/layers.0/n3/Pow first, with its factor over 65504",
           f"{first['nodes'][0]}, factor {first['evidence']['factor']:.1f}; {len(found)} finding(s)",
           first["nodes"][0] == "/dec/layers.0/n3/Pow" and abs(first["evidence"]["factor"] - 59400384 / 65504) < 1)
    found = preflight(f"{DETR}/detr_mini.onnx", inputs)
    f.line("preflight, healthy", "no finding", f"{[x['id'] for x in found]}", not found)


def published(f, models: str, broken: dict, first_inputs) -> None:
    """The networks that break in the simulator must have a finding at their cause, the others none."""
    if not os.path.isdir(models):
        f.skip("preflight, published networks", f"{models} is not there (set PARITAS_TEST_MODELS)")
        return
    wrong, total = [], 0
    for description in sorted(glob.glob(f"{models}/*/model.json")):
        for path in sorted(glob.glob(f"{os.path.dirname(description)}/*.onnx")):
            label = os.path.relpath(path, models)
            with tempfile.TemporaryDirectory() as scratch:
                found = preflight(path, first_inputs(description, path, scratch))
            total += 1
            nodes = [node.split(";")[0] for x in found for node in x["nodes"]]
            causes = broken.get(label)
            right = any(n == c or n.endswith("/" + c) for n in nodes for c in causes) if causes else not found
            if not right:
                wrong.append(f"{label}: {[x['id'] for x in found]} at {nodes[:3]}")
    f.line("preflight, published networks", "a finding at the cause of each that breaks in sim:fp16, none elsewhere",
           f"{total - len(wrong)} of {total} right {wrong if wrong else ''}".strip(), not wrong and total > 0)
