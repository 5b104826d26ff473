"""Writes the small seed files under corpus/npz, tensor_proto, polygraphy, trtexec, input_list and op_profile. Needs numpy and onnx."""

import base64
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

CORPUS = Path(__file__).parent / "corpus"
A = np.arange(3, dtype=np.float32)

RUN_ORDER = "============================== Run Order ==============================\n"
CSV_PROFILE = (
    RUN_ORDER + "node type, first, avg_ms, %, cdf%, mem KB, times called, name\n"
    "CONV_2D/a, b, 0.01, 0.011, 1%, 1%, 0, 1, [a\t b]:0\nDelegate, 0.01, 0.011, 1%, 1%, 0, 2, [c]:1\n\n"
    "Timings (microseconds): count=4 first=1\nMemory (bytes): count=0\n2 nodes observed\n"
)
HEADER = "\t[node type]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times called]\t[Name]\n"
TEXT_PROFILE = (
    "Profiling Info for Benchmark Initialization:\n" + RUN_ORDER + HEADER + "\tAllocateTensors\t1\t1\t1%\t1%\t0\t1\t"
    "AllocateTensors/0\n\n1 nodes observed\nOperator-wise Profiling Info for Regular Benchmark Runs:\n" + RUN_ORDER
    + HEADER + "\tADD\t0.010\t0.011\t1%\t1%\t0.000\t1\t[a:0]:0\n\nTimings (microseconds): count=50 first=1\n"
    "1 nodes observed\n\nDelegate internal: \n" + RUN_ORDER + HEADER
    + "\tDelegateOpInvoke\t1\t1\t1%\t1%\t0\t1\tConvolution:0\n\n1 nodes observed\n"
)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(save, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def archive(*members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in members:
            zip_file.writestr(name, content)
    return file.getvalue()


def proto(array, name, **typed):
    tensor = numpy_helper.from_array(array, name)
    if typed:
        tensor.ClearField("raw_data")
        for field, values in typed.items():
            getattr(tensor, field).extend(values)
    return tensor.SerializeToString()


def external():
    tensor = onnx.TensorProto(name="e", data_type=1, dims=[3], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "../x"), ("offset", "0"), ("length", "12")):
        tensor.external_data.add(key=key, value=value)
    return tensor.SerializeToString()


def ndarray(array, lazy=True):
    value = {"array": base64.b64encode(npy(array)).decode(), "polygraphy_class": "ndarray"}
    return {"values": value, "polygraphy_class": "LazyArray"} if lazy else value


def results(**outputs):
    iteration = {"outputs": outputs, "runtime": 0.5, "runner_name": "r0", "polygraphy_class": "IterationResult"}
    return {"lst": [["r0", [iteration, iteration]], ["r1", []]], "polygraphy_class": "RunResults"}


BIG_ENDIAN = np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3))
STORED = npz(np.savez, **{"/a/b": A, "c": np.int64(1), "f": BIG_ENDIAN})

SEEDS = {
    "npz": {
        "stored": STORED,
        "deflated": npz(np.savez_compressed, a=A, f=BIG_ENDIAN),
        "object": archive(("a.npy", npy(np.zeros(1)).replace(b"<f8", b"|O8"))),
        "climbs": archive(("../a.npy", npy(A))),
        "pickle": archive(("x/data.pkl", b"\x80\x02N.")),
        "bomb": archive(("a.npy", npy(A) + bytes(100000))),
        "truncated": STORED[:-10],
        "folder": archive(("d/", b""), ("d/a.npy", npy(A))),
    },
    "tensor_proto": {
        "raw": proto(A, "a"),
        "typed": proto(A, "a", float_data=[1, 2, 3]),
        "int64": proto(np.int64(5), ""),
        "strings": proto(np.array(["a", "b"], dtype=object), "s"),
        "external": external(),
        "huge": onnx.TensorProto(name="h", data_type=1, dims=[1 << 40, 1 << 40], raw_data=b"abcd").SerializeToString(),
        "truncated": proto(A, "a")[:-2],
        "empty": b"",
    },
    "polygraphy": {
        "results": results(**{"/a": ndarray(A), "b": ndarray(np.int64(1), lazy=False)}),
        "inputs": [{"x": ndarray(A, lazy=False)}],
        "tensor": results(t={"array": "QUJD", "polygraphy_class": "Tensor"}),
        "not_base64": results(t={"array": "!!!", "polygraphy_class": "ndarray"}),
        "twice": '[{"x": 1, "x": 2}]',
        "nested": '{"lst": [], "x": ' + "[" * 3000 + "]" * 3000 + "}",
        "escape": '[{"x": {"array": "\\u0041", "polygraphy_class": "ndarray"}}]',
        "cut": json.dumps(results(a=ndarray(A)))[:100],
    },
    "trtexec": {
        "floats": '[\n  { "name" : "a"\n  , "dimensions" : "1x3"\n  , "values" : [ 0.5, nan, -inf ]\n  }\n]\n',
        "typed": '[{"name": "n", "dimensions": "2", "values": [1, -2]}, {"name": "h", "dimensions": "", "values": [7]}]',
        "counts": '[{"name": "n", "dimensions": "3", "values": [1]}]',
        "overflow": '[{"name": "n", "dimensions": "99999999999x99999999999", "values": [1]}]',
        "nested": '[{"name": "n", "dimensions": "2", "values": [[1], 2]}]',
        "empty": '[{"name": "n", "dimensions": "0", "values": []}]',
        "file_name": "a.b.output.1.3.Half.raw",
    },
    "input_list": {
        "named": "%out another:0\nx:=a/x.raw y:=y.raw\nx:=b/x.raw y:=y.raw\n",
        "plain": "#layer\r\nx.raw\r\n\r\n y.raw\t\r\n",
        "mixed": "x:=a b\n",
        "twice": "x:=a x:=b\n",
        "bad_utf8": b"\xff:=a\n",
        "empty_name": ":=a\n",
        "empty_path": "x:=\n",
    },
    "op_profile": {
        "csv": CSV_PROFILE,
        "text": TEXT_PROFILE,
        "cut": CSV_PROFILE[:-20],
        "subgraph": "Primary graph profile:\n" + CSV_PROFILE + "Subgraph (index: 1) profile:\n" + CSV_PROFILE,
        "twice": CSV_PROFILE + CSV_PROFILE,
        "short_row": CSV_PROFILE.replace(", [c]:1", ""),
        "same_node": CSV_PROFILE.replace("[c]:1", "[c]:0"),
    },
}

for folder, seeds in SEEDS.items():
    (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
        (CORPUS / folder / name).write_bytes(content)
