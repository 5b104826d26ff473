"""Checks paritas import against protos that onnx writes: import_onnx.py PARITAS."""

import sys
import tempfile
from pathlib import Path

from import_common import import_samples, np, require_equal, roles

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("SKIPPED: this Python has no onnx")
    sys.exit(77)


def write_model(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("/sq/y", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph([helper.make_node("Mul", ["x", "x"], ["/sq/y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def typed_fields(folder, paritas):
    """The same values in raw_data and in the field of their type."""
    checked = 0
    cases = [("FLOAT", np.float32), ("DOUBLE", np.float64), ("INT64", np.int64), ("INT32", np.int32), ("UINT8", np.uint8)]
    cases += [("INT8", np.int8), ("UINT16", np.uint16), ("INT16", np.int16), ("UINT64", np.uint64), ("UINT32", np.uint32)]
    cases += [("BOOL", np.bool_), ("FLOAT16", np.float16)]
    for name, dtype in cases:
        array = np.array([[1, 0, 1], [0, 1, 1]], dtype)
        for raw in (False, True):
            values = array.tobytes() if raw else array.ravel()
            tensor = helper.make_tensor("t", getattr(TensorProto, name), [2, 3], values, raw=raw)
            onnx.save_tensor(tensor, folder / "t.pb")
            _, samples = import_samples(paritas, folder / "t.pb", folder / "out", "--force")
            require_equal(samples[0], {"t": array}, f"{name} {raw}")
            checked += 1
    return checked


def main():
    paritas = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checked = typed_fields(folder, paritas)
        write_model(folder / "model.onnx")
        expected = []
        for number in range(11):
            data = folder / "case" / f"test_data_set_{number}"
            data.mkdir(parents=True)
            x = np.full((1, 3), number, np.float32)
            onnx.save_tensor(numpy_helper.from_array(x, "x"), data / "input_0.pb")
            onnx.save_tensor(numpy_helper.from_array(x * x, ""), data / "output_0.pb")  # nameless: the model tells
            expected.append({"x": x, "/sq/y": x * x})
        run, samples = import_samples(paritas, folder / "case", folder / "sets", "--model", folder / "model.onnx")
        for got, want in zip(samples, expected, strict=True):
            require_equal(got, want, "test_data_set")
        assert roles(run) == {"x": "input", "/sq/y": "output"}, run["tensors"]
        assert any("N-th input" in note for note in run["notes"]), run["notes"]

        large = np.arange(100000, dtype=np.float32)
        onnx.save_tensor(numpy_helper.from_array(large, "large"), folder / "large.pb")
        _, samples = import_samples(paritas, folder / "large.pb", folder / "large")
        require_equal(samples[0], {"large": large}, "large")
    print(f"onnx {onnx.__version__}: {checked} protos and {len(expected)} data sets imported")


main()
