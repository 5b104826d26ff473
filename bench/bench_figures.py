"""Figures of timing: two rounds in a row agree, or the report says that the machine was too noisy. Cases of bench/figures."""
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARITAS = os.path.join(ROOT, "build/release/paritas")
DETR = os.path.join(ROOT, "examples/detr-mini")
INPUTS = ["--input", f"images={DETR}/images.npy", "--input", f"orig_target_sizes={DETR}/orig_target_sizes.npy"]
HTP = "qnn:htp,soc_model=77,htp_arch=73"


def bench(*arguments: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "bench.json")
        done = subprocess.run([PARITAS, "bench", *arguments, "--json", out, "--quiet"], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        with open(out) as file:
            return json.load(file)


def twice(f, what: str, *arguments: str) -> None:
    sides = [bench(*arguments)["sides"][0] for _ in range(2)]
    first, second = (side["chain"]["median_ms"] for side in sides)
    apart = abs(second - first) / first
    noise = [side["machine"]["noise"] for side in sides]
    f.line(f"{what}, twice in a row", "medians within 10 %, else too noisy to tell",
           f"{first:.2f} and {second:.2f} ms of host time, {100 * apart:.1f} % apart; {noise[0]}, {noise[1]}; other processes kept "
           f"{[side['machine']['others_cores'] for side in sides]} cores busy", apart <= 0.10 or "noisy" in noise)


def model_twice(f) -> None:
    for threads in (1, 2):
        twice(f, f"bench of the detector on {threads} thread{'s' if threads > 1 else ''}", f"{DETR}/detr_mini.onnx", *INPUTS,
              "--target", f"cpu,threads={threads}", "--runs", "50")


def package_twice(f) -> None:
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "package")
        tensors = "fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0"
        done = subprocess.run([PARITAS, "split", f"{DETR}/detr_mini_fragile.onnx", *INPUTS, "--cut", f"encoder={tensors}",
                               "--device", HTP, "--no-ledger", "-o", package], capture_output=True, text=True)
        if done.returncode != 0:
            f.skip("bench of the package", f"paritas split: {done.stderr.strip()[:200]}")
            return
        twice(f, "bench of the package", package)


CASES = [("bench-twice", model_twice, False), ("bench-package-htp", package_twice, True)]
