"""Validates what paritas really writes against docs/schemas, and that the schemas notice what is wrong.

    check_schemas.py PARITAS SOURCE_FOLDER     exit 0 fine, 1 not, 77 skipped (no jsonschema)

The published schemas allow further fields, so that readers survive newer versions; here every field must be described.
"""

import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012
except ImportError as error:
    print(f"skipped: {error}; tools/setup installs it")
    sys.exit(77)

paritas, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
failures = []


def strict(schema):
    """The schema with every object closed that lists its properties."""
    if isinstance(schema, list):
        return [strict(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) if key != "if" else value for key, value in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


PROJECT = """
schema = "paritas.project/1"
[model]
reference = "detr_mini_fragile.onnx"
[inputs.images]
file = "images.npy"
[inputs.orig_target_sizes]
value = [640, 480]
dtype = "int64"
shape = [1, 2]
[targets]
reference = "cpu"
device = "sim:fp16"
[outputs.scores]
role = "scores"
[gates]
profiles = ["detection-device"]
[[task]]
type = "detection"
boxes = "boxes"
scores = "scores"
labels = "labels"
format = "xyxy"
[cuts]
encoder = ["fpn.1.1.2/Mul_output_0", "pan.0.1.2/Mul_output_0", "pan.1.1.2/Mul_output_0"]
[[step]]
type = "locate"
cuts = ["encoder"]
[[step]]
type = "size-probe"
input = "orig_target_sizes"
boxes = "boxes"
format = "xyxy"
order = "wh"
[probes]
positions = ["/dec/layers.0/n3/*"]
"""


def load_schemas():
    schemas = {}
    for path in sorted((source / "docs/schemas").glob("*.schema.json")):
        schemas[path.name] = json.loads(path.read_text())
        Draft202012Validator.check_schema(schemas[path.name])
    return schemas


SCHEMAS = load_schemas()
REGISTRY = Registry().with_resources(
    [(name, Resource(contents=strict(schema), specification=DRAFT202012)) for name, schema in SCHEMAS.items()]
)


def errors(document, name):
    validator = Draft202012Validator(strict(SCHEMAS[f"{name}.schema.json"]), registry=REGISTRY)
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(document)]


def must_fit(document, name, what):
    found = errors(document, name)
    print(f"{what}: {'fits' if not found else found[0]}")
    failures.extend(f"{what}: {error}" for error in found)


def must_not_fit(document, name, what, change):
    changed = copy.deepcopy(document)
    change(changed)
    if not errors(changed, name):
        failures.append(f"the schema of {name} does not notice: {what}")


