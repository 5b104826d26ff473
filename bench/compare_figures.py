"""Figures of comparing what people have: truth cases, mixed tensors, dumps, reproducibility. Cases of bench/figures."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import watch_memory

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build/release")
PARITAS = os.path.join(BUILD, "paritas")


def truth(f) -> None:
    done = subprocess.run([sys.executable, f"{ROOT}/tests/truth/run_truth.py", f"{BUILD}/paritas-truth"], capture_output=True, text=True)
    f.line("truth cases", "0 wrong; no crash; under 512 MiB each", done.stdout.splitlines()[-1], done.returncode == 0)


def write_safetensors(path: str, arrays: dict) -> None:
    """A piece at a time: the file is larger than what should be held twice."""
    codes = {"float32": "F32", "float16": "F16", "int8": "I8", "uint8": "U8", "int32": "I32", "int64": "I64"}
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": codes[str(array.dtype)], "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.tobytes())


def mixed_tensors(f) -> None:
    """600 tensors of several types, from a thousand to ten million elements, 1 GB a side."""
    rng = np.random.default_rng(11)
    pool = rng.normal(size=12_000_000).astype(np.float32)
    noise = (pool[::-1] * 1e-3).astype(np.float32)
    sides = ({}, {})
    kinds = ["float32"] * 6 + ["float16", "int8", "int8", "uint8", "int32"]
    sizes = np.exp(rng.uniform(math.log(1e3), math.log(6e6), size=600))
    sizes = (sizes * (1e9 / sum(s * np.dtype(kinds[i % len(kinds)]).itemsize for i, s in enumerate(sizes)))).astype(int)
    for i, size in enumerate(sizes):
        start = int(rng.integers(0, len(pool) - size))
        x = pool[start:start + size]
        for side, values in zip(sides, (x, x + noise[:size])):
            kind = kinds[i % len(kinds)]
            scaled = values if kind.startswith("float") else np.clip(np.round(values * 30), -128, 127)
            side[f"t{i}"] = (scaled if kind != "uint8" else scaled + 128).astype(kind)
    with tempfile.TemporaryDirectory() as folder:
        for name, arrays in zip(("x", "y"), sides):
            write_safetensors(f"{folder}/{name}.safetensors", arrays)
        largest = max(a.nbytes for a in sides[0].values())
        files = [f"{folder}/x.safetensors", f"{folder}/y.safetensors"]
        reading = json.loads(subprocess.run([f"{BUILD}/bench/paritas-bench-compare", "--read", *files], check=True, capture_output=True, text=True).stdout)
        command = [PARITAS, "compare", *files, "--jobs", "2", "--quiet"]
        best = math.inf
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run(command, check=True)
            best = min(best, time.perf_counter() - start)
        watch = watch_memory.run(command, interval=0.005)
    ratio = best / reading["read_only_seconds"]
    f.line("600 mixed tensors, 1 GB a side, whole command", "under 2.5 x the read-only pass",
           f"{ratio:.2f} ({best:.3f} s to {reading['read_only_seconds']:.3f} s, {reading['bytes'] / 1e9:.2f} GB)", ratio < 2.5)
    allowed = 256 * 2**20 + 2 * largest
    f.line("600 mixed tensors, main process", f"under 256 MB + the largest pair = {allowed / 2**20:.0f} MB",
           f"{watch.main_peak / 2**20:.0f} MB", watch.main_peak < allowed)


def reproducible(f) -> None:
    """Threads 1, 2 and 7; every instruction set that this CPU has."""
    done = subprocess.run([f"{BUILD}/lib/metrics/paritas_metrics_test", "--gtest_filter=*SameBits*"], capture_output=True, text=True)
    last = [line for line in done.stdout.splitlines() if "PASSED" in line or "FAILED" in line]
    f.line("1, 2 and 7 threads; AVX-512, AVX2 and SSE4 paths", "bit-identical", last[-1].strip() if last else "nothing ran",
           done.returncode == 0 and bool(last))


def polygraphy_json(f) -> None:
    done = subprocess.run([sys.executable, f"{ROOT}/bench/polygraphy_json.py"], capture_output=True, text=True)
    f.line("Polygraphy JSON of 300 MB", "faster than Python's json + base64 + numpy", done.stdout.strip() or done.stderr.strip()[-200:], done.returncode == 0)


CASES = [("truth", truth, False), ("mixed-tensors", mixed_tensors, False), ("reproducible", reproducible, False),
         ("polygraphy-json", polygraphy_json, False)]
