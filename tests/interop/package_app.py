#!/usr/bin/env python3
"""The two applications of examples/package-app load a package by its manifest alone: what they print is held against the
package's reference recording and, where this paritas runs packages, against that. They must not depend on the order of
ports, and a changed file must be refused by name.

usage: package_app.py PARITAS LOAD_PACKAGE SOURCE_DIR cpu|htp
"""
import glob
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PARITAS, LOADER, SOURCE, DEVICE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
DETR = SOURCE / "examples/detr-mini"
SCRIPT = SOURCE / "examples/package-app/load_package.py"
LIBRARY = glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), "capi/libonnxruntime.so.*"))[0]
ENCODER = "encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0"


def fail(message: str) -> None:
    print(f"FAILED: {message}")
    sys.exit(1)


def safetensors(file: pathlib.Path) -> dict:
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "I64": np.int64}
    return {name: np.frombuffer(data[start + e["data_offsets"][0]:start + e["data_offsets"][1]], types[e["dtype"]])
            for name, e in json.loads(data[8:start]).items() if name != "__metadata__"}


def split(package: pathlib.Path) -> None:
    device = "qnn:htp,soc_model=77,htp_arch=73" if DEVICE == "htp" else "cpu,opt=all"
    done = subprocess.run(
        [PARITAS, "split", DETR / "detr_mini_fragile.onnx", "--input", f"images={DETR}/images.npy", "--input",
         f"orig_target_sizes={DETR}/orig_target_sizes.npy", "--cut", ENCODER, "--part", f"encoder={device}", "--part",
         "decoder=cpu,opt=all", "--gate", "scores: cosine>=0.99", "--role", "scores=scores", "-o", package, "--no-ledger",
         "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"paritas split: exit {done.returncode}: {done.stdout}{done.stderr}")


def seal(package: pathlib.Path) -> None:
    """New sums for an edited manifest."""
    sums = {name: sha256 for sha256, name in (line.split("  ") for line in (package / "SHA256SUMS").read_text().splitlines())}
    sums["manifest.json"] = hashlib.sha256((package / "manifest.json").read_bytes()).hexdigest()
    (package / "SHA256SUMS").write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


def run(package: pathlib.Path, inputs: list) -> float:
    """The highest score that both applications print."""
    provider = []
    if DEVICE == "htp":
        import onnxruntime_qnn
        provider = [onnxruntime_qnn.get_library_path()]
    scores = []
    for command in ([sys.executable, SCRIPT, package, *inputs], [LOADER, LIBRARY, package, sample_of(package), *provider]):
        done = subprocess.run(command, capture_output=True, text=True)
        printed = re.search(r"^scores: highest ([0-9.]+)$", done.stdout, re.M)
        if done.returncode != 0 or not printed:
            fail(f"{command[0]}: exit {done.returncode}: {done.stdout}{done.stderr}")
        scores.append(float(printed.group(1)))
    if scores[0] != scores[1]:
        fail(f"Python prints {scores[0]}, C++ {scores[1]}")
    return scores[0]


def sample_of(package: pathlib.Path) -> pathlib.Path:
    return package / "reference/sample-000000.safetensors"


def reverse_ports(package: pathlib.Path) -> None:
    manifest = json.loads((package / "manifest.json").read_text())
    for part in manifest["parts"]:
        part["inputs"].reverse()
        part["outputs"].reverse()
    (package / "manifest.json").write_text(json.dumps(manifest))
    seal(package)


def check_refusals(package: pathlib.Path, inputs: list) -> None:
    extra, decoder = package / "extra.bin", package / "decoder.onnx"
    whole = decoder.read_bytes()

    def refused(what: str, name: str) -> None:
        done = subprocess.run([sys.executable, SCRIPT, package, *inputs], capture_output=True, text=True)
        if done.returncode == 0 or name not in done.stderr:
            fail(f"{what}: exit {done.returncode}: {done.stdout}{done.stderr}")

    extra.write_bytes(b"x")
    refused("a file too many", "extra.bin")
    extra.unlink()
    decoder.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    refused("a changed file", "decoder.onnx")
    decoder.unlink()
    refused("a file too few", "decoder.onnx")
    decoder.write_bytes(whole)


def main() -> None:
    if DEVICE == "htp":
        try:
            import onnxruntime_qnn  # noqa: F401
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder) / "package"
        split(package)
        arrays = [f"images={DETR}/images.npy", f"orig_target_sizes={DETR}/orig_target_sizes.npy"]
        score = run(package, arrays)
        if run(package, [str(sample_of(package))]) != score:
            fail("npy and safetensors inputs give different scores")
        reference = float(safetensors(sample_of(package))["scores"].max())
        allowed = 0.002 if DEVICE == "htp" else 2e-6  # the reference is not optimised, and six digits are printed
        if abs(score - reference) > allowed:
            fail(f"the applications find {score}, the reference {reference}")
        chain = pathlib.Path(folder) / "chain"
        inputs = [word for each in arrays for word in ("--input", each)]
        done = subprocess.run([PARITAS, "run", package, *inputs, "-o", chain, "--quiet"], capture_output=True, text=True)
        if done.returncode == 0:
            own = float(safetensors(chain / "sample-000000.safetensors")["scores"].max())
            if abs(score - own) > 1e-6:
                fail(f"the applications find {score}, paritas run {own}")
        print(f"highest score {score}, reference {reference:.6f}, paritas run of the package: "
              f"{'equal' if done.returncode == 0 else 'not in this build'}")
        check_refusals(package, arrays)
        reverse_ports(package)
        if run(package, arrays) != score:
            fail("the order of ports changes the score")


if __name__ == "__main__":
    main()
