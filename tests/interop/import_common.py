"""For the import_*.py checks: runs paritas import and reads the recording that it wrote."""

import json
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("SKIPPED: this Python has no numpy")
    sys.exit(77)


def tensors_of(path):
    """Tensors of a safetensors file, read by hand."""
    data = Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    types = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "BOOL": "?", "I8": "i1", "U8": "u1"}
    types |= {f"{kind.upper()}{8 * width}": f"<{kind}{width}" for kind in "iu" for width in (2, 4, 8)}
    result = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        result[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return result


def import_samples(paritas, source, output, *arguments):
    """run.json and the samples' tensors."""
    command = [paritas, "import", source, "-o", output, "--quiet", *arguments]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    run = json.loads((Path(output) / "run.json").read_text())
    return run, [tensors_of(Path(output) / sample["file"]) for sample in run["samples"]]


def require_equal(got, expected, what):
    assert list(got) == list(expected), f"{what}: {list(got)} {list(expected)}"
    for name, array in expected.items():
        array = np.asarray(array)
        same = got[name].dtype == array.dtype.newbyteorder("<") and got[name].shape == array.shape
        assert same, f"{what} {name}: {got[name].dtype} {got[name].shape}, expected {array.dtype} {array.shape}"
        assert got[name].tobytes() == np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes(), f"{what} {name}"


def roles(run):
    return {tensor["name"]: tensor["role"] for tensor in run["tensors"]}
