"""`paritas compare MODEL MODEL` against numpy: a float network and what ONNX Runtime's own quantiser makes of it.

    weights_numpy.py PARITAS     exit 0 fine, 1 not, 77 skipped
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

paritas = sys.argv[1]
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def network(path):
    rng = np.random.default_rng(5)
    weights = {"w1": rng.normal(size=(8, 3, 3, 3)) * np.exp(rng.normal(size=(8, 1, 1, 1))),
               "b1": rng.normal(size=8), "w2": rng.normal(size=(4, 8, 1, 1)), "b2": rng.normal(size=4)}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["h"], name="first", kernel_shape=[3, 3]),
             helper.make_node("Relu", ["h"], ["r"], name="relu"),
             helper.make_node("Conv", ["r", "w2", "b2"], ["y"], name="second")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 6, 6])],
                              [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class Samples(CalibrationDataReader):
    def __init__(self):
        rng = np.random.default_rng(7)
        self.left = iter([{"x": rng.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.left, None)


def compare(first, second):
    done = subprocess.run([paritas, "compare", first, second, "--json", "-"], capture_output=True, text=True)
    check(done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr}")
    result = json.loads(done.stdout)
    check(result["same"] == (done.returncode == 0), "exit code and verdict agree")
    return result


def real_values(path):
    """name -> (real values, scale broadcast to them) of a QDQ model, by the definition of DequantizeLinear."""
    model = onnx.load(path)
    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    values = {}
    for node in model.graph.node:
        if node.op_type != "DequantizeLinear" or node.input[0] not in constants:
            continue
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        q = constants[node.input[0]].astype(np.float64)
        scale = constants[node.input[1]].astype(np.float64)
        zero = constants[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros_like(scale)
        if scale.size > 1:
            shape = [1] * q.ndim
            shape[axis] = scale.size
            scale, zero = scale.reshape(shape), zero.reshape(shape)
        name = node.output[0].removesuffix("_DequantizeLinear_Output")
        values[name] = ((q - zero) * scale, np.broadcast_to(scale, q.shape))
    return values


def hold_against(result, floats, path):
    rows = {row["name"]: row for row in result["weights"]}
    real = real_values(path)
    check(set(rows) == set(floats), f"names {sorted(rows)} and {sorted(floats)}")
    for name, x in floats.items():
        y, scale = real[name]
        x = x.astype(np.float64)
        steps = np.abs(x - y) / scale
        row = rows[name]
        check(row["differing"] == int((x != y).sum()), f"{name}: differing")
        check(row["beyond_half_step"] == int((steps > 0.5 + 1e-4).sum()), f"{name}: beyond half a step")
        check(abs(row["max_steps"] - steps.max()) <= 1e-12 * steps.max(), f"{name}: max steps {row['max_steps']} {steps.max()}")
        check(abs(row["max_abs"] - np.abs(x - y).max()) <= 1e-12, f"{name}: max abs")
        sqnr = 10 * np.log10((x**2).sum() / ((x - y) ** 2).sum())
        check(abs(row["sqnr_db"] - sqnr) < 1e-6, f"{name}: SQNR {row['sqnr_db']} {sqnr}")
    return rows


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    network(folder / "float.onnx")
    floats = {i.name: numpy_helper.to_array(i) for i in onnx.load(folder / "float.onnx").graph.initializer}
    for per_channel in (False, True):
        path = folder / f"qdq-{per_channel}.onnx"
        quantize_static(folder / "float.onnx", path, Samples(), quant_format=QuantFormat.QDQ, per_channel=per_channel,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        result = compare(folder / "float.onnx", path)
        rows = hold_against(result, floats, path)
        check(result["same"], f"per channel {per_channel}: codes of ONNX Runtime's quantiser are the nearest")
        check(("per channel" in rows["w1"]["second"]) == per_channel, "how it is stored")
        # One code moved by one: no longer the nearest.
        model = onnx.load(path)
        for initializer in model.graph.initializer:
            if initializer.name == "w2_quantized":
                codes = numpy_helper.to_array(initializer).copy()
                codes.flat[3] += 1 if codes.flat[3] < 100 else -1
                initializer.CopyFrom(numpy_helper.from_array(codes, initializer.name))
        moved = folder / f"moved-{per_channel}.onnx"
        onnx.save(model, moved)
        result = compare(folder / "float.onnx", moved)
        hold_against(result, floats, moved)
        check(not result["same"], "a moved code is noticed")
        check(not compare(path, moved)["same"], "of two quantised files, too")

for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