def run(*arguments, codes=(0, 1)):
    result = subprocess.run([paritas, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode not in codes:
        sys.exit(f"paritas {arguments[0]} ended with {result.returncode}: {result.stderr}")
    return result.stdout


def result(*arguments):
    return json.loads(run(*arguments, "--json", "-"))


def nonfinite_files():
    values = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    np.save("a.npy", values)
    np.save("b.npy", values[::-1].copy())
    np.save("integers.npy", np.arange(5))
    np.save("short.npy", values[:2])


def locate(*arguments):
    """With every eighth row of the nodes: they are alike, and validating 1,200 of them takes seconds."""
    located = result("locate", *arguments)
    located["nodes"] = located["nodes"][::8]
    return located


def packages():
    """Releases of a small network, split and held against each other."""
    subprocess.run([sys.executable, source / "tests/cases/data/package_models.py"], check=True)
    parts = ["--part", "front=sim:fp16", "--part", "rear=cpu", "--gate", "y: cosine>=0.99"]
    cut = ["--cut", "front=/front/Relu_output_0"]
    for model, inputs in (("net", ["x.npy"]), ("retrained", ["x.npy", "x2.npy"]), ("deeper", ["x2.npy"])):
        named = [text for file in inputs for text in ("--input", f"x={file}")]
        split = result("split", f"{model}.onnx", *named, *cut, *parts, "-o", f"package-{model}")
        must_fit(split, "split", f"split of {model}")
    manifest = json.loads(Path("package-net/manifest.json").read_text())
    must_fit(manifest, "package", "manifest.json")
    verified = result("verify", "package-net")
    must_fit(verified, "verify", "verify")
    proposed = result("split", "deeper.onnx", "--input", "x=x.npy", "--auto-cuts", "2", *parts, "-o", "package-proposed")
    must_fit(proposed, "split", "split at a proposed cut")
    refused = result("split", "net.onnx", "--input", "x=x.npy", *cut, *parts, "--gate", "y: max_abs>=1", "-o", "package-refused")
    must_fit(refused, "split", "split that was refused")
    if refused["refused"] is None or refused["package"] is not None:
        failures.append("the split that must be refused was delivered")
    must_not_fit(manifest, "package", "a file outside the package", lambda r: r["files"][0].update(path="a/../../b"))
    must_not_fit(manifest, "package", "a part without its hash", lambda r: r["parts"][0].pop("sha256"))
    must_not_fit(manifest, "package", "a boundary tensor without its source", lambda r: r["cuts"][0]["tensors"][0].pop("source"))
    must_not_fit(verified, "verify", "a check without its limits", lambda r: r["checks"][0].update(does_not_show=""))
    must_not_fit(refused, "split", "a refusal without its reason", lambda r: r.update(refused=""))
    compared = result("compare", "package-net", "package-retrained")
    must_fit(compared, "package-diff", "compare of two packages with other weights")
    must_fit(result("compare", "package-net", "package-deeper"), "package-diff", "compare of two packages with other graphs")
    must_fit(result("compare", "package-net", "package-net"), "package-diff", "compare of a package with itself")
    must_not_fit(compared, "package-diff", "a change without its limits", lambda r: r["finding"].update(does_not_show=""))
    must_not_fit(compared, "package-diff", "an area of another name", lambda r: r["areas"][0].update(name="mood"))
    must_not_fit(compared, "package-diff", "a constant without its figures", lambda r: r["parts"][1]["constants"]["differing"][0].pop("metrics"))


def boards():
    for script in ("small_models.py", "bad_boards.py"):
        subprocess.run([sys.executable, source / "tests/cases/data" / script], check=True)
    ran = ["run", "square.onnx", "--input", "x=x2.npy", "--target", "exec:good.toml", "--allow-exec", "-o", "board"]
    must_fit(result(*ran), "run", "run.json of a board")
    exec_note = json.loads(Path("board/notes/exec.json").read_text())
    must_fit(exec_note, "exec", "notes/exec.json")
    must_not_fit(exec_note, "exec", "a command without its end", lambda r: r["runs"][0]["commands"][0].pop("ended"))
    must_not_fit(exec_note, "exec", "a command that failed", lambda r: r["runs"][0]["commands"][0].update(ended="exit code 1"))


def explanations():
    """Layers of a small quantised model."""
    subprocess.run([sys.executable, source / "tests/cases/data/explain_models.py"], check=True)
    for model in ("float", "quantised"):
        run("run", f"{model}.onnx", "--input", "x=x0.npy", "--marks", "all", "-o", f"explain-{model}")
    explained = result("explain", "*", "--model", "quantised.onnx", "--float", "float.onnx", "--reference", "explain-float",
                       "--device", "explain-quantised")
    must_fit(explained, "explain", "explain")
    must_fit(result("explain", "*", "--model", "quantised.onnx"), "explain", "explain of a model alone")
    Path("monitor.toml").write_text('schema = "paritas.project/1"\n[model]\nreference = "float.onnx"\n'
                                    'device = "quantised.onnx"\n[inputs.x]\nfile = "x0.npy"\n'
                                    '[targets]\nreference = "cpu"\ndevice = "cpu"\n')
    Path("samples.txt").write_text("x0.npy\nx1.npy\n")
    monitored = result("monitor", "monitor.toml", "--list", "samples.txt")
    must_fit(monitored, "monitor", "monitor")
    must_not_fit(monitored, "monitor", "no verdict", lambda r: r.pop("verdict"))
    return explained


def main():
    detector = source / "examples/detr-mini"
    inputs = ["--input", f"images={detector}/images.npy", "--input", f"orig_target_sizes={detector}/orig_target_sizes.npy"]
    nonfinite_files()
    model = detector / "detr_mini_fragile.onnx"
    run("run", model, *inputs, "--marks", "*n3*", "-o", "reference")
    run("run", model, *inputs, "--marks", "*n3*", "--target", "sim:fp16", "-o", "device")
    recording = json.loads(Path("device/run.json").read_text())
    must_fit(recording, "run", "run.json of a simulated run")

    must_fit(result("run", model, *inputs, "-o", "printed"), "run", "run --json")
    boards()
    np.savez("arrays.npz", a=np.ones((1, 3), np.float32))
    must_fit(result("import", "arrays.npz", "-o", "imported"), "run", "import --json")
    must_fit(result("inspect", "arrays.npz"), "inspect", "inspect of an archive")

    compared = result("compare", "reference", "device", "--quantiles", "--gate", "*: outside<=0, atol=1e-3")
    must_fit(compared, "compare", "compare of two recordings")
    must_fit(result("compare", "a.npy", "b.npy"), "compare", "compare of values that are not finite")
    must_fit(result("compare", "integers.npy", "integers.npy"), "compare", "compare of integers")
    must_fit(result("compare", "a.npy", "short.npy"), "compare", "compare of different shapes")
    must_fit(result("compare", "a.npy", "device"), "compare", "compare of what does not pair")
    must_fit(result("compare", "a.npy", "b.npy", "a.npy"), "compare-many", "compare of three")

    located = locate(model, *inputs, "--device", "sim:fp16", "--gate", "scores: cosine>=0.99")
    must_fit(located, "locate", "locate with a fault")
    must_fit(locate(detector / "detr_mini.onnx", *inputs, "--device", "sim:fp16"), "locate", "locate without")
    probed = locate(detector / "detr_mini_fragile.onnx", *inputs, "--device", "sim:fp16", "--probe-checks", "--groups", "/dec/layers.0/n3/Mul: axis=2")
    must_fit(probed, "locate", "locate with probe checks and groups")
    must_not_fit(probed, "locate", "a Softmax without its sums", lambda r: r["probe_checks"]["softmax"][0].pop("device"))
    full = locate(model, *inputs, "--device", "sim:fp16", "--full", "--injection-seconds", "1")
    must_fit(full, "locate", "locate --full")
    must_not_fit(full, "locate", "a noise check of another kind", lambda r: r["consistency"]["checks"][0].update(check="luck"))
    must_not_fit(full, "locate", "an output without its graphs", lambda r: r["probe_effect"][0].pop("graphs"))

    ledger = ["--ledger", "ledger.jsonl"]
    many = locate(model, *inputs, *inputs[:2], "--device", "sim:fp16", "--gate", "scores: cosine>=0.99", *ledger)
    must_fit(many, "locate-samples", "locate over two samples")
    must_not_fit(many, "locate-samples", "a finding that holds on unknown samples", lambda r: r["findings"][0].pop("holds"))
    must_not_fit(many, "locate-samples", "a figure without its sample", lambda r: r["nodes"][0]["local"]["nmse"].pop("worst_sample"))

    both = locate(model, *inputs, *inputs[:2], "--device", "sim:fp16", "--gate", "scores: cosine>=0.99", "--search",
                  "--search-sessions", "3", "--injection-seconds", "0", "--cut",
                  "encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0", *ledger)
    must_fit(both, "locate-samples", "locate over two samples with a cut and a search")
    must_not_fit(both, "locate-samples", "a cell without its samples", lambda r: r["cuts"][0]["cells"][0].pop("samples"))
    must_not_fit(both, "locate-samples", "a set without the sample that decided", lambda r: r["search"]["tests"][0].pop("sample"))

    searched = locate(model, *inputs, "--device", "sim:fp16", "--gate", "scores: cosine>=0.99", "--search", *ledger)
    must_fit(searched, "locate", "locate with a search")
    pow_node = "/dec/layers.0/n3/Pow: "
    injected = result("inject", model, *inputs, "--device", "sim:fp16", "--each", "--at", pow_node + "local", "--at", pow_node + "offset(1)")
    must_fit(injected, "inject", "inject of a device's error and of an offset")
    must_fit(result("inject", model, *inputs, "--at", pow_node + "noise(1e-3)", "--feed-decisions"), "inject", "inject without a device")
    lines = [json.loads(line) for line in Path("ledger.jsonl").read_text().splitlines()]
    for line in lines:
        must_fit(line, "ledger", f"a line of the ledger: {line['kind']}")
    must_not_fit(lines[0], "ledger", "an unknown kind", lambda r: r.update(kind="magic"))
    viewed = result("ledger", "ledger.jsonl")
    must_fit(viewed, "ledger-view", "ledger")
    must_not_fit(viewed, "ledger-view", "an experiment without runs", lambda r: r["models"][0]["changes"][0]["experiments"][0].update(runs=[]))
    ranged = result("inspect", model, "--range", *inputs)
    ranged["tensors"] = ranged["tensors"][::8]
    must_fit(ranged, "range", "inspect --range")
    flushed = result("inspect", model, "--range", *inputs, "--format", "int8")
    flushed["tensors"] = flushed["tensors"][::8]
    must_fit(flushed, "range", "inspect --range in int8")
    pieces = result("pieces", model, *inputs, "--device", "sim:fp16", "--sweep")
    pieces["pieces"] = pieces["pieces"][::8]
    must_fit(pieces, "pieces", "pieces with a sweep")
    timed = result("bench", model, *inputs, "--target", "sim:fp16", "--runs", "8", "--endure", "0.1", "--gate", "scores: cosine>=0.99", "--history", "h.csv")
    must_fit(timed, "bench", "bench of a simulated device")
    must_not_fit(timed, "bench", "a time without its unit", lambda r: r["sides"][0]["chain"].update(median=1))
    must_not_fit(timed, "bench", "a stage that does not say whether it is emulated", lambda r: r["sides"][0]["stages"][0].pop("emulated"))
    must_fit(result("bench", model, model, *inputs, "--runs", "2", "--warm-up", "0", "--history", "h.csv"), "bench", "bench of two models")
    must_fit(result("bench", model, *inputs, "--runs", "1", "--reference", "none"), "bench", "bench of a single run")
    run_placement_models = [sys.executable, source / "tests/cases/data/placement_models.py"]
    subprocess.run(run_placement_models, check=True)
    evidence = source / "tests/cases/data/placement"
    files = ["--profile", evidence / "profile.json", "--op-trace", evidence / "qnn_op_trace.json",
             "--cycles", evidence / "qnn_cycles.csv", "--context", evidence / "context.onnx"]
    placed = result("placement", "attention.onnx", *files, "--require", "100%", "--pin", "Softmax=CPU")
    must_fit(placed, "placement", "placement from evidence files")
    Path("placed.json").write_text(json.dumps(placed))
    live = ["placement", "attention.onnx", "--input", "x=x.npy", "--target", "cpu"]
    must_fit(result(*live, "--against", "placed.json"), "placement", "placement of a session")
    cut = "encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0"
    crossed = locate(model, *inputs, "--device", "sim:fp16", "--cut", cut, "--only-cuts", "--save-cuts", "cuts.json")
    must_fit(crossed, "locate", "locate with a cut alone")
    must_not_fit(crossed, "locate", "a cell of another kind", lambda r: r["cross_matrix"][0]["cells"][0].update(front="gpu"))
    stored = json.loads(Path("cuts.json").read_text())
    must_fit(stored, "cuts", "a cut file")
    must_not_fit(stored, "cuts", "a cut without tensors", lambda r: r["cuts"][0].update(tensors=[]))

    packages()
    project = Path("paritas.toml")
    project.write_text(PROJECT)
    for name in ("detr_mini_fragile.onnx", "images.npy"):
        shutil.copy(detector / name, name)
    checked = result("check")
    must_fit(checked, "check", "check with a task and two steps")
    project.write_text('schema = "paritas.project/1"\n[recordings]\nreference = "reference"\ndevice = "device"\n')
    must_fit(result("check"), "check", "check of two recordings without gates")

    inspected = result("inspect", model)
    must_fit(inspected, "inspect", "inspect of a model")
    must_fit(result("inspect", "device"), "inspect", "inspect of a recording")
    must_fit(result("inspect", "a.npy"), "inspect", "inspect of a file")
    three_way = source / "examples" / "w8a8-three-way"
    quantised = str(three_way / "efficientnet_lite0_logits_w8a8.tflite")
    looked = result("inspect", quantised)
    must_fit(looked, "inspect", "inspect of a TFLite model")
    must_not_fit(looked, "inspect", "a TFLite model without its plan", lambda r: r.pop("plan"))
    weights = result("compare", quantised, quantised)
    must_fit(weights, "weights", "weights of two models")
    must_not_fit(weights, "weights", "an unknown status", lambda r: r["weights"][0].update(status="fine"))
    targets = result("targets")
    if any(row["target"] == "tflite:ref" and row["available"] for row in targets["targets"]):
        sides = result("check", str(three_way / "paritas.toml"))
        must_fit(sides, "check", "check with three sides")
        must_not_fit(sides, "check", "a pair without its comparison", lambda r: r["all_sides"]["pairs"][0].pop("comparison"))
    must_fit(targets, "targets", "targets")
    must_fit(result("targets", "--ort", "/nowhere"), "targets", "targets without ONNX Runtime")

    explained = explanations()
    must_not_fit(explained, "explain", "an unknown cause", lambda r: r["layers"][0].update(cause="bad luck"))
    must_not_fit(explained, "explain", "a finding without its limits", lambda r: r["layers"][0]["finding"].update(does_not_show=""))
    must_not_fit(explained, "explain", "a layer that hides what was not looked at", lambda r: r["layers"][0].pop("not_looked_at"))
    must_not_fit(recording, "run", "another schema", lambda r: r.update(schema="paritas.run/2"))
    must_not_fit(recording, "run", "an unknown dtype", lambda r: r["tensors"][0].update(dtype="float33"))
    must_not_fit(recording, "run", "a path out of the folder", lambda r: r["samples"][0].update(file="../x.safetensors"))
    must_not_fit(recording, "run", "a field that no one described", lambda r: r.update(surprise=1))
    must_not_fit(compared, "compare", "an unknown verdict", lambda r: r.update(verdict="fine"))
    must_not_fit(compared, "compare", "no reasons", lambda r: r.update(reasons=[]))
    must_not_fit(compared, "compare", "null for a number", lambda r: r["tensors"][0]["metrics"].update(cosine=None))
    must_not_fit(located, "locate", "a finding without its limits", lambda r: r["findings"][0].update(does_not_show=""))
    must_not_fit(located, "locate", "a node without its figures", lambda r: r["nodes"][0].pop("local"))
    must_not_fit(searched, "locate", "a search without its tests", lambda r: r["search"].pop("tests"))
    must_not_fit(injected, "inject", "an experiment without its outputs", lambda r: r["experiments"][0].pop("outputs"))
    must_not_fit(ranged, "range", "a tensor without its headroom", lambda r: r["tensors"][0].pop("headroom_bits"))
    must_not_fit(pieces, "pieces", "a function without its ends", lambda r: r["pieces"][0].pop("left"))
    must_not_fit(placed, "placement", "an unknown place", lambda r: r["placement"]["nodes"][0].update(place="moon"))
    must_not_fit(placed, "placement", "a node without evidence", lambda r: r["placement"]["nodes"][0].pop("evidence"))
    must_not_fit(checked, "check", "no hash of the project", lambda r: r.pop("project_sha256"))
    must_not_fit(checked, "check", "an absent figure that passes", lambda r: r["tasks"][0]["result"]["outcome"]["absent"][0].update(verdict="pass"))
    must_not_fit(checked, "check", "an input without its hash", lambda r: r["inputs"][0]["tensors"][0].pop("tensor_sha256"))
    must_not_fit(inspected, "inspect", "a model without operators", lambda r: r.pop("ops"))
    must_not_fit(targets, "targets", "an empty list", lambda r: r.update(targets=[]))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
for failure in failures:
    print(f"FAILED {failure}")
sys.exit(1 if failures else 0)
