"""Checks .npy files against numpy itself, in both directions: npy_numpy.py PATH_OF_NPY_TOOL."""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("SKIPPED: this Python has no numpy")
    sys.exit(77)

TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
SHAPES = [(), (1,), (7,), (0,), (3, 0, 2), (2, 3), (40, 33), (2, 3, 4), (3, 1, 2, 5)]


def random_array(generator, dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype == np.bool_:
        return generator.integers(0, 2, count).astype(dtype).reshape(shape)
    return np.frombuffer(generator.bytes(count * dtype.itemsize), dtype).reshape(shape)


def expected_dump(array):
    shape = "[" + ",".join(map(str, array.shape)) + "]"
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes().hex()
    return f"{array.dtype.name} {shape} {data}"


def run(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)


def numpy_writes(tool, folder, generator):
    """Every type, byte order, memory order, shape and version that numpy writes is read as numpy means it."""
    cases = []
    for dtype, shape, order, memory in itertools.product(TYPES, SHAPES, "<>", "CF"):
        array = random_array(generator, dtype, shape)
        array = np.array(array.astype(array.dtype.newbyteorder(order)), order=memory)
        version = (len(cases) % 3 + 1, 0)
        path = folder / f"from_numpy_{len(cases)}.npy"
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        cases.append((path, f"{dtype} {shape} {order}{memory} {version}", expected_dump(array).strip()))
    result = run(tool, "dump", *(path for path, _, _ in cases))
    assert result.returncode == 0, result.stderr
    for (_, what, expected), line in zip(cases, result.stdout.splitlines(), strict=True):
        assert line.strip() == expected, what
    return len(cases)


def numpy_refused(tool, folder):
    """What is not a plain array of numbers is refused, each by name."""
    cases = {
        "Python objects": np.array([{"a": 1}, None], dtype=object),
        "structured": np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]),
        "complex": np.zeros(2, dtype=np.complex64),
        "text": np.array(["a", "bc"]),
        "byte strings": np.array([b"a", b"bc"]),
        "dates": np.array(["2024-01-01"], dtype="datetime64[D]"),
        "time spans": np.array([1], dtype="timedelta64[s]"),
        "records": np.zeros(2, dtype="V8"),
    }
    for word, array in cases.items():
        path = folder / "refused.npy"
        np.save(path, array, allow_pickle=True)
        result = run(tool, "dump", path)
        assert result.returncode == 2 and word in result.stderr, f"{word}: {result.returncode} {result.stderr}"
    return len(cases)


def numpy_reads(tool, folder, generator):
    """What Paritas writes is read by numpy with the same type, shape and bits."""
    checked = 0
    for dtype, shape in itertools.product(TYPES, SHAPES):
        array = random_array(generator, dtype, shape)
        raw, path = folder / "raw", folder / "from_paritas.npy"
        raw.write_bytes(array.tobytes())
        result = run(tool, "write", dtype, ",".join(map(str, shape)) or "-", raw, path)
        assert result.returncode == 0, f"{dtype} {shape}: {result.stderr}"
        again = np.load(path, allow_pickle=False)
        assert again.dtype == array.dtype and again.shape == array.shape, f"{dtype} {shape}: {again.dtype} {again.shape}"
        assert again.tobytes() == array.tobytes(), f"{dtype} {shape}"
        checked += 1
    return checked


def main():
    tool = sys.argv[1]
    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = (numpy_writes(tool, folder, generator), numpy_refused(tool, folder), numpy_reads(tool, folder, generator))
    print("numpy %s: %d files read, %d refused, %d written" % (np.__version__, *counts))


if __name__ == "__main__":
    main()
