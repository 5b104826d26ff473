"""Figures of packages: the fragile detector split for the emulated HTP, damaged packages, detections that were moved, and
published networks at automatic cuts. Cases of bench/figures."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARITAS = os.path.join(ROOT, "build/release/paritas")
DETR = os.path.join(ROOT, "examples/detr-mini")
MODELS = os.environ.get("PARITAS_TEST_MODELS") or os.path.join(ROOT, "../shared/models")
HTP = "qnn:htp,soc_model=77,htp_arch=73"
SIMULATED = ["--part", "encoder=sim:fp16", "--part", "decoder=cpu,opt=all"]
FLIPS, SEED = 200, 5


def call(*command) -> subprocess.CompletedProcess:
    return subprocess.run([PARITAS, *map(str, command)], capture_output=True, text=True)


def with_json(folder: str, *command) -> tuple:
    """(exit code, result, standard error); the result is None where none was written."""
    out = os.path.join(folder, f"{command[0]}.json")
    if os.path.exists(out):
        os.unlink(out)
    done = call(*command, "--json", out, "--no-ledger" if command[0] == "split" else "--quiet", "--quiet")
    result = None
    if os.path.exists(out):
        with open(out) as file:
            result = json.load(file)
    return done.returncode, result, done.stderr.strip()


def example(folder: str) -> str:
    """A copy of the example in `folder`: the project file."""
    shutil.copytree(DETR, f"{folder}/detr-mini")
    return f"{folder}/detr-mini/paritas.toml"


def matches(result: dict, image: str = "") -> list:
    """Matched pairs of the detection task, of one sample or of all: (IoU, score difference)."""
    images = result["chain"]["tasks"][0]["result"]["images"]
    return [(pair["iou"], abs(pair["score_difference"])) for i in images if image in ("", i["sample"]) for pair in i["matched"]]


def iou(a: np.ndarray, b: np.ndarray) -> float:
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    common = np.prod(np.maximum(high - low, 0))
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


def best_box(package: str) -> tuple:
    """(IoU, score difference) of the best box on images.npy between the package's reference and its two sessions, by
    onnxruntime and numpy alone, as an application loads them."""
    program = f"""
import json, pathlib, sys
sys.path.insert(0, {os.path.join(ROOT, "examples/package-app")!r})
import load_package
folder = pathlib.Path({package!r})
manifest = json.loads((folder / "manifest.json").read_text())
names = [port["name"] for port in manifest["inputs"] + manifest["outputs"]]
known = load_package.read_inputs([str(folder / "reference/sample-000000.safetensors")], names)
tensors = dict(known)
for part in manifest["parts"]:
    made = load_package.open_part(folder, part).run([p["name"] for p in part["outputs"]], {{p["name"]: tensors[p["tensor"]] for p in part["inputs"]}})
    tensors.update(zip((p["tensor"] for p in part["outputs"]), made))
