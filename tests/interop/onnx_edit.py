#!/usr/bin/env python3
"""Every edit of paritas/onnx must leave a model that ONNX Runtime runs to the same bits.

usage: onnx_edit.py PARITAS_ONNX_EDIT SOURCE_DIR [MODEL-NAME-PART ...]

Needs numpy and onnxruntime (exit code 77 without them). Runs with optimisation disabled: what is compared is the edit,
not the optimiser. Models come from SOURCE_DIR/examples and from PARITAS_TEST_MODELS or SOURCE_DIR/../shared/models; an
absent folder is reported as skipped.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ort.set_default_logger_severity(3)
TOOL = sys.argv[1]
SOURCE = Path(sys.argv[2])
ONLY = sys.argv[3:]
MODELS = Path(os.environ.get("PARITAS_TEST_MODELS") or SOURCE.parent / "shared" / "models")


class EditFailed(Exception):
    pass


def edit(model, folder, **request):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "request.json"
    file.write_text(json.dumps(request))
    done = subprocess.run([TOOL, str(model), str(folder), str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        raise EditFailed(f"{request['edit']}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def run(model, feeds):
    s = session(model)
    known = {i.name for i in s.get_inputs()}
    names = [o.name for o in s.get_outputs()]
    return dict(zip(names, s.run(names, {k: v for k, v in feeds.items() if k in known})))


def same(expected, got, tolerance):
    if expected.dtype != got.dtype or expected.shape != got.shape:
        return False
    if expected.tobytes() == got.tobytes():
        return True
    if not tolerance or expected.dtype.kind != "f":
        return False
    scale = max(np.abs(expected.astype(np.float64)).max(initial=0), 1e-6)
    return bool(np.abs(expected.astype(np.float64) - got).max() <= tolerance * scale)


def differing(expected, got, tolerance):
    return [n for n in expected if not same(expected[n], got[n], tolerance)]


def store(folder, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for number, (name, value) in enumerate(tensors.items()):
        files[name] = str(folder / f"{number}.npy")
        np.save(files[name], value)
    return files


class Check:
    def __init__(self, name, half):
        # ONNX Runtime's CPU computes float16 graphs in float32 between casts, and drops casts where nothing looks at
        # the tensor between them: marks change the values, whatever the optimisation level.
        self.name, self.failures, self.tolerance = name, [], 0.1 if half else 0

    def equal(self, what, expected, got, tolerance=0):
        bad = differing(expected, got, max(self.tolerance, tolerance))
        if bad:
            self.failures.append(f"{what}: {len(bad)} of {len(expected)} tensors differ, first {bad[0]}")

    def that(self, what, holds):
        if not holds:
            self.failures.append(what)


def check_interpose(check, what, model, original, feeds, folder, other_kernels):
    """Weights behind an operator are no constants for the runtime: it takes other kernels, which round differently."""
    for initializers, tolerance in ((False, 0), (True, other_kernels)):
        result = edit(model, folder / str(initializers), edit="interpose", op="Identity", domain="",
                      initializers=initializers)
        check.equal(f"{what}, initialisers {initializers}", original, run(result["model"], feeds), tolerance)


def check_model(name, model, feeds, root):
    check = Check(name, ".fp16" in name)
    original = run(model, feeds)
    # A last bit before a quantiser becomes a step behind it.
    other_kernels = 0.1 if edit(model, root / "kind", edit="inspect")["quantized"] else 1e-4
    saved = edit(model, root / "save", edit="save")
    check.equal("save", original, run(saved["model"], feeds))
    check_interpose(check, "interpose in the model as it is", model, original, feeds, root / "interpose-original",
                    other_kernels)

    pinned = edit(model, root / "pin", edit="pin", shapes={k: list(v.shape) for k, v in feeds.items()})
    check.equal("pin", original, run(pinned["model"], feeds))
    before = edit(pinned["model"], root / "inspect", edit="inspect")
    marked = edit(pinned["model"], root / "frontier", edit="mark", names=before["frontier"])
    values = run(marked["model"], feeds)
    files = store(root / "constants", {n: values[n] for n in before["frontier"]})
    folded = edit(pinned["model"], root / "folded", edit="constants", tensors=files)
    # A weight that was computed (transposed, cast) is now a constant: other kernels again.
    whole = run(folded["model"], feeds)
    check.equal("constants", original, whole, other_kernels)

    after = edit(folded["model"], root / "inspect2", edit="inspect")
    check.that(f"the folded model has the frontier {after['frontier']}", not after["frontier"])
    marked = edit(folded["model"], root / "marked", edit="mark", names=after["dependent"])
    reference = run(marked["model"], feeds)
    check.equal("marks", whole, reference)
    files = store(root / "reference", {**reference, **feeds})

    for group in (1, 4):
        local = edit(folded["model"], root / f"local{group}", edit="all_local", tensors=files, group=group)
        fed = {k: {**reference, **feeds}[v] for k, v in local["feeds"].items()}
        got = run(local["model"], fed)
        check.equal(f"all-local, islands of {group}", {k: reference[k] for k in local["outputs"]},
                    {k: got[v] for k, v in local["outputs"].items()})
        check.that("all-local hands out something", local["outputs"])

    chosen = (after["decisions"] + after["cut"])[:8] + [n for n in original if n in after["dependent"]][:1]
    fed = edit(folded["model"], root / "feed", edit="feed", tensors={n: files[n] for n in chosen})
    check.equal("feed", whole, run(fed["model"], {**feeds, **{fed["feed_names"][n]: reference[n] for n in chosen}}))

    check_interpose(check, "interpose", folded["model"], whole, feeds, root / "interpose", other_kernels)

    cut = after["cut"]
    if cut:
        types = {n: files[n] for n in [*cut, *feeds]}
        first = edit(folded["model"], root / "first", edit="extract", inputs=list(feeds), outputs=cut, tensors=types)
        check.equal("first half", {n: reference[n] for n in cut}, run(first["model"], feeds))
        rest = [n for n in original if n not in cut]
        if rest:
            second = edit(folded["model"], root / "second", edit="extract", inputs=cut + list(feeds), outputs=rest,
                          tensors=types)
            check.equal("second half", {n: whole[n] for n in rest},
                        run(second["model"], {**feeds, **{n: reference[n] for n in cut}}))
    print(f"{name}: load {before['load_ms']:.1f} ms, {before['nodes']} nodes, {len(before['frontier'])} folded, "
          f"{after['nodes']} left, {len(after['dependent'])} tensors marked, {local['edit_ms']:.1f} ms for all-local; "
          f"{'; '.join(check.failures) or 'equal'}", flush=True)
    return not check.failures


def sample_inputs(folder, entry):
    return {name: np.load(folder / file) for name, file in entry.items()}


def cases():
    detr = SOURCE / "examples" / "detr-mini"
    feeds = {n: np.load(detr / f"{n}.npy") for n in ("images", "orig_target_sizes")}
    for file in ("detr_mini.onnx", "detr_mini_fragile.onnx"):
        yield f"detr-mini/{file}", detr / file, feeds
    for description in sorted(MODELS.glob("*/model.json")):
        folder = description.parent
        data = json.loads(description.read_text())
        for file in sorted(p.name for p in folder.glob("*.onnx")):
            for sample in data["samples"]:
                inputs = sample_inputs(folder, sample["inputs"])
                wanted = {i.name: i for i in session(folder / file).get_inputs()}
                feeds = {k: v.astype(np.float16) if wanted[k].type == "tensor(float16)" else v
                         for k, v in inputs.items() if k in wanted}
                if set(feeds) == set(wanted):
                    yield f"{folder.name}/{file}", folder / file, feeds
                    break


def main():
    good, bad = 0, []
    for name, model, feeds in cases():
        if ONLY and not any(part in name for part in ONLY):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                ok = check_model(name, model, feeds, Path(scratch))
            except Exception as error:  # one broken model must not hide the others
                print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
                ok = False
        good += ok
        if not ok:
            bad.append(name)
    if not MODELS.is_dir():
        print(f"skipped: the models of {MODELS} (absent; set PARITAS_TEST_MODELS)")
    print(f"{good} models equal, {len(bad)} not: {', '.join(bad)}" if bad else f"{good} models equal")
    return 1 if bad or good == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
