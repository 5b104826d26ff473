"""Checks paritas import against files that NumPy writes: import_numpy.py PARITAS."""

import sys
import tempfile
from pathlib import Path

from import_common import import_samples, np, require_equal

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


def arrays(generator):
    result = {}
    for number, dtype in enumerate(TYPES):
        for shape in ((), (0,), (7,), (2, 3, 4)):
            data = generator.integers(0, 2, shape) if dtype == "bool" else generator.integers(0, 100, shape)
            array = np.asarray(data).astype(dtype)
            if number % 3 == 1:
                array = np.asfortranarray(array)
            if number % 3 == 2:
                array = array.astype(array.dtype.newbyteorder(">"))
            result[f"/{dtype}/{len(shape)}.{shape[0] if shape else ''}:0"] = array
    result["große Tensoren"] = np.zeros((300, 1000), np.float32)
    return result


def main():
    paritas = sys.argv[1]
    everything = arrays(np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, save in enumerate((np.savez, np.savez_compressed)):
            save(folder / "a.npz", **everything)
            _, samples = import_samples(paritas, folder / "a.npz", folder / f"npz{number}", "--verify-hashes")
            require_equal(samples[0], everything, save.__name__)

        (folder / "dump" / "sub").mkdir(parents=True)
        np.save(folder / "dump" / "a.npy", everything["/float32/3.2:0"])
        np.save(folder / "dump" / "sub" / "b.npy", everything["/int8/1.7:0"])
        _, samples = import_samples(paritas, folder / "dump", folder / "npy")
        require_equal(samples[0], {"a": everything["/float32/3.2:0"], "sub/b": everything["/int8/1.7:0"]}, "folder")

        (folder / "many").mkdir()
        for number in (10, 2):
            np.savez(folder / "many" / f"s{number}.npz", a=np.int64(number))
        _, samples = import_samples(paritas, folder / "many", folder / "samples")
        assert [int(sample["a"]) for sample in samples] == [2, 10]

        scores = np.arange(12, dtype=np.float16).reshape(3, 4)
        scores.tofile(folder / "scores.raw")
        _, samples = import_samples(paritas, folder / "scores.raw", folder / "raw", "--dtype", "float16", "--shape", "scores=3x4")
        require_equal(samples[0], {"scores": scores}, "raw")
    print(f"numpy {np.__version__}: {2 * len(everything) + 6} tensors imported")


main()