for side in (known, tensors):
    row = side["scores"][0].argmax()
    print("RESULT", json.dumps([float(side["scores"][0, row]), side["boxes"][0, row].astype(float).tolist()]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    reference, device = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return iou(np.array(reference[1]), np.array(device[1])), abs(reference[0] - device[0])


def detector(f) -> None:
    """The fragile detector, split at its three feature maps, as examples/detr-mini/paritas.toml says."""
    with tempfile.TemporaryDirectory() as folder:
        project, package = example(folder), f"{folder}/package"
        code, made, error = with_json(folder, "split", project, "-o", package)
        if code != 0:
            raise RuntimeError(f"split: exit {code}: {made['refused'] if made else error}")
        manifest = made["manifest"]
        f.line("package, CPU halves", "equal to the whole", manifest["premise"], "bit for bit" in manifest["premise"])
        encoder = next(part for part in manifest["parts"] if part["name"] == "encoder")
        code, verified, error = with_json(folder, "verify", package)
        if verified is None:
            raise RuntimeError(f"verify: exit {code}: {error}")
        checks = {check["id"]: check for check in verified["checks"]}
        f.line("package, head on qnn:htp", "100 % on QNNExecutionProvider when compiled; fallback disabled when loaded",
               f"{encoder['placement']['nodes']} compiled, {verified['parts'][0]['placement']['nodes']} loaded; {checks['placement']['verdict']}",
               set(encoder["placement"]["nodes"]) == {"QNNExecutionProvider"} and checks["placement"]["verdict"] == "pass"
               and "fallback to the CPU disabled" in checks["placement"]["text"])
        opened = [encoder["reload_seconds"], made["verification"]["parts"][0]["open_seconds"], verified["parts"][0]["open_seconds"]]
        f.line("package, context reload", "under 0.5 s", f"{', '.join(f'{s:.3f}' for s in opened)} s in three fresh processes", min(opened) < 0.5)
        detections(f, verified, package)
        chain = verified["chain"]["comparison"]
        f.line("package, detection-device", "passes on all nine inputs", f"verify {verified['verdict']}, exit code {code}, {chain['samples']} samples",
               verified["verdict"] == "pass" and code == 0 and chain["samples"] == 9)


def detections(f, verified: dict, package: str) -> None:
    image, difference = best_box(package)
    one, all_pairs = matches(verified, "sample-000000"), matches(verified)
    agrees = len(one) == 1 and abs(one[0][0] - image) < 1e-6 and abs(one[0][1] - difference) < 1e-6
    f.line("package, verify's IoU and score difference on images.npy", "those of onnxruntime and numpy",
           f"IoU {one[0][0]:.6f} and {image:.6f}, score difference {one[0][1]:.6f} and {difference:.6f}", agrees)
    f.line("package, matched detection, images.npy, score", "difference <= 0.001", f"{one[0][1]:.6f}", one[0][1] <= 0.001)
    f.line("package, matched detection, images.npy, box", "IoU >= 0.999", f"{one[0][0]:.6f}", one[0][0] >= 0.999)
    f.note("package, matched detections, nine inputs", f"{len(all_pairs)} boxes: score differences at most {max(p[1] for p in all_pairs):.6f} "
           f"({sum(p[1] <= 0.001 for p in all_pairs)} <= 0.001), IoU at least {min(p[0] for p in all_pairs):.6f} "
           f"({sum(p[0] >= 0.999 for p in all_pairs)} >= 0.999)")


def unsplit(f) -> None:
    with tempfile.TemporaryDirectory() as folder:
        code, result, error = with_json(folder, "check", example(folder))
        if result is None:
            raise RuntimeError(f"check: exit {code}: {error}")
        f.line("the unsplit detector, detection-device", "fails, exit code 1", f"{result['verdict']}, exit code {code}: {result['reasons'][0]}",
               result["verdict"] == "deviates" and code == 1)


def sums_anew(package: str) -> None:
    import hashlib
    folder = pathlib.Path(package)
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names))


def refused(package: str, named: str) -> str:
    """Empty: verify refused the package with exit code 2 and named the file."""
    done = call("verify", package, "--quiet")
    return "" if done.returncode == 2 and named in done.stderr else f"{named}: exit {done.returncode}: {done.stderr.strip()[:200]}"


def flips(package: str) -> list:
    """One bit more or less in FLIPS random bytes; half of the places by file, half by byte. What was not refused."""
    files = sorted(p for p in pathlib.Path(package).rglob("*") if p.is_file())
    sizes, chance, wrong = [p.stat().st_size for p in files], random.Random(SEED), []
    for i in range(FLIPS):
        file = chance.choice(files) if i % 2 else chance.choices(files, sizes)[0]
        at, bit = chance.randrange(file.stat().st_size), 1 << chance.randrange(8)
        with open(file, "r+b") as data:
            data.seek(at)
            byte = data.read(1)[0]
            data.seek(at)
            data.write(bytes([byte ^ bit]))
        if problem := refused(package, file.relative_to(package).as_posix()):
            wrong.append(f"byte {at}, {problem}")
        with open(file, "r+b") as data:
            data.seek(at)
            data.write(bytes([byte]))
    return wrong


