"""Checks the figures of `paritas bench` against numpy: percentiles, hand-over, noise, ratios and the history, from the times of
every run in its JSON and CSV. What was timed is checked, too: outputs against numpy, and memory against what the arrays need.

usage: bench_numpy.py PARITAS
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

PARITAS = os.path.abspath(sys.argv[1])
COUNT = 1 << 20  # elements: 4 MiB
failures = []


def close(what, got, expected, tolerance=1e-9):
    if got is None or not abs(float(got) - float(expected)) <= tolerance * max(1.0, abs(float(expected))):
        failures.append(f"{what}: paritas {got}, numpy {expected}")


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got} instead of {expected}")


def make_models():
    for name, op in (("add", "Add"), ("mul", "Mul")):
        port = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [COUNT])
        graph = helper.make_graph([helper.make_node(op, ["x", "x"], ["y"])], name, [port("x")], [port("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{name}.onnx")
    np.save("x.npy", np.linspace(-3, 3, COUNT, dtype=np.float32))


def bench(*arguments, codes=(0,)):
    done = subprocess.run([PARITAS, "bench", *arguments, "--input", "x=x.npy", "--json", "out.json", "--quiet", "--force"],
                          capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"bench {arguments}: exit {done.returncode}: {done.stderr}")
    with open("out.json") as file:
        return json.load(file)


def check_figures(what, figures, milliseconds):
    t = np.array(milliseconds)
    equal(f"{what} runs", figures["runs"], len(t))
    close(f"{what} min", figures["min_ms"], t.min())
    close(f"{what} max", figures["max_ms"], t.max())
    if len(t) == 1:
        equal(f"{what} percentiles of one run", [figures[k] for k in ("median_ms", "p10_ms", "p90_ms", "p95_ms")], [None] * 4)
        return
    close(f"{what} median", figures["median_ms"], np.median(t))
    for share in (10, 90, 95):
        close(f"{what} p{share}", figures[f"p{share}_ms"], np.percentile(t, share))


def check_noise(what, side, t):
    machine, reasons = side["machine"], 0
    if len(t) < 8:
        equal(f"{what} noise", machine["noise"], "too few runs")
        return
    half = len(t) // 2
    spread = (np.percentile(t, 90) - np.percentile(t, 10)) / np.median(t)
    halves = abs(np.median(t[-half:]) - np.median(t[:half])) / np.median(t)
    close(f"{what} spread", machine["spread"], spread)
    close(f"{what} halves", machine["halves"], halves)
    close(f"{what} spread limit", machine["spread_limit"], min(0.25, 0.1 / (3 * 0.69) * np.sqrt(len(t))))
    low, high = max(0, int(np.floor(len(t) / 2 - np.sqrt(len(t))))), min(len(t), int(np.ceil(len(t) / 2 + np.sqrt(len(t))))) - 1
    middle = (np.sort(t)[high] - np.sort(t)[low]) / np.median(t)
    close(f"{what} middle", machine["middle"], middle)
    cores, threads = machine["cores"], machine["threads"]
    close(f"{what} others limit", machine["others_limit_cores"], max(0.1 * cores, 0.5 * (cores - threads)))
    reasons = int(spread > machine["spread_limit"]) + int(halves > 0.05) + int(middle > 0.10)
    if machine["others_cores"] is not None:
        reasons += int(machine["others_cores"] > machine["others_limit_cores"])
    equal(f"{what} reasons", len(machine["reasons"]), reasons)
    equal(f"{what} noise", machine["noise"], "noisy" if reasons else "quiet")


def check_side(what, side, timed_csv):
    runs = [run for one_round in side["rounds"] for run in one_round]
    chain = [run["chain_ms"] for run in runs]
    check_figures(what, side["chain"], chain)
    for i, stage in enumerate(side["stages"]):
        check_figures(f"{what} stage {i}", stage["run"], [run["stages_ms"][i] for run in runs])
    over = [run["chain_ms"] - sum(run["stages_ms"]) for run in runs]
    check_figures(f"{what} hand-over", side["hand_over"], np.maximum(over, 0))
    check_noise(what, side, np.array(chain))
    written = [float(row["milliseconds"]) for row in timed_csv if row["subject"] == side["name"] and row["part"] == "chain"]
    equal(f"{what} runs in the CSV", len(written), len(chain))
    for got, expected in zip(written, chain):
        close(f"{what} a run in the CSV", got, expected, 1e-6)


def check(runs, *models):
    result = bench(*models, "--runs", str(runs), "--gate", "y: max_abs<=1e-6", "--csv", "times.csv", "--history", "history.csv")
    with open("times.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for side in result["sides"]:
        check_side(f"{side['name']}, {runs} runs", side, rows)
        equal(f"{side['name']} verdict", side["verdict"], "pass")
        # Input, output, and the first run's output, which is kept.
        if not 3 * 4 * COUNT <= side["peak_bytes"] <= 2 << 30:
            failures.append(f"{side['name']}: peak memory {side['peak_bytes']} cannot be")
    return result


def check_ratio(result):
    a, b = ([run["chain_ms"] for one_round in side["rounds"] for run in one_round] for side in result["sides"])
    ratio = result["ratio"]
    if ratio["value"] is None:  # the machine was noisy: then it must say so
        if not any("noise" in text for text in ratio["refused"]):
            failures.append(f"the ratio was refused for {ratio['refused']}")
        return
    close("ratio", ratio["value"], np.median(b) / np.median(a))
    rounds = [np.median([r["chain_ms"] for r in second]) / np.median([r["chain_ms"] for r in first])
              for first, second in zip(result["sides"][0]["rounds"], result["sides"][1]["rounds"])]
    close("lowest ratio", ratio["lowest"], min(rounds))
    close("highest ratio", ratio["highest"], max(rounds))


def check_history(lines):
    with open("history.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    equal("lines of the history", len(rows), lines)
    for row in rows:
        equal("verdict in the history", row["verdict"], "pass")
        equal("fields of a line", None in row or None in row.values(), False)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make_models()
    for count in (1, 7, 20, 33):
        check(count, "add.onnx")
    two = check(23, "add.onnx", "mul.onnx")
    equal("rounds", [[len(r) for r in side["rounds"]] for side in two["sides"]], [[5, 5, 5, 4, 4]] * 2)
    check_ratio(two)
    check_history(6)
    wrong = bench("add.onnx", "--target", "sim:fp16", "--gate", "y: max_abs<=1e-6", codes=(1,))
    equal("a timing of wrong results", "timing-of-wrong-results" in [f["id"] for f in wrong["findings"]], True)
    os.chdir("/")
for failure in failures:
    print(f"FAILED {failure}")
print("percentiles, hand-over, noise, ratio and history agree with numpy" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
