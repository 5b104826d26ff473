"""Checks what is said of TFLite models against LiteRT's own Python: the container, every tensor, the three-way figures.

usage: tflite_litert.py PARITAS SOURCE

Nothing of ours computes here: the file's schema and the interpreter are those of ai-edge-litert, the figures are numpy's.
Exit code 77 means skipped.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PARITAS, SOURCE = sys.argv[1], sys.argv[2]
EXAMPLE = f"{SOURCE}/examples/w8a8-three-way"
MODELS = os.environ.get("PARITAS_TEST_MODELS", f"{SOURCE}/../shared/models")
LOGITS = f"{EXAMPLE}/efficientnet_lite0_logits_w8a8.tflite"
DTYPES = {"U8": np.uint8, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64, "F32": np.float32, "BOOL": np.bool_}


def run(arguments, codes=(0,), where=None):
    done = subprocess.run([PARITAS, *arguments], capture_output=True, text=True, cwd=where)
    assert done.returncode in codes, f"{arguments}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def samples(folder):
    """Tensors of a recording, read from the documented form."""
    info = json.load(open(f"{folder}/run.json"))
    result = []
    for sample in info["samples"]:
        data = open(f"{folder}/{sample['file']}", "rb").read()
        assert hashlib.sha256(data).hexdigest() == sample["sha256"]
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + length])
        result.append({name: np.frombuffer(data[8 + length:][e["data_offsets"][0]:e["data_offsets"][1]], DTYPES[e["dtype"]]).reshape(e["shape"])
                       for name, e in header.items() if name != "__metadata__"})
    return info, result


def constants_of(kind):
    return {value: name for name, value in vars(kind).items() if not name.startswith("_")}


# (a) The container.
def check_operator_names():
    text = open(f"{SOURCE}/paritas/tflite/operator_names.cc").read()
    ours = re.findall(r'"([A-Z0-9_]+)"', text[text.index("kNames"):text.index("});")])
    theirs = constants_of(schema.BuiltinOperator)
    assert len(theirs) <= len(ours) and len(theirs) > 200, (len(ours), len(theirs))
    for code, name in theirs.items():
        assert ours[code] == name, f"operator {code}: {ours[code]}, schema {name}"


def ids_of(graph):
    names = [(t.name or b"").decode() for t in graph.tensors]
    return [name if name and names.count(name) == 1 else f"{name or 'tensor'}#{i}" for i, name in enumerate(names)]


def check_quantisation(where, ours, quantisation):
    scale = None if quantisation is None else quantisation.scale
    if scale is None or len(scale) == 0:
        assert "quantisation" not in ours, where
        return
    theirs = ours.get("quantisation")
    assert theirs is not None, f"{where}: its quantisation is not shown"
    assert np.array_equal(np.float32(theirs["scale"]), np.float32(scale)), where
    zero_point = quantisation.zeroPoint if quantisation.zeroPoint is not None else np.zeros(len(scale))
    assert list(theirs["zero_point"]) == list(zero_point), where
    if len(scale) > 1:
        assert theirs["axis"] == quantisation.quantizedDimension, where


def check_container(path):
    model = schema.ModelT.InitFromPackedBuf(open(path, "rb").read(), 0)
    shown = json.loads(run(["inspect", path, "--json", "-", "--quiet"]))
    graph, ids, types = model.subgraphs[0], ids_of(model.subgraphs[0]), constants_of(schema.TensorType)
    assert shown["version"] == model.version and shown["kind"] == "TFLite model"
    by_name = {t["name"]: t for t in shown["tensors"]}
    assert len(by_name) == len(shown["tensors"])
    for i, tensor in enumerate(graph.tensors):
        ours = by_name.pop(ids[i], None)
        assert ours is not None, f"{path}: tensor {ids[i]} is not shown"
        assert ours["dtype"].upper() == types[tensor.type], (path, ids[i], ours["dtype"], types[tensor.type])
        shape = [] if tensor.shape is None else list(tensor.shape)
        free = tensor.shapeSignature is not None and -1 in list(tensor.shapeSignature)
        assert free or json.loads(ours["shape"]) == shape, (path, ids[i], ours["shape"], shape)
        check_quantisation(f"{path} {ids[i]}", ours, tensor.quantization)
    assert not by_name, f"{path}: shown beyond the file: {list(by_name)[:5]}"
    names = constants_of(schema.BuiltinOperator)
    codes = [(c.customCode or b"").decode() if max(c.builtinCode, c.deprecatedBuiltinCode) == 32
             else names[max(c.builtinCode, c.deprecatedBuiltinCode)] for c in model.operatorCodes]
    assert shown["plan"] == [f"{i}:{codes[op.opcodeIndex]}" for i, op in enumerate(graph.operators)], path
    roles = {t["name"]: t["role"] for t in shown["tensors"]}
    assert {n for n, r in roles.items() if r == "input"} == {ids[i] for i in graph.inputs}, path
    assert {n for n, r in roles.items() if r == "output"} == {ids[i] for i in graph.outputs}, path
    made = {t["name"]: t.get("node") for t in shown["tensors"]}
    for i, op in enumerate(graph.operators):
        assert all(made[ids[o]] == shown["plan"][i] for o in op.outputs), (path, i)
    signatures = model.signatureDefs or []
    assert len(shown["signatures"]) == len(signatures)
    for ours, theirs in zip(shown["signatures"], signatures):
        all_ids = ids_of(model.subgraphs[theirs.subgraphIndex])
        assert ours["key"] == theirs.signatureKey.decode() and ours["graph"] == theirs.subgraphIndex
        for kind in ("inputs", "outputs"):
            assert [(p["name"], p["tensor"]) for p in ours[kind]] == [(p.name.decode(), all_ids[p.tensorIndex]) for p in getattr(theirs, kind)]
    assert shown["outside_buffers"] == sum(b.offset > 1 for b in model.buffers), path
    return len(graph.tensors), len(graph.operators), shown["outside_buffers"]


# (b) Every tensor.
def check_every_tensor(folder, path, inputs):
    out = f"{folder}/{os.path.basename(path)}.recording"
    arguments = ["run", path, "--target", "tflite:ref", "--marks", "all", "-o", out, "--quiet"]
    for name, array in inputs.items():
        np.save(f"{folder}/input.npy", array)
        arguments += ["--input", f"{name}={folder}/input.npy"]
    run(arguments)
    info, (recorded,) = samples(out)
    interpreter = Interpreter(path, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, experimental_preserve_all_tensors=True, num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    model = schema.ModelT.InitFromPackedBuf(open(path, "rb").read(), 0)
    graph, ids = model.subgraphs[0], ids_of(model.subgraphs[0])
    made = [o for op in graph.operators for o in op.outputs]
    for index in made:
        theirs = interpreter.get_tensor(index)
        ours = recorded.get(ids[index])
        assert ours is not None, f"{path}: {ids[index]} was not recorded"
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes(), f"{path}: {ids[index]} differs"
    entries = {t["name"]: t for t in info["tensors"]}
    for i, op in enumerate(graph.operators):
        for o in op.outputs:
            assert entries[ids[o]]["node"].startswith(f"{i}:"), (path, ids[o])
            check_quantisation(f"{path} {ids[o]}", entries[ids[o]], graph.tensors[o].quantization)
    return len(made)


# (c) The three-way table.
def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def ranked_groups(codes, k=5):
    """Classes by descending value until k are there; equal ones are in no order."""
    groups = []
    for value in sorted(set(codes.tolist()), reverse=True):
        if sum(map(len, groups)) >= k:
            break
        groups.append(frozenset(np.flatnonzero(codes == value).tolist()))
    return groups


def pair_figures(a, b, scale, zero_point):
    step = np.abs(a.astype(np.int64) - b.astype(np.int64)).ravel()
    first, second = (softmax((x.astype(np.float64).ravel() - zero_point) * scale) for x in (a, b))
    # Applications dequantise in float32, which moves probabilities by 1e-7.
    as_applications = [softmax(((x.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)).astype(np.float64).ravel()) for x in (a, b)]
    difference = float(np.abs(first - second).max())
    assert abs(difference - float(np.abs(as_applications[0] - as_applications[1]).max())) < 1e-6
    order = [list(np.argsort(-p, kind="stable")[:5]) for p in (first, second)]
    groups = [ranked_groups(x.ravel()) for x in (a, b)]
    return {"differing": int((step > 0).sum()), "max_step": int(step.max()), "mean_step": float(step.mean()),
            "max_probability_difference": difference, "same_order": groups[0] == groups[1], "top": order}


def record_sides(folder, photos):
    recorded = {}
    for side in ("ref", "xnnpack", "builtin"):
        repeats = []
        for repeat in range(3):
            out = f"{folder}/{side}-{repeat}"
            arguments = ["run", LOGITS, "--target", f"tflite:{side}", "-o", out, "--quiet"]
            for photo in photos:
                arguments += ["--input", f"images={folder}/{photo}.npy"]
            run(arguments)
            repeats.append(samples(out))
        for _, other in repeats[1:]:
            for a, b in zip(repeats[0][1], other):
                assert a["class_logits"].tobytes() == b["class_logits"].tobytes(), f"{side}: repeats differ"
        recorded[side] = repeats[0]
    return recorded


def pictures(folder, shown):
    """The bytes that were fed, made with Pillow from the declared steps; their hashes are those that check froze."""
    from PIL import Image
    names = []
    for entry in shown["inputs"][0]["tensors"]:
        image = Image.open(f"{EXAMPLE}/{entry['file']}").convert("RGB")
        w, h = image.size
        s = int(224 / 256 * min(w, h))
        x, y = (w - s + 1) // 2, (h - s + 1) // 2
        pixels = np.asarray(image.crop((x, y, x + s, y + s)).resize((224, 224), Image.BICUBIC))[None]
        assert hashlib.sha256(pixels.tobytes()).hexdigest() == entry["tensor_sha256"], f"{entry['file']}: other bytes than Pillow's"
        np.save(f"{folder}/{entry['file']}.npy", pixels)
        names.append(entry["file"])
    return names


def check_three_way(folder):
    run(["check", f"{EXAMPLE}/paritas.toml", "--json", f"{folder}/check.json", "--quiet"], codes=(1,))
    shown = json.load(open(f"{folder}/check.json"))
    assert shown["verdict"] == "not judged"
    photos = pictures(folder, shown)
    recorded = record_sides(folder, photos)
    sides = {"reference": "ref", "device": "xnnpack", "builtin": "builtin"}
    output = next(t for t in recorded["ref"][0]["tensors"] if t["role"] == "output")
    scale, zero_point = output["quantisation"]["scale"][0], output["quantisation"]["zero_point"][0]
    pairs, rows = shown["all_sides"]["pairs"], 0
    assert len(pairs) == 3
    for pair in pairs:
        compared = [t for t in pair["comparison"]["tensors"] if t["role"] == "output"]
        answers = pair["tasks"][0]["result"]["rows"]
        assert len(compared) == len(answers) == len(photos) == 5
        for i, (tensor, answer) in enumerate(zip(compared, answers)):
            a, b = (recorded[sides[pair[key]]][1][i][output["name"]] for key in ("first", "second"))
            theirs = pair_figures(a, b, scale, zero_point)
            if {pair["first"], pair["second"]} == {"reference", "device"}:
                assert theirs["differing"] > 0, f"{photos[i]}: tflite:ref and tflite:xnnpack gave the same bytes"
            for key in ("differing", "max_step", "mean_step"):
                assert abs(tensor["metrics"][key] - theirs[key]) < 1e-12, (photos[i], pair["first"], pair["second"], key, tensor["metrics"][key], theirs[key])
            assert abs(answer["max_probability_difference"] - theirs["max_probability_difference"]) < 1e-12, (photos[i], answer)
            assert answer["same_order"] == theirs["same_order"], (photos[i], answer)
            for side, top in zip(("reference", "device"), theirs["top"]):
                assert [t["class"] for t in answer[side]["top"]] == top, (photos[i], side)
            rows += 1
    return rows


# (d) A network with a state.
def stepped(path, rows):
    interpreter = Interpreter(path, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1)
    interpreter.allocate_tensors()
    (port,), (output,) = interpreter.get_input_details(), interpreter.get_output_details()
    results = []
    for i in range(len(rows)):
        interpreter.set_tensor(port["index"], rows[i:i + 1])
        interpreter.invoke()
        results.append(int(interpreter.get_tensor(output["index"]).ravel()[0]))
    return results


def check_state(folder):
    base = f"{MODELS}/micro-wakeword"
    if not os.path.exists(f"{base}/hey_jarvis.tflite"):
        print("no micro-wakeword: not checked")
        return
    facts = json.load(open(f"{base}/model.json"))
    # Both orders and each alone: a state that leaks from sample to sample would show in one of them.
    each = [(s["name"], *list(s["inputs"].items())[0], *list(s["expected"].items())[0]) for s in facts["samples"]]
    rows = {name: np.load(f"{base}/{path}") for name, _, path, _, _ in each}
    calls = min(len(a) for a in rows.values())
    for target in ("tflite:ref", "tflite:xnnpack"):
        for name, port, path, output, wanted in each:
            out = f"{folder}/{name}-{target[7:]}"
            run(["run", f"{base}/hey_jarvis.tflite", "--target", target, "--steps", "--input", f"{port}={base}/{path}", "-o", out, "--quiet"])
            (got,) = samples(out)[1]
            # What is published came from XNNPACK; the reference kernels give other scores, in LiteRT's interpreter too.
            expected = np.load(f"{base}/{wanted}").ravel() if target == "tflite:xnnpack" else stepped(f"{base}/hey_jarvis.tflite", rows[name])
            assert got[output].ravel().tolist() == list(expected), f"{name} on {target}"
    # Equal lengths, so that both fit one recording.
    for name, *_ in each:
        np.save(f"{folder}/{name}.npy", rows[name][-calls:])
    port, output = each[0][1], each[0][3]
    orders = {}
    for order in (("speech", "wake"), ("wake", "speech"), ("wake", "wake")):
        out = f"{folder}/{'-'.join(order)}"
        arguments = ["run", f"{base}/hey_jarvis.tflite", "--target", "tflite:ref", "--steps", "-o", out, "--quiet"]
        for name in order:
            arguments += ["--input", f"{port}={folder}/{name}.npy"]
        run(arguments)
        orders[order] = [s[output].ravel().tolist() for s in samples(out)[1]]
    speech, wake = orders[("speech", "wake")]
    assert orders[("wake", "speech")] == [wake, speech], "what came before changes a sample's result"
    assert orders[("wake", "wake")] == [wake, wake]
    assert wake != speech and max(wake) > 0, "the two samples cannot be told apart: leaking would not show"


# (e) One network in two formats.
def check_two_formats(folder):
    base = f"{MODELS}/basic-pitch"
    if not os.path.exists(f"{base}/nmp.tflite"):
        print("no basic-pitch: not checked")
        return
    run(["run", f"{base}/nmp.onnx", "--input", f"serving_default_input_2:0={base}/inputs/plucked.npy", "-o", f"{folder}/onnx", "--quiet"])
    for kernels in ("ref", "xnnpack"):
        run(["run", f"{base}/nmp.tflite", "--target", f"tflite:{kernels}", "--input", f"serving_default_input_2:0={base}/inputs/plucked.npy", "-o", f"{folder}/{kernels}", "--quiet"])
    (onnx,), (tflite,), (xnnpack,) = samples(f"{folder}/onnx")[1], samples(f"{folder}/ref")[1], samples(f"{folder}/xnnpack")[1]
    names = [f"StatefulPartitionedCall:{i}" for i in range(3)]
    for name in names:
        # A logarithm and a normalisation by minimum and maximum widen what other orders of summation leave.
        assert onnx[name].shape == tflite[name].shape and np.abs(onnx[name] - tflite[name]).max() < 5e-4, name
        expected = np.load(f"{base}/expected/plucked.{name.replace(':', '_')}.npy")
        assert np.abs(expected - xnnpack[name]).max() < 1e-5, name  # published from a run on XNNPACK
    assert np.abs(tflite[names[1]] - tflite[names[2]]).max() > 1e-2, "the outputs of equal shape could be swapped unseen"


def main():
    probe = subprocess.run([PARITAS, "targets"], capture_output=True, text=True).stdout
    if "TensorFlow Lite's C library was not found" in probe:
        print("skipped: no TensorFlow Lite")
        sys.exit(77)
    check_operator_names()
    files = [LOGITS]
    for folder, _, names in os.walk(MODELS):
        files += [f"{folder}/{name}" for name in sorted(names) if name.endswith(".tflite")]
    for path in files:
        tensors, ops, outside = check_container(path)
        print(f"{os.path.basename(path)}: {tensors} tensors, {ops} operators, {outside} buffers outside")
    with tempfile.TemporaryDirectory() as folder:
        generator = np.random.default_rng(1)
        print("tensors equal to LiteRT's:", check_every_tensor(folder, LOGITS, {"images": generator.integers(0, 256, (1, 224, 224, 3), np.uint8)}))
        inner = f"{MODELS}/efficientnet-lite0/efficientnet_lite0_w8a8.tflite"
        if os.path.exists(inner):
            print("tensors equal to LiteRT's:", check_every_tensor(folder, inner, {"images": generator.integers(-128, 128, (1, 224, 224, 3)).astype(np.int8)}))
        print("rows of the three-way table:", check_three_way(folder))
        check_state(folder)
        check_two_formats(folder)
    print("ok")


main()
