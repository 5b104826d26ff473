"""Checks the integer simulator (sim:int8, sim:w8a16) against two independent computations.

1. numpy for ranges, scales, codes and weights, ONNX Runtime called from Python for one float node at a time. Every tensor
   of the network must be the same; where two ways of summing end on different sides of a tie, one step apart, rarely.
2. ONNX Runtime's own quantize_static (QDQ, MinMax), run without optimisation. It rounds biases to int32 as well (half a
   step of x scale * weight scale, which we leave in float), so that single values may end one step away, not more.

usage: sim_int8_numpy.py PARITAS
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from import_common import tensors_of
from pathlib import Path

SAMPLES = 6
CODES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
FLOAT_OF_FUSED = {"c", "m"}  # read by Clip and Relu alone
MOVED = {"p": "r", "f": "s"}  # MaxPool and Flatten hand on codes
WEIGHTS = {"w1": 0, "w2": 0, "w3": 1}  # axis of the output channels


def check(condition, text):
    check.count += 1
    if not condition:
        sys.exit(f"FAILED: {text}")


check.count = 0


def network():
    rng = np.random.default_rng(8)

    def weights(*shape):  # channels of very different sizes
        values = rng.normal(size=shape) * 0.3
        return values * np.logspace(-1.5, 0, shape[0]).reshape((-1,) + (1,) * (len(shape) - 1))

    constants = {"w1": weights(8, 3, 3, 3), "b1": rng.normal(size=8) * 0.2, "lo": np.array(0), "hi": np.array(6),
                 "w2": weights(8, 8, 3, 3), "b2": rng.normal(size=8) * 0.2, "w3": weights(5, 128).T}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1]),
             helper.make_node("Clip", ["c", "lo", "hi"], ["r"]),
             helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Conv", ["p", "w2", "b2"], ["d"], pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["d", "p"], ["m"]),
             helper.make_node("Relu", ["m"], ["s"]),
             helper.make_node("Flatten", ["s"], ["f"]),
             helper.make_node("MatMul", ["f", "w3"], ["y"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "int8", [info("x", TensorProto.FLOAT, [1, 3, 8, 8])], [info("y", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()])
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options,
                                providers=["CPUExecutionProvider"])


def run_node(node, values):
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "one", [info(n, TensorProto.FLOAT, values[n].shape) for n in node.input],
                              [info(node.output[0], TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return session(model).run(None, {n: values[n] for n in node.input})[0]


def steps(low, high, codes, symmetric):
    first, last = CODES[codes]
    low, high = min(0.0, float(low)), max(0.0, float(high))
    if symmetric:
        first, high = first + 1, max(-low, high)
        low = -high
    scale = np.float32((high - low) / (last - first)) or np.float32(1)
    return scale, 0 if symmetric else int(np.rint(first - low / float(scale))), first, last


def fake(values, scale, zero, first, last):
    code = np.clip(np.rint(values / scale).astype(np.float32) + zero, first, last)
    return ((code - zero) * scale).astype(np.float32)


def rounded_weights(values, axis, per_channel):
    out = values.copy()
    parts = [np.s_[:]] if not per_channel else [(np.s_[:],) * axis + (i,) for i in range(values.shape[axis])]
    for part in parts:
        most = np.abs(values[part]).max()
        out[part] = fake(values[part], *steps(-most, most, "int8", True))
    return out


def expected(model, x, ranges, codes, symmetric, per_channel):
    """Every tensor, node by node; and the step of each."""
    values = {"x": fake(x, *steps(*ranges["x"], codes, symmetric))}
    sizes = {"x": steps(*ranges["x"], codes, symmetric)[0]}
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        values[tensor.name] = rounded_weights(array, WEIGHTS[tensor.name], per_channel) if tensor.name in WEIGHTS else array
    for node in model.graph.node:
        name = node.output[0]
        out = run_node(node, values)
        if name in FLOAT_OF_FUSED:
            sizes[name] = np.abs(out).max() * 1e-5
        elif name in MOVED:
            sizes[name] = sizes[MOVED[name]]
        else:
            sizes[name] = steps(*ranges[name], codes, symmetric)[0]
            out = fake(out, *steps(*ranges[name], codes, symmetric))
        values[name] = out
    return values, sizes


def paritas(tool, *arguments):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def record(tool, folder, target, name, samples, marks="all"):
    inputs = [f"x={folder}/{s}.npy" for s in samples]
    out = f"{folder}/{name}"
    code, text = paritas(tool, "run", f"{folder}/m.onnx", *(a for i in inputs for a in ("--input", i)), "--target", target,
                         "--marks", marks, "--force", "-o", out)
    if code == 3 and "ONNX Runtime" in text:
        print("skipped:", text)
        sys.exit(77)
    check(code == 0, f"{target}: exit {code}: {text}")
    with open(f"{out}/run.json") as stream:
        run = json.load(stream)
    return run, [tensors_of(Path(out) / s["file"]) for s in run["samples"]]


def one_variant(tool, folder, model, ranges, samples, target, codes, symmetric, per_channel):
    run, ours = record(tool, folder, target, "sim", range(SAMPLES))
    check(any("biases" in note for note in run["notes"]), "the recording says what stays in float")
    differing = total = 0
    for sample, got in zip(samples, ours):
        want, sizes = expected(model, sample, ranges, codes, symmetric, per_channel)
        for name in sizes:
            if name == "x":
                continue  # the recording keeps what was fed
            error = np.abs(got[name] - want[name])
            check(error.max() <= 1.01 * sizes[name], f"{target} {name}: {error.max() / sizes[name]:.2f} steps away")
            differing += int((error > 0.01 * sizes[name]).sum())
            total += error.size
    check(differing <= total * 0.002, f"{target}: {differing} of {total} values are a step away")
    print(f"{target.split('ranges')[0]}: {differing} of {total} values are one step from numpy's")


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        sample = next(self.left, None)
        return None if sample is None else {"x": sample}


def against_quantize_static(tool, folder, samples, recording):
    for codes, symmetric, per_channel in (("int8", False, True), ("uint8", False, False), ("int8", True, True)):
        path = f"{folder}/qdq.onnx"
        quantize_static(f"{folder}/m.onnx", path, Reader(samples), quant_format=QuantFormat.QDQ, per_channel=per_channel,
                        activation_type=QuantType.QInt8 if codes == "int8" else QuantType.QUInt8,
                        weight_type=QuantType.QInt8,
                        extra_options={"ActivationSymmetric": symmetric, "WeightSymmetric": True})
        theirs = session(path)
        target = (f"sim:int8,ranges={recording},type={codes},activations={'symmetric' if symmetric else 'asymmetric'},"
                  f"weights={'per-channel' if per_channel else 'per-tensor'}")
        _, ours = record(tool, folder, target, "sim", range(SAMPLES), marks="none")
        calibrated = [s["y"] for s in record.floats]
        step = steps(min(v.min() for v in calibrated), max(v.max() for v in calibrated), codes, symmetric)[0]
        errors = np.concatenate([np.abs(theirs.run(None, {"x": s})[0] - o["y"]).ravel() for s, o in zip(samples, ours)])
        noise = np.concatenate([np.abs(f["y"] - o["y"]).ravel() for f, o in zip(record.floats, ours)])
        print(f"{codes} {'symmetric' if symmetric else 'asymmetric'} {'channel' if per_channel else 'tensor'}: "
              f"quantize_static at most {errors.max() / step:.2f} steps away, {int((errors > 0.01 * step).sum())} of "
              f"{errors.size}; the float network {noise.max() / step:.2f}")
        check(errors.max() <= 1.01 * step, "more than a step from quantize_static")
        check(noise.max() > 0.1 * step, "the simulation does something")


def refusals(tool, folder, recording):
    def refused(target, text, model="m.onnx", command="run"):
        tail = ["-o", f"{folder}/none"] if command == "run" else []
        option = "--target" if command == "run" else "--device"
        code, out = paritas(tool, command, f"{folder}/{model}", "--input", f"x={folder}/0.npy", option, target, *tail)
        check(code == 2 and text in out.replace("\n", " "), f"{target}: exit {code}: {out}")

    refused(f"sim:int8,ranges={folder}/few", 'has no range for "r" (output of Clip')
    refused("sim:int8", "ranges=RECORDING is missing")
    refused(f"sim:int8,ranges={folder}/nowhere", "is no recording")
    refused(f"sim:int8,ranges={recording},activations=symmetric,type=uint8", "symmetric codes are signed")
    refused(f"sim:int8,ranges={recording}", "was recorded with another model", model="other.onnx")
    refused(f"sim:int8,ranges={recording}", "runs whole networks only", command="locate")


def main(tool):
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        model = network()
        onnx.save(model, f"{folder}/m.onnx")
        model.producer_name = "another"
        onnx.save(model, f"{folder}/other.onnx")
        samples = [(rng.normal(size=(1, 3, 8, 8)) + 0.2 * i).astype(np.float32) for i in range(SAMPLES)]
        for i, sample in enumerate(samples):
            np.save(f"{folder}/{i}.npy", sample)
        _, record.floats = record(tool, folder, "cpu", "calibration", range(SAMPLES))
        record(tool, folder, "cpu", "few", [0], marks="none")
        recording = f"{folder}/calibration"
        names = ["x", *(n.output[0] for n in model.graph.node)]
        ranges = {n: (min(s[n].min() for s in record.floats), max(s[n].max() for s in record.floats)) for n in names}
        for target, codes, symmetric, per_channel in (
                ("sim:int8,", "int8", False, True), ("sim:int8,weights=per-tensor,", "int8", False, False),
                ("sim:int8,type=uint8,", "uint8", False, True), ("sim:int8,activations=symmetric,", "int8", True, True),
                ("sim:w8a16,", "int16", False, True), ("sim:w8a16,type=uint16,", "uint16", False, True)):
            one_variant(tool, folder, model, ranges, samples, f"{target}ranges={recording}", codes, symmetric, per_channel)
        against_quantize_static(tool, folder, samples, recording)
        refusals(tool, folder, recording)
    print(f"{check.count} checks")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