def integrity(f) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, package, other = example(folder), f"{folder}/package", f"{folder}/other"
        text = pathlib.Path(project).read_text()
        for path, content in ((package, text), (other, text.replace("detr_mini_fragile", "detr_mini"))):
            pathlib.Path(project).write_text(content)
            code, made, error = with_json(folder, "split", project, "-o", path, *SIMULATED)
            if code != 0:
                raise RuntimeError(f"split: exit {code}: {made['refused'] if made else error}")
        whole = call("verify", package, "--quiet").returncode
        wrong = flips(package)
        f.line(f"package, one bit flipped at {FLIPS} random places", "refused every time, the file named; the whole one passes",
               f"{FLIPS - len(wrong)} refused, not: {wrong or 'none'}; whole: exit code {whole}", not wrong and whole == 0)
        results = damaged(folder, package, other)
        f.line("package, a file added, removed, renamed, swapped with another model's, with the old sums and with new ones",
               "refused every time, the file named", f"{sum(not p for p in results.values())} of {len(results)} refused, not: "
               f"{ {k: v for k, v in results.items() if v} or 'none'}", not any(results.values()))


def damaged(folder: str, package: str, other: str) -> dict:
    changes = {
        "added": ("extra.bin", lambda p: (p / "extra.bin").write_bytes(b"x")),
        "removed": ("decoder.onnx", lambda p: (p / "decoder.onnx").unlink()),
        "renamed": ("decoder.onnx", lambda p: (p / "decoder.onnx").rename(p / "decoder2.onnx")),
        "swapped decoder": ("decoder.onnx", lambda p: shutil.copy(f"{other}/decoder.onnx", p / "decoder.onnx")),
        "swapped reference": ("sample-000003.safetensors", lambda p: shutil.copy(f"{other}/reference/sample-000003.safetensors", p / "reference")),
    }
    results = {}
    for name, (file, change) in changes.items():
        for sums in ("old sums", "new sums"):
            copy = f"{folder}/damaged"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(package, copy)
            change(pathlib.Path(copy))
            if sums == "new sums":
                sums_anew(copy)
            results[f"{name}, {sums}"] = refused(copy, file)
    return results


PROJECT = """schema = "paritas.project/1"
[recordings]
reference = "reference.safetensors"
device = "device.safetensors"
[pairing]
inputs_unverified = true
[[task]]
type = "detection"
name = "detections"
boxes = "boxes"
scores = "scores"
labels = "labels"
format = "xyxy"
"""
# The gates of detection-device on the task: its gate on the scores' cosine goes by rows, which may be in any order here.
GATES = [("unmatched", "<=", 0), ("matched_iou_min", ">=", 0.95), ("max_score_difference", "<=", 0.05), ("same_top_class", ">=", 1)]


