"""Checks paritas import against files that the safetensors library writes: import_safetensors.py PARITAS."""

import sys
import tempfile
from pathlib import Path

from import_common import import_samples, np, require_equal

try:
    import safetensors
    from safetensors.numpy import save_file
except ImportError:
    print("SKIPPED: this Python has no safetensors")
    sys.exit(77)

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


def main():
    paritas = sys.argv[1]
    generator = np.random.default_rng(1)
    arrays = {f"/{t}/{len(s)}:0": np.asarray(generator.integers(0, 2, s)).astype(t) for t in TYPES for s in ((), (0,), (2, 3))}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.safetensors"
        save_file(arrays, path, metadata={"format": "np"})
        _, samples = import_samples(paritas, path, Path(name) / "out")
        got = {key: samples[0][key] for key in arrays}
        assert len(samples[0]) == len(arrays)
        require_equal(got, arrays, "safetensors")
    print(f"safetensors {safetensors.__version__}: {len(arrays)} tensors imported")


main()
