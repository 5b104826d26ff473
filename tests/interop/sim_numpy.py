"""Checks the number-format simulator against an independent computation.

The other side is numpy for the constants, and ONNX Runtime with a pair of Casts (float32 -> format -> float32) behind
every float input and node output, all optimisation off, so that not one line of our rounding or graph editing takes part.
Every tensor of the network must be equal bit for bit; every float tensor must be representable in the format; values
beyond the range must be infinite; and the final outputs must not depend on whether intermediates are marked.

usage: sim_numpy.py SIM_DRIVER WORKER      (models: PARITAS_TEST_MODELS or PARITAS_SOURCE_DIR/../shared/models)
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SKIPPED = 77
FORMATS = {"fp16": (TensorProto.FLOAT16, np.float16), "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16)}
DTYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64, "I32": np.int32, "BOOL": np.bool_, "U8": np.uint8,
          "I8": np.int8}


def read_safetensors(path):
    with open(path, "rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
        data = stream.read()
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def float_types(model):
    """Names of all float32 tensors of the main graph."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    names = {v.name for v in [*graph.value_info, *graph.input, *graph.output]
             if v.type.tensor_type.elem_type == TensorProto.FLOAT}
    return names | {i.name for i in graph.initializer if i.data_type == TensorProto.FLOAT}


def round_constant(tensor, dtype):
    if tensor.data_type == TensorProto.FLOAT:
        with np.errstate(over="ignore"):
            rounded = numpy_helper.to_array(tensor).astype(dtype).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(rounded, tensor.name))


def with_cast_pairs(path, code, dtype):
    """The model with rounded constants, a Cast pair behind each other float tensor, and all node outputs as outputs."""
    model = onnx.load(path)
    graph = model.graph
    floats = float_types(model)
    outputs = [o for node in graph.node for o in node.output if o]

    def pair(source, target):
        half = target + "__half"
        return [helper.make_node("Cast", [source], [half], to=code),
                helper.make_node("Cast", [half], [target], to=TensorProto.FLOAT)]

    nodes, renamed = [], {}
    for tensor in graph.initializer:
        round_constant(tensor, dtype)
    for value in graph.input:
        if value.name in floats:
            renamed[value.name] = value.name + "__rounded"
            nodes += pair(value.name, renamed[value.name])
    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = renamed.get(name, name)
        behind = []
        constant = node.op_type == "Constant" and node.attribute[0].name == "value"
        if constant:
            round_constant(node.attribute[0].t, dtype)
        for i, name in enumerate(node.output):
            if name in floats and not constant:
                node.output[i] = name + "__raw"
                behind += pair(node.output[i], name)
        nodes += [node, *behind]
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    present = {o.name for o in graph.output}
    graph.output.extend(helper.make_empty_tensor_value_info(o) for o in outputs if o not in present)
    return model, floats


def reference(path, code, dtype, inputs):
    model, floats = with_cast_pairs(path, code, dtype)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs))), floats


def bits(array):
    """For comparison: bytes, with every NaN as the same NaN (its payload is not specified)."""
    if array.dtype == np.float32:
        array = np.where(np.isnan(array), np.float32(np.nan), array)
    return np.ascontiguousarray(array).tobytes()


def check(folder, driver, worker, model, variant):
    code, dtype = FORMATS[variant]
    files = {name: os.path.join(os.path.dirname(model), name + ".npy") for name in ("images", "orig_target_sizes")}
    library = glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), "capi", "libonnxruntime.so.*"))[0]
    results = {}
    for marks in ("plain", "marks"):
        output = os.path.join(folder, marks + ".safetensors")
        subprocess.run([driver, worker, library, folder, model, "sim:" + variant, marks, output,
                        *(f"{name}={file}" for name, file in files.items())], check=True)
        results[marks] = read_safetensors(output)
    expected, floats = reference(model, code, dtype, {name: np.load(file) for name, file in files.items()})

    problems = []
    ours = results["marks"]
    for name in results["plain"]:
        if bits(results["plain"][name]) != bits(ours[name]):
            problems.append(f"{name}: marks change the final output")
    if set(ours) != set(expected):
        problems.append(f"different tensors: {sorted(set(ours) ^ set(expected))[:5]}")
    infinite = rounded = 0
    for name, want in expected.items():
        got = ours.get(name)
        if got is None:
            continue
        if got.dtype != want.dtype or got.shape != want.shape or bits(got) != bits(want):
            differing = int((got != want).sum()) if got.shape == want.shape else "all"
            problems.append(f"{name}: {differing} elements differ ({got.dtype}{got.shape}, {want.dtype}{want.shape})")
        if name in floats:
            rounded += 1
            infinite += int(np.isinf(got).sum())
            with np.errstate(over="ignore", invalid="ignore"):
                if bits(got.astype(dtype).astype(np.float32)) != bits(got):
                    problems.append(f"{name}: not representable in {variant}")
    top = float(ours["scores"].max())
    print(f"{os.path.basename(model)} sim:{variant}: {len(expected)} tensors, {rounded} float, {infinite} infinite "
          f"values, top score {top:.5f}, {len(problems)} problems")
    for problem in problems[:10]:
        print("  " + problem)
    if variant == "fp16" and "fragile" in model and infinite == 0:
        problems.append("the fragile model must leave the range of float16")
    return len(problems)


def main():
    driver, worker = sys.argv[1:3]
    models = os.environ.get("PARITAS_TEST_MODELS")
    if not models:
        models = os.path.join(os.environ.get("PARITAS_SOURCE_DIR", "."), "..", "shared", "models")
    folder = os.path.join(models, "detr-mini")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is absent (set PARITAS_TEST_MODELS)")
        return SKIPPED
    problems = 0
    with tempfile.TemporaryDirectory() as scratch:
        for model in ("detr_mini.onnx", "detr_mini_fragile.onnx"):
            for variant in FORMATS:
                problems += check(scratch, driver, worker, os.path.join(folder, model), variant)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