def save_safetensors(path: str, tensors: dict) -> None:
    header, data = {}, b""
    for name, values in tensors.items():
        values = np.ascontiguousarray(values)
        header[name] = {"dtype": {"float32": "F32", "int64": "I64"}[values.dtype.name], "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def boxes_of(count: int, ties: bool) -> dict:
    """Boxes that overlap their neighbours a little, of three classes; with ties only five different scores."""
    chance = np.random.default_rng(count)
    cells = np.stack(np.meshgrid(np.arange(20), np.arange(15)), -1).reshape(-1, 2)[:count] * 30.0
    sizes = chance.uniform(20, 36, (count, 2))
    scores = chance.choice([0.9, 0.8, 0.7, 0.6, 0.5], count) if ties else chance.uniform(0.3, 0.95, count)
    order = np.argsort(-scores, kind="stable")
    return {"boxes": np.concatenate([cells, cells + sizes], 1)[order].astype(np.float32)[None],
            "scores": scores[order].astype(np.float32)[None], "labels": chance.integers(0, 3, count)[None].astype(np.int64)}


def rows(f) -> None:
    """Detections whose rows changed places, and ones that were moved or lost, through paritas check."""
    def permuted(t, seed):
        order = np.random.default_rng(seed).permutation(t["scores"].shape[1])
        return {name: values[:, order] for name, values in t.items()}

    def moved(t, row, part):
        boxes = t["boxes"].copy()
        boxes[0, row, [0, 2]] += part * (boxes[0, row, 2] - boxes[0, row, 0])
        return {**t, "boxes": boxes}

    def lost(t, row):
        scores = t["scores"].copy()
        scores[0, row] = 0.01
        return {**t, "scores": scores}

    few, many = boxes_of(25, False), boxes_of(300, True)
    swap = [1, 0, *range(2, 25)]
    cases = [("two rows swapped", few, {n: v[:, swap] for n, v in few.items()}, "pass"), ("25 rows in another order", few, permuted(few, 1), "pass"),
             ("300 boxes with ties in another order", many, permuted(many, 2), "pass"),
             ("a box moved by half of its width", few, permuted(moved(few, 7, 0.5), 1), "deviates"),
             ("a box moved by 5 % of its width", few, permuted(moved(few, 7, 0.05), 1), "deviates"),
             ("300 boxes with ties, one moved by 5 %", many, permuted(moved(many, 150, 0.05), 2), "deviates"),
             ("a box lost", few, lost(few, 7), "deviates"), ("300 boxes with ties, one lost", many, permuted(lost(many, 150), 2), "deviates")]
    for name, reference, device, required in cases:
        with tempfile.TemporaryDirectory() as folder:
            save_safetensors(f"{folder}/reference.safetensors", reference)
            save_safetensors(f"{folder}/device.safetensors", device)
            gates = "".join(f'[[gate]]\ntask = "*"\nmetric = "{m}"\nop = "{op}"\nvalue = {v}\n' for m, op, v in GATES)
            pathlib.Path(folder, "paritas.toml").write_text(PROJECT + gates)
            code, result, error = with_json(folder, "check", f"{folder}/paritas.toml")
            if result is None:
                raise RuntimeError(f"check: exit {code}: {error}")
            f.line(f"detections, {name}", required, f"{result['verdict']}: {'; '.join(result['tasks'][0]['reasons'][:2]) or 'every gate holds'}",
                   result["verdict"] == required and code == (0 if required == "pass" else 1))


NETWORKS = [("FastestDet", "fastestdet/FastestDet.onnx", "input.1", "cat"), ("YuNet", "yunet/yunet_n_320_320.onnx", "input", "astronaut"),
            ("ULFD", "ulfd-rfb320/version-RFB-320.onnx", "input", "astronaut"),
            ("EfficientNet-Lite0", "efficientnet-lite0/efficientnet-lite0.b1.onnx", "image", "cat_full")]


def networks(f, device: str, label: str) -> None:
    """Automatic cuts: the cheapest that holds is delivered. A split that is refused must have a reason that is true: a
    node that is not on the device, or a gate that failed."""
    for name, model, port, sample in NETWORKS:
        path = os.path.join(MODELS, model)
        what = f"{name} at automatic cuts, {label}"
        if not os.path.exists(path):
            f.skip(what, f"{path} is not there (set PARITAS_TEST_MODELS)")
            continue
        with tempfile.TemporaryDirectory() as folder:
            code, made, error = with_json(folder, "split", path, "--input", f"{port}={os.path.dirname(path)}/inputs/{sample}.npy",
                                          "--auto-cuts", 4, "--device", device, "--gate", "*: cosine>=0.99", "-o", f"{folder}/package")
            if made is None:
                f.line(what, "delivered", f"exit {code}: {error}", False)
                continue
            held = [c for c in made["candidates"] if c["allowed"]]
            others = [f"{c['name']}: {c['front_placement']}, {c['deciding']}" for c in made["candidates"] if not c["allowed"]]
            chosen = next((c for c in made["candidates"] if c["chosen"]), None)
            text = (f"{made['verdict']}; {len(held)} of {len(made['candidates'])} cuts hold" + (f", not: {others}" if others else "")
                    + (f"; chosen {chosen['name']}: {chosen['front_nodes']} + {chosen['rear_nodes']} nodes, {len(chosen['tensors'])} tensors, {chosen['bytes']:,} bytes" if chosen else "")
                    + (f"; refused: {made['refused']}" if made.get("refused") else ""))
            cheapest = chosen is not None and chosen["bytes"] == min(c["bytes"] for c in held)
            again = call("verify", f"{folder}/package", "--quiet").returncode if code == 0 else -1
            f.line(what, "delivered, at the cheapest cut that holds; verify passes", f"{text}; verify: exit code {again}",
                   made["verdict"] == "pass" and cheapest and again == 0)


CASES = [("package-htp", detector, True), ("package-unsplit-htp", unsplit, True), ("package-integrity", integrity, False), ("package-rows", rows, False),
         ("package-networks-sim", lambda f: networks(f, "sim:fp16", "sim:fp16"), False),
         ("package-networks-htp", lambda f: networks(f, HTP, "qnn:htp"), True)]
