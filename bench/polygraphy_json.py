"""Polygraphy JSON of 300 MB: Paritas against Python's json + base64 + numpy on the same file.

usage: bench/polygraphy_json.py [--build build/release] [--megabytes 300]
Prints one line: required, measured, holds or FAILS; exit code 1 when it fails. Both decode every tensor, from a file in
the page cache; the fastest of three runs counts.
"""

import argparse
import base64
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RUNS = 3


def ndarray(array):
    file = io.BytesIO()
    np.save(file, array)
    value = {"array": base64.b64encode(file.getvalue()).decode(), "polygraphy_class": "ndarray"}
    return {"values": value, "polygraphy_class": "LazyArray"}


def write(path, megabytes):
    """A file such as polygraphy run --save-outputs writes (indented by 4), with tensors of many sizes."""
    generator = np.random.default_rng(1)
    outputs, left = {}, megabytes * 1_000_000
    while left > 0:
        count = int(min(left / 16 * 3, 10 ** generator.uniform(3, 6.9))) + 1
        outputs[f"/layer.{len(outputs)}/out"] = ndarray(generator.standard_normal(count, np.float32))
        left -= count * 16 // 3
    iteration = {"outputs": outputs, "runtime": 0.01, "runner_name": "r", "polygraphy_class": "IterationResult"}
    path.write_text(json.dumps({"lst": [["r", [iteration]]], "polygraphy_class": "RunResults"}, indent=4))


def python_seconds(path):
    best, total = 1e30, 0
    for _ in range(RUNS):
        start = time.perf_counter()
        with open(path) as file:
            results = json.load(file)
        total = 0
        for _, iterations in results["lst"]:
            for iteration in iterations:
                for value in iteration["outputs"].values():
                    data = base64.b64decode(value["values"]["array"])
                    total += np.load(io.BytesIO(data), allow_pickle=False).nbytes
        best = min(best, time.perf_counter() - start)
    return best, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=Path(__file__).parent.parent / "build/release", type=Path)
    parser.add_argument("--megabytes", default=300, type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        write(path, options.megabytes)
        command = [str(options.build / "bench/paritas-bench-import"), str(path), str(RUNS)]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        python, total = python_seconds(path)
        assert ours["bytes"] == total, f"{ours['bytes']} bytes, Python found {total}"
        size = path.stat().st_size / 1e6
    ratio = ours["seconds"] / python
    verdict = "holds" if ratio < 1 else "FAILS"
    print(f"polygraphy-json  {size:.0f} MB: {ours['seconds']:.2f} s, Python {python:.2f} s; required ratio < 1, measured {ratio:.2f}  {verdict}")
    return 0 if ratio < 1 else 1


sys.exit(main())
