"""Checks softmax, top-k, agreement, accuracy and box matching of the task checks against numpy.

usage: task_numpy.py PARITAS-TASK-DUMP

Nothing here knows how the library computes: the definitions of docs/task-checks.md are written down once more. Random
cases, among them many ties, quantised outputs, NaN, batches and every box format; then, where the models are there,
real outputs. Exit code 77 means skipped.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

TOLERANCE = 1e-12
Z = 1.959963984540054


class Cases:
    def __init__(self, folder):
        self.folder, self.entries, self.checks = folder, [], []

    def save(self, array):
        path = os.path.join(self.folder, f"{len(os.listdir(self.folder))}.npy")
        np.save(path, array)
        return path

    def add(self, task, reference, device, check, labels=None):
        entry = {"task": task, "reference": {k: self.save(v) for k, v in reference.items()},
                 "device": {k: self.save(v) for k, v in device.items()}}
        if labels is not None:
            entry["labels"] = self.save(np.asarray(labels, dtype=np.int64))
        self.entries.append(entry)
        self.checks.append(check)


def close(a, b, what, tolerance=TOLERANCE):
    a, b = float(a), float(b)
    if not (a == b or abs(a - b) <= tolerance * max(1, abs(a), abs(b))):
        raise AssertionError(f"{what}: {a!r} is not {b!r}")


def figures(result):
    return {f["name"]: float(f["value"]) for f in result["outcome"]["figures"]}


def equal_figures(result, expected, absent):
    found = figures(result)
    for name, value in expected.items():
        if name not in found:
            raise AssertionError(f"{name} is absent: {[a for a in result['outcome']['absent'] if a['name'] == name]}")
        close(found[name], value, name)
    names = {a["name"] for a in result["outcome"]["absent"]}
    for name in absent:
        if name not in names or name in found:
            raise AssertionError(f"{name} should be absent")


# --- classification ---------------------------------------------------------------------------------------------------

def softmax(logits):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def top_state(x, y, k):
    """same, undecided or different: by trying out what ties allow."""
    def sets(v):
        edge = np.sort(v)[::-1][k - 1]
        return set(np.flatnonzero(v > edge)), set(np.flatnonzero(v >= edge))
    (sure_x, may_x), (sure_y, may_y) = sets(x), sets(y)
    # With no more candidates than places, a set is certain.
    sure_x, sure_y = (may_x if len(may_x) == k else sure_x), (may_y if len(may_y) == k else sure_y)
    if sure_x == sure_y and may_x == may_y:
        return "same"
    needed, allowed = sure_x | sure_y, may_x & may_y
    return "undecided" if needed <= allowed and len(needed) <= k <= len(allowed) else "different"


def same_order(x, y, k):
    def groups(v):
        edge = np.sort(v)[::-1][k - 1]
        return [tuple(np.flatnonzero(v == level)) for level in np.unique(v[v >= edge])[::-1]]
    return groups(x) == groups(y)


def wilson(successes, trials):
    p = successes / trials
    centre = (p + Z * Z / (2 * trials)) / (1 + Z * Z / trials)
    half = Z * math.sqrt(p * (1 - p) / trials + Z * Z / (4 * trials * trials)) / (1 + Z * Z / trials)
    return centre - half, centre + half


def expect_classification(x, y, p, q, k, labels):
    rows, classes = x.shape
    constant = (x == x[:, :1]).all(axis=1)
    both = constant & (y == y[:, :1]).all(axis=1)
    first = ["undecided" if b else top_state(a, c, 1) for a, c, b in zip(x, y, both)]
    expected, absent = {}, []
    if constant.all():
        absent += ["top1_agreement", "max_probability_difference"]
    else:
        expected["top1_agreement"] = first.count("same") / rows
        expected["top1_undecided"] = first.count("undecided")
        expected["top1_agreement_low"] = max(0, wilson(first.count("same"), rows)[0])
        difference = np.abs(q - p)
        expected["max_probability_difference"] = difference.max()
        expected["mean_probability_difference"] = difference.mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0)
        expected["max_kl_divergence"] = max(0, (terms - p + q).sum(axis=1).max())
        if k < classes:
            several = ["undecided" if b else top_state(a, c, k) for a, c, b in zip(x, y, both)]
            expected["topk_agreement"] = several.count("same") / rows
            expected["topk_order_agreement"] = sum(
                same_order(a, c, k) and not b for a, c, b in zip(x, y, both)) / rows
        else:
            absent.append("topk_agreement")
    if labels is not None:
        def right(v):
            best = v == v.max(axis=1, keepdims=True)
            return np.array([b.sum() == 1 and b[l] for b, l in zip(best, labels)])
        expected["reference_accuracy"] = right(x).mean()
        expected["device_accuracy"] = right(y).mean()
    return expected, absent


def classification_case(cases, rng):
    rows, classes, k = int(rng.integers(1, 40)), int(rng.integers(3, 12)), int(rng.integers(1, 6))
    task = {"type": "classification", "output": "y", "values": "logits", "k": k}
    labels = rng.integers(0, classes, rows) if rng.random() < 0.5 else None
    kind = rng.choice(["float", "ties", "uint8", "probabilities", "half"])
    if kind == "probabilities":
        task["values"] = "probabilities"
        x = softmax(rng.normal(size=(rows, classes)) * 3)
        y = softmax(np.log(x) + rng.normal(size=x.shape) * 0.1)
        raw_x, raw_y, p, q = x, y, x, y
    elif kind == "uint8":
        scale, zero = 0.0625 * int(rng.integers(1, 9)), int(rng.integers(0, 255))
        task["quantisation"] = {"scale": scale, "zero_point": zero}
        raw_x = rng.integers(100, 130, (rows, classes)).astype(np.uint8)
        raw_y = np.clip(raw_x.astype(int) + rng.integers(-2, 3, raw_x.shape), 0, 255).astype(np.uint8)
        x, y = (raw_x.astype(float) - zero) * scale, (raw_y.astype(float) - zero) * scale
    else:
        dtype = np.float16 if kind == "half" else np.float32
        raw_x = (rng.integers(-3, 4, (rows, classes)) if kind == "ties" else
                 rng.normal(size=(rows, classes)) * 5).astype(dtype)
        noise = rng.integers(0, 2, raw_x.shape) if kind == "ties" else rng.normal(size=raw_x.shape) * 0.5
        raw_y = (raw_x.astype(float) + noise).astype(dtype)
        x, y = raw_x.astype(float), raw_y.astype(float)
    if kind != "probabilities":
        p, q = softmax(x), softmax(y)
    expected, absent = expect_classification(x, y, p, q, k, labels)
    cases.add(task, {"y": raw_x}, {"y": raw_y}, lambda r: equal_figures(r, expected, absent), labels)


# --- detection --------------------------------------------------------------------------------------------------------

def to_xyxy(boxes, form):
    a, b, c, d = np.moveaxis(boxes.astype(float), -1, 0)
    if form == "xywh":
        return np.stack([a, b, a + c, b + d], axis=-1)
    if form == "cxcywh":
        return np.stack([a - c / 2, b - d / 2, a + c / 2, b + d / 2], axis=-1)
    if form == "yxyx":
        return np.stack([b, a, d, c], axis=-1)
    return np.stack([a, b, c, d], axis=-1)


def iou_table(x, y):
    left, right = np.maximum(x[:, None, :2], y[None, :, :2]), np.minimum(x[:, None, 2:], y[None, :, 2:])
    common = np.clip(right - left, 0, None).prod(axis=-1)
    def area(b):
        return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return common / (area(x)[:, None] + area(y)[None, :] - common)


def greedy(table, min_iou):
    """Repeatedly takes the largest overlap: rows, columns and IoU."""
    table, pairs = table.copy(), []
    while table.size:
        r, d = np.unravel_index(np.argmax(table), table.shape)
        if table[r, d] < min_iou or table[r, d] <= 0:
            break
        pairs.append((r, d, table[r, d]))
        table[r, :] = table[:, d] = -1
    return pairs


def valid(boxes, scores, threshold):
    with np.errstate(invalid="ignore"):
        return (scores > threshold) & np.isfinite(boxes).all(axis=-1) & (boxes[:, 2] > boxes[:, 0]) & (
            boxes[:, 3] > boxes[:, 1])


def match(x, y, threshold, min_iou=0.5):
    (bx, sx, lx), (by, sy, ly) = ((b[v], s[v], c[v]) for b, s, c in (x, y) for v in [valid(b, s, threshold)])
    table = np.where(lx[:, None] == ly[None, :], iou_table(bx, by), 0) if len(bx) and len(by) else np.zeros((0, 0))
    return bx, by, sx, sy, lx, ly, greedy(table, min_iou)


def expect_detection(images, threshold):
    total = dict(valid_boxes=0, device_boxes=0, matched=0, unmatched_reference=0, unmatched_device=0)
    overlaps, differences, top = [], [], []
    for x, y in images:
        bx, by, sx, sy, lx, ly, pairs = match(x, y, threshold)
        total["valid_boxes"] += len(bx)
        total["device_boxes"] += len(by)
        total["matched"] += len(pairs)
        total["unmatched_reference"] += len(bx) - len(pairs)
        total["unmatched_device"] += len(by) - len(pairs)
        overlaps += [o for _, _, o in pairs]
        differences += [abs(sx[r] - sy[d]) for r, d, _ in pairs]
        if len(bx) or len(by):
            top.append(len(bx) > 0 and len(by) > 0 and set(lx[sx == sx.max()]) == set(ly[sy == sy.max()]))
    total["unmatched"] = total["unmatched_reference"] + total["unmatched_device"]
    if total["valid_boxes"] + total["device_boxes"] == 0:
        return dict(valid_boxes=0), ["unmatched", "matched_iou_min", "same_top_class", "max_score_difference"]
    total["same_top_class"] = float(all(top))
    if total["unmatched"] == 0:
        total.update(matched_iou_min=min(overlaps), matched_iou_mean=np.mean(overlaps),
                     max_score_difference=max(differences), mean_score_difference=np.mean(differences))
        return total, []
    return total, ["matched_iou_min", "max_score_difference"]


def random_boxes(rng, batch, rows):
    corner, size = rng.uniform(0, 100, (batch, rows, 2)), rng.uniform(5, 60, (batch, rows, 2))
    return np.concatenate([corner, corner + size], axis=-1)


def from_xyxy(boxes, form):
    x1, y1, x2, y2 = np.moveaxis(boxes, -1, 0)
    parts = {"xyxy": [x1, y1, x2, y2], "xywh": [x1, y1, x2 - x1, y2 - y1], "yxyx": [y1, x1, y2, x2],
             "cxcywh": [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1]}
    return np.stack(parts[form], axis=-1)


def store_otherwise(rng, task, sides):
    """The same detections behind a count with rows of rubbish, and as columns: no figure may change."""
    if rng.random() < 0.4:
        task["num_detections"] = "n"
        for side in sides:
            batch, rows = side["b"].shape[:2]
            more = int(rng.integers(0, 4))
            for key, rubbish in (("b", np.nan), ("s", 17), ("l", 99)):
                tail = np.full((batch, more, *side[key].shape[2:]), rubbish).astype(side[key].dtype)
                side[key] = np.concatenate([side[key], tail], axis=1)
            side["n"] = np.full((batch, 1), rows, dtype=str(rng.choice(["int32", "int64", "float32"])))
    if rng.random() < 0.4:
        task["box_layout"] = "columns"
        for side in sides:
            side["b"] = np.ascontiguousarray(side["b"].swapaxes(1, 2))
    if sides[0]["s"].ndim == 3 and rng.random() < 0.4:
        task["score_layout"] = "columns"
        for side in sides:
            side["s"] = np.ascontiguousarray(side["s"].swapaxes(1, 2))


def detection_case(cases, rng):
    batch, rows, classes = int(rng.integers(1, 4)), int(rng.integers(1, 25)), int(rng.integers(2, 5))
    form = str(rng.choice(["xyxy", "xywh", "cxcywh", "yxyx"]))
    threshold = float(rng.choice([0.25, 0.5]))
    # "near" and "top_tie" 0: crossings and near ties are the library's own idea, and have unit tests.
    task = {"type": "detection", "boxes": "b", "scores": "s", "format": form, "threshold": threshold, "near": 0,
            "top_tie": 0}
    noise = rng.choice([0.1, 3, 20])
    true = random_boxes(rng, batch, rows)
    sides = []
    scores = rng.uniform(0, 1, (batch, rows, classes) if rng.random() < 0.4 else (batch, rows))
    labels = rng.integers(0, classes, (batch, rows))
    flip = rng.random((batch, rows)) < 0.1
    for device in (False, True):
        b = from_xyxy(true + (rng.normal(size=true.shape) * noise if device else 0), form).astype(np.float32)
        s = np.clip(scores + (rng.normal(size=scores.shape) * 0.02 if device else 0), 0, 1).astype(np.float32)
        c = np.where(flip & device, (labels + 1) % classes, labels)
        if device:
            order = rng.permutation(rows)
            b, s, c = b[:, order], s[:, order], c[:, order]
            if rng.random() < 0.2:
                b[0, 0, int(rng.integers(0, 4))] = np.nan
            if rng.random() < 0.2:
                s[(0, 0) if s.ndim == 2 else (0, 0, 0)] = np.nan
        sides.append({"b": b, "s": s, "l": c})
    images = []
    for i in range(batch):
        image = []
        for side in sides:
            s = side["s"][i].astype(float)
            label = side["l"][i] if s.ndim == 1 else s.argmax(axis=-1)
            image.append((to_xyxy(side["b"][i], form), s if s.ndim == 1 else s.max(axis=-1), label))
        images.append(image)
    if scores.ndim == 2:
        task["labels"] = "l"
    store_otherwise(rng, task, sides)
    expected, absent = expect_detection(images, threshold)
    sweep = {t: [match(x, y, t) for x, y in images] for t in (0.05, 0.3, 0.9)}

    def check(result):
        equal_figures(result, expected, absent)
        for point in result["sweep"]:
            for t, matches in sweep.items():
                if abs(point["threshold"] - t) < 1e-9:
                    close(point["matched"], sum(len(m[6]) for m in matches), f"matched at {t}")
                    close(point["reference"], sum(len(m[0]) for m in matches), f"reference at {t}")
    cases.add(task, sides[0], sides[1], check)


# --- real outputs -----------------------------------------------------------------------------------------------------

def models_folder():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("PARITAS_TEST_MODELS", os.path.join(here, "..", "..", "..", "shared", "models"))


def efficientnet_cases(cases):
    folder = os.path.join(models_folder(), "efficientnet-lite0")
    if not os.path.isdir(folder):
        print("no EfficientNet-Lite0 here: its outputs are not checked")
        return
    description = json.load(open(os.path.join(folder, "model.json")))
    for sample in description["samples"]:
        if "logits" not in sample.get("expected", {}):
            continue
        x = np.load(os.path.join(folder, sample["expected"]["logits"]))
        y = x + np.random.default_rng(5).normal(size=x.shape).astype(np.float32) * 0.1
        task = {"type": "classification", "output": "logits", "values": "logits"}
        p, q = softmax(x.astype(float)), softmax(y.astype(float))
        expected, absent = expect_classification(x.astype(float), y.astype(float), p, q, 5, None)

        def check(result, expected=expected, absent=absent, p=p, text=sample["result"]):
            equal_figures(result, expected, absent)
            top = result["rows"][0]["reference"]["top"]
            close(top[0]["probability"], p.max(), "top probability")
            if f"top-1 {top[0]['class']} " not in text and "top-1" in text:
                raise AssertionError(f"class {top[0]['class']}, but model.json says {text}")
        cases.add(task, {"logits": x}, {"logits": y}, check)
    for photo in ("chelsea", "coffee", "rocket"):
        raw = [np.fromfile(os.path.join(folder, "tflite-expected", f"{photo}.{mode}.u8.raw"), np.uint8)[None]
               for mode in ("ref", "xnnpack")]
        published = {"chelsea": 0.01374, "coffee": 0.00110, "rocket": 0.01304}[photo]
        task = {"type": "classification", "output": "y", "values": "logits",
                "quantisation": {"scale": 0.06498415768146515, "zero_point": 75}}
        cases.add(task, {"y": raw[0]}, {"y": raw[1]}, lambda r, v=published: close(
            round(figures(r)["max_probability_difference"], 5), v, "published difference", 1e-5))


def detector_cases(cases):
    """The two exports of the example detector compute the same function on a CPU, with other rounding."""
    try:
        import onnxruntime
    except ImportError:
        print("no onnxruntime here: the detector's outputs are not checked")
        return
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "detr-mini")
    feed = {name: np.load(os.path.join(folder, f"{name}.npy")) for name in ("images", "orig_target_sizes")}
    sides = []
    for model in ("detr_mini.onnx", "detr_mini_fragile.onnx"):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(os.path.join(folder, model), options, ["CPUExecutionProvider"])
        sides.append(dict(zip([o.name for o in session.get_outputs()], session.run(None, feed))))
    image = [(s["boxes"][0].astype(float), s["scores"][0].astype(float), s["labels"][0]) for s in sides]
    expected, absent = expect_detection([image], 0.25)
    task = {"type": "detection", "boxes": "boxes", "scores": "scores", "labels": "labels", "format": "xyxy"}

    def check(result):
        equal_figures(result, expected, absent)
        if expected["unmatched"] or expected["matched_iou_min"] < 0.999:
            raise AssertionError(f"equal functions differ: {expected}")
    cases.add(task, sides[0], sides[1], check)


def main():
    rng = np.random.default_rng(20240607)
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(folder)
        for _ in range(250):
            classification_case(cases, rng)
        for _ in range(250):
            detection_case(cases, rng)
        efficientnet_cases(cases)
        detector_cases(cases)
        manifest = os.path.join(folder, "manifest.json")
        with open(manifest, "w") as f:
            json.dump(cases.entries, f)
        lines = subprocess.run([sys.argv[1], manifest], check=True, capture_output=True, text=True).stdout.splitlines()
        if len(lines) != len(cases.checks):
            sys.exit(f"{len(lines)} results for {len(cases.checks)} cases")
        failures = 0
        for entry, check, line in zip(cases.entries, cases.checks, lines):
            result = json.loads(line)
            try:
                if "error" in result:
                    raise AssertionError(result["error"])
                check(result)
            except AssertionError as problem:
                failures += 1
                print(f"{entry['task']}: {problem}")
        if failures:
            sys.exit(f"{failures} of {len(lines)} cases differ")
        print(f"{len(lines)} cases agree")


main()
