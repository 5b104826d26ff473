"""Holds paritas placement against a second reading of the same evidence, with Python's json and csv and the onnx package:
places, cycles, time, tensors that cross. Convicts as well: evidence that is changed must be called contradictory.

    placement_onnx.py PARITAS     exit 0 fine, 1 not, 77 skipped
"""
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import onnx
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

paritas = Path(sys.argv[1]).resolve()
data = Path(__file__).resolve().parent.parent / "cases/data"
files = {"--profile": "profile.json", "--op-trace": "qnn_op_trace.json", "--cycles": "qnn_cycles.csv"}
failures = []


def expect(what, measured, expected):
    print(f"{what}: {measured}")
    if measured != expected:
        failures.append(f"{what}: {measured} instead of {expected}")


def place(folder):
    arguments = [text for option, name in files.items() for text in (option, str(folder / name))]
    done = subprocess.run([paritas, "placement", "attention.onnx", *arguments, "--json", "-"], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def source_of(name):
    """Nodes of this model behind a name of the optimised graph, by hand."""
    if name.endswith("/MatMulAddFusion"):
        block = name.split("/")[1]
        return [f"/{block}/MatMul", f"/{block}/Add"]
    return [] if name.startswith("gemm_") or "_reshape" in name else [re.sub(r"_token_\d+$", "", name)]


def independent():
    model = onnx.load("attention.onnx")
    trace = json.loads((data / "placement/qnn_op_trace.json").read_text())
    partition, cycles = {}, {}
    for number, graph in enumerate(trace["subgraph_traces"]):
        for op in graph["op_mappings"]:
            for source in op["sources"]:
                for node in source_of(source["name"]) if source["type"] == "OP" else []:
                    partition[node] = f"device {number}"
    for left in trace["unsupported_nodes"]:
        partition[left["node_name"]] = "cpu"
    total = 0
    with open(data / "placement/qnn_cycles.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["Message"] != "NODE" or ":OpId_" not in row["Event Identifier"]:
                continue
            total += int(row["Time"])
            for node in {n for name in row["ONNX Source Ops"].split(";") for n in source_of(name)}:
                cycles[node] = cycles.get(node, 0) + int(row["Time"])
    events = [e for e in json.loads((data / "placement/profile.json").read_text()) if e["cat"] == "Node"]
    device = sum(e["dur"] for e in events if e["args"]["provider"] == "QNNExecutionProvider")
    sizes = {v.name: 4 * math.prod(d.dim_value for d in v.type.tensor_type.shape.dim) for v in model.graph.value_info}
    crossings = {}
    maker = {tensor: node.name for node in model.graph.node for tensor in node.output}
    for node in model.graph.node:
        for tensor in node.input:
            if tensor in maker and partition[maker[tensor]] != partition[node.name]:
                crossings.setdefault(tensor, set()).add(partition[node.name])
    return {"partition": partition, "cycles": cycles, "total": total,
            "time": device / sum(e["dur"] for e in events),
            "bytes": sum(sizes[tensor] * len(to) for tensor, to in crossings.items()), "crossings": sorted(crossings)}


def changed(name, change):
    """The contradictions after one file was changed."""
    with tempfile.TemporaryDirectory() as folder:
        for each in files.values():
            text = (data / "placement" / each).read_text()
            (Path(folder) / each).write_text(change(text) if each == name else text)
        code, result = place(Path(folder))
    return code, result["verdict"], bool(result["placement"]["contradictions"])


def main():
    subprocess.run([sys.executable, data / "placement_models.py"], check=True)
    code, result = place(data / "placement")
    own, audit = independent(), result["placement"]
    expect("exit code, contradictions", (code, audit["contradictions"]), (0, []))
    on_device = {n["name"] for n in audit["nodes"] if n["place"] == "device"}
    expect("on the device", sorted(on_device), sorted(n for n, p in own["partition"].items() if p != "cpu"))
    groups = {}
    for node in audit["nodes"]:
        groups.setdefault(node["partition"], set()).add(node["name"])
    expected = {}
    for node, where in own["partition"].items():
        expected.setdefault(where, set()).add(node)
    expect("partitions", sorted(map(sorted, groups.values())), sorted(map(sorted, expected.values())))
    expect("cycles", {n["name"]: n["cycles"] for n in audit["nodes"] if n["cycles"] is not None}, own["cycles"])
    expect("cycles of all operations", audit["totals"]["device_cycles"], own["total"])
    expect("share of the time", round(audit["totals"]["device_share_by_time"], 12), round(own["time"], 12))
    expect("crossing tensors", sorted(c["tensor"] for c in audit["crossings"]), own["crossings"])
    expect("crossing bytes", audit["totals"]["crossing_bytes"], own["bytes"])

    convicted = (1, "invalid", True)
    expect("a node on the CPU that the trace has on the device",
           changed("profile.json", lambda text: text.replace("/attn/Softmax", "/q/Relu").replace('"Softmax"', '"Relu"')), convicted)
    expect("an execution too few", changed("qnn_cycles.csv", lambda text: text.replace(",EXECUTE,", ",BACKEND,", 1)), convicted)
    expect("an operation that was never compiled", changed("qnn_cycles.csv", lambda text: text.replace("/q/Relu:OpId", "/q/Erf:OpId")), convicted)
    expect("nothing changed", changed("profile.json", lambda text: text), (0, "not judged", False))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir("/")
for failure in failures:
    print(f"FAILED {failure}")
sys.exit(1 if failures else 0)
