"""Figures of where nodes run: a pin on the emulated HTP, and a provider that takes nothing. Cases of bench/figures."""
import json
import os
import subprocess
import sys
import tempfile

import onnx

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build/release")
PARITAS = os.path.join(BUILD, "paritas")
DETR = os.path.join(ROOT, "examples/detr-mini")
HTP = "qnn:htp,soc_model=77,htp_arch=73"


def placement(model: str, *arguments: str) -> tuple:
    """(exit code, result)"""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "placement.json")
        done = subprocess.run([PARITAS, "placement", model, "--json", out, *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        with open(out) as file:
            return done.returncode, json.load(file)


def softmax_pin(f) -> None:
    model = f"{DETR}/detr_mini_fragile.onnx"
    inputs = ["--input", f"images={DETR}/images.npy", "--input", f"orig_target_sizes={DETR}/orig_target_sizes.npy"]
    softmax = [node.name for node in onnx.load(model).graph.node if node.op_type == "Softmax"]
    _, listed = placement(model, "--pin", "Softmax=CPU")  # nothing runs
    f.line("Softmax pinned, before", f"the {len(softmax)} nodes that it touches are listed, nothing runs",
           f"{len(listed['pin']['touched_source'])} listed, ran {listed['pin']['ran']}",
           sorted(listed["pin"]["touched_source"]) == sorted(softmax) and not listed["pin"]["ran"])
    code, result = placement(model, *inputs, "--target", HTP, "--pin", "Softmax=CPU", "--gate", "scores: cosine>=0.99")
    pin, totals = result["pin"], result["placement"]["totals"]
    scores = next(output for output in pin["outputs"] if output["name"] == "scores")
    nodes, partitions = totals["optimised"], totals["device_partitions"]
    f.line("Softmax pinned, after", "12 device partitions + 14 CPU nodes",
           f"{partitions} device partitions + {nodes.get('CPUExecutionProvider')} CPU nodes (before: "
           f"{pin['before']['totals']['device_partitions']} partition); contradictions {len(result['placement']['contradictions'])}",
           partitions == 12 and nodes == {"QNNExecutionProvider": 828, "CPUExecutionProvider": 14}
           and pin["before"]["totals"]["device_partitions"] == 1 and not result["placement"]["contradictions"])
    top = scores["after"]["device_range"][1]
    found = [finding["id"] for finding in result["findings"]]
    f.line("Softmax pinned, outcome", "top score 0.319 +- 0.002, did not repair, exit code 1",
           f"{scores['before']['device_range'][1]:.4f} -> {top:.4f}, {found[0]}, exit code {code}",
           abs(top - 0.319) < 0.002 and "pin-did-not-repair" in found and not pin["recovered"] and code == 1)
    f.note("Softmax pinned, hand-overs", f"{totals['crossings']} of {totals['crossing_bytes']:,} bytes, "
           f"{totals['device_share_by_time']:.4f} of the time on the emulated device")


def idle_provider(f) -> None:
    library = os.path.join(BUILD, "tests/libparitas_test_provider_idle.so")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, f"{ROOT}/tests/cases/data/placement_models.py"], cwd=folder, check=True)
        code, result = placement(f"{folder}/attention.onnx", "--target", f"ort:IdleExecutionProvider,library={library}",
                                 "--input", f"x={folder}/x.npy")
    share, found = result["placement"]["totals"]["device_share"], [finding["id"] for finding in result["findings"]]
    f.line("a provider that takes nothing", "0 %, refused: exit code 1, nothing-placed", f"{100 * share:.0f} %, exit code {code}, {found}",
           share == 0 and code == 1 and found == ["nothing-placed"])


CASES = [("placement-pin-htp", softmax_pin, True), ("placement-idle", idle_provider, False)]
