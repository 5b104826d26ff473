"""Checks paritas import against Polygraphy's own files: import_polygraphy.py PARITAS."""

import base64
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from import_common import import_samples, np, require_equal, roles

DATA = Path(__file__).resolve().parent.parent / "data" / "polygraphy"


def decode(value):
    value = value.get("values", value)
    return np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)


def check(paritas, results, inputs, output):
    loaded = json.loads(results.read_text())
    for name, iterations in loaded["lst"]:
        run, samples = import_samples(paritas, results, output, "--runner", name, "--force")
        expected = [{key: decode(value) for key, value in it["outputs"].items()} for it in iterations]
        for got, want in zip(samples, expected, strict=True):
            require_equal(got, want, name)
        assert set(roles(run).values()) == {"output"}
    run, samples = import_samples(paritas, inputs, output, "--force")
    for got, feed in zip(samples, json.loads(inputs.read_text()), strict=True):
        require_equal(got, {key: decode(value) for key, value in feed.items()}, "inputs")
    assert set(roles(run).values()) == {"input"}
    return len(loaded["lst"])


def main():
    paritas = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checked = check(paritas, DATA / "results.json", DATA / "inputs.json", folder / "out")
        tool = Path(sys.executable).parent / "polygraphy"
        if not tool.exists():
            print(f"{checked} runners of the stored file; Polygraphy is not installed, so no new file was made")
            return
        results, inputs = folder / "results.json", folder / "inputs.json"
        command = [sys.executable, tool, "run", DATA / "model.onnx", "--onnxrt", "--iterations", "3"]
        command += ["--save-outputs", results, "--save-inputs", inputs]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        checked += check(paritas, results, inputs, folder / "out")
    print(f"{checked} runners imported, one written just now")


main()
