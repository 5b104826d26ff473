"""Writes the small seed files under corpus/ort_profile, qnn_cycles and placement_result. Needs nothing but Python."""
import json
from pathlib import Path

HERE = Path(__file__).parent
REAL = HERE.parent / "tests/cases/data/placement"

RUN = {"cat": "Session", "dur": 70, "ts": 1, "ph": "X", "name": "model_run", "args": {}}


def kernel(name, **changes):
    event = {"cat": "Node", "dur": 5, "ts": 2, "ph": "X", "name": name + "_kernel_time",
             "args": {"op_name": "Add", "provider": "CPUExecutionProvider", "output_size": "64"}}
    return {**event, **changes}


HEADER = "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier,ONNX Source Ops\n"
ROW = "0,NODE,100,CYCLES,BACKEND,SUB-EVENT,/a:OpId_7 (cycles),/x;/y\n"
END = "0,EXECUTE,9,US,BACKEND,ROOT,QNN (execute) time,\n"
NODE = {"name": "/a", "op": "Add", "place": "device", "provider": "QNNExecutionProvider"}
RESULT = {"schema": "paritas.placement/1", "model_sha256": "0" * 64,
          "placement": {"totals": {"device_partitions": 1, "crossings": 0, "device_share": 1.0}, "nodes": [NODE]}}

SEEDS = {
    "ort_profile": {
        "real": (REAL / "profile.json").read_text(),
        "runs": json.dumps([kernel("/a"), RUN, kernel("/a"), kernel("/b"), RUN]),
        "no_provider": json.dumps([kernel("/a", args={})]),
        "negative": json.dumps([kernel("/a", dur=-1)]),
        "huge": json.dumps([kernel("/a", dur=2**63 - 1)] * 3),
        "twice": '[{"cat": "Node", "cat": "Node"}]',
        "cut": json.dumps([kernel("/a"), RUN])[:-20],
        "empty": "[]",
    },
    "qnn_cycles": {
        "real": (REAL / "qnn_cycles.csv").read_text(),
        "rows": HEADER + ROW + ROW + END,
        "quoted": HEADER + ROW.replace("/a:OpId_7 (cycles)", '"/a,""b"":OpId_7 (cycles)"'),
        "open_quote": HEADER + ROW.replace("/a", '"/a'),
        "short": HEADER + "0,NODE,5\n",
        "negative": HEADER + ROW.replace("100", "-100"),
        "sum": HEADER + ROW.replace("100", str(2**60)) * 20,
        "returns": (HEADER + ROW).replace("\n", "\r\n"),
        "no_sources": "Message,Time,Unit of Measurement,Event Level,Event Identifier\nNODE,5,CYCLES,SUB-EVENT,/a:OpId_1 (cycles)\n",
    },
    "placement_result": {
        "small": json.dumps(RESULT),
        "place": json.dumps(RESULT).replace('"device"', '"moon"'),
        "schema": json.dumps({"schema": "paritas.locate/1"}),
        "no_nodes": json.dumps({**RESULT, "placement": {"totals": {}}}),
        "cut": json.dumps(RESULT)[:-5],
    },
}

for folder, seeds in SEEDS.items():
    (HERE / "corpus" / folder).mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (HERE / "corpus" / folder / name).write_text(content)
