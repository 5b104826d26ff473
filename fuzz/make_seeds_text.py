"""Writes the small seed files under corpus/run_json, corpus/gates and corpus/op_trace. Needs nothing but Python."""

import json
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def run(**changes):
    tensor = {"name": "y", "dtype": "float32", "role": "output", "node": "/Add", "op": "Add"}
    index = {
        "schema": "paritas.run/1",
        "model": {"path": "m.onnx", "sha256": "ab", "ir_version": 8, "opsets": {"ai.onnx": 17}, "producer": "p"},
        "target": "cpu",
        "options": {"a": "b"},
        "threads": 1,
        "runtime": {"version": "1.32.0", "path": "/ort.so", "sha256_before": "cd", "sha256_after": "cd"},
        "pinned": ["n=1"],
        "notes": ["note"],
        "seconds": 0.5,
        "placement": {"requested": "P", "nodes": {"P": 3, "Q": 1}, "partitions": 1, "evidence": ["session assignment"]},
        "tensors": [tensor],
        "samples": [{"file": "sample-000000.safetensors", "sha256": "ef", "bytes": 8, "shapes": {"y": [1, 2]}}],
    }
    index.update(changes)
    return index


QUANTISED = {
    "name": "q",
    "dtype": "uint8",
    "storage_type": "uint4",
    "role": "intermediate",
    "quantisation": {"scale": [0.5, 0.25], "zero_point": [128, 0], "axis": 1},
}

RUN_JSON = {
    "plain": run(),
    "quantised": run(tensors=[QUANTISED]),
    "least": {"schema": "paritas.run/1", "model": {}, "tensors": []},
    "schema": run(schema="paritas.run/9"),
    "dtype": run(tensors=[dict(QUANTISED, dtype="float33")]),
    "huge_threads": run(threads=1 << 62),
    "huge_axis": run(tensors=[dict(QUANTISED, quantisation={"scale": [1], "zero_point": [0], "axis": 1 << 40})]),
    "negative_count": run(placement={"requested": "P", "nodes": {"P": -1}, "partitions": 0}),
    "nested": "[" * 5000,
    "twice": '{"schema":"paritas.run/1","schema":"paritas.run/1"}',
    "zero_byte": '{"schema":"paritas.run/1"}\0{}',
    "bad_utf8": b'{"schema":"paritas.run/1","model":{"path":"\xff\xfe"},"tensors":[]}',
    "number": '{"schema":"paritas.run/1","model":{},"tensors":[],"seconds":1e999}',
}

GATE = '[[gate]]\ntensor = "scores"\nmetric = "cosine"\nop = ">="\nvalue = 0.99\n'

GATES = {
    "inline": "scores: cosine>=0.99",
    "inline_outside": "output:0 : outside<=0, atol=1e-5, rtol=1e-5",
    "inline_equal": "a*?: max_ulp == 4",
    "inline_nan": "a: cosine>=nan",
    "file": 'nonfinite = "equal"\n' + GATE,
    "file_two": GATE + '[[gate]]\ntensor = "b*"\nmetric = "outside"\nop = "<="\nvalue = 0\natol = 1e-4\n',
    "file_integer": GATE.replace("0.99", "1"),
    "file_inf": GATE.replace("0.99", "inf"),
    "file_date": GATE.replace("0.99", "2020-01-01"),
    "file_nested": "gate = " + "[" * 300,
    "file_inline_table": 'gate = [{tensor = "a", metric = "nmse", op = "<", value = 1}]\n',
    "file_unknown": GATE + "treshold = 1\n",
}


def trace(*mappings):
    graphs = [{"op_mappings": list(mappings)}]
    return {"schema_version": 2, "backend_type": "htp", "model_name": "m", "subgraph_traces": graphs}


GELU = {
    "dst_name": "/act/Erf",
    "dst_qnn_op_type": "Gelu",
    "node_group_type": "GeluFusion",
    "sources": [{"name": "/act/Div", "type": "OP"}, {"name": "/act/Erf_output_0", "type": "TENSOR"}],
}

OP_TRACE = {
    "gelu": trace(GELU, GELU),
    "empty": trace(),
    "no_type": trace(dict(GELU, sources=[{"name": "a"}])),
    "no_sources": trace({"dst_name": "a", "dst_qnn_op_type": "b"}),
    "version": dict(trace(GELU), schema_version=1),
    "array": [],
    "cut": json.dumps(trace(GELU))[:150],
    "nested": '{"schema_version":2,"subgraph_traces":' + "[" * 5000,
}

for folder, seeds in (("run_json", RUN_JSON), ("gates", GATES), ("op_trace", OP_TRACE)):
    (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
        (CORPUS / folder / name).write_bytes(content)
