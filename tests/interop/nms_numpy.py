"""Checks the margins that `paritas locate` gives for NonMaxSuppression against numpy.

Boxes and scores are products, so that float16 rounds them; crowded boxes with near ties make the device keep others. The greedy
rule is written here anew: once on the reference's numbers, once on the rounded ones. What is kept on one side only, what follows
from it, every margin, what it is of and against which box must come out alike, for corners and for centres, with and without a
score threshold, and with a limit that is reached.

usage: nms_numpy.py PARITAS
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BOXES, CLASSES = 120, 2
THIRD = np.float32(1 / 3)


def check(holds, what):
    check.count += 1
    if not holds:
        sys.exit(f"FAILED: {what}")


check.count = 0


def f16(values):
    return np.asarray(values, np.float32).astype(np.float16).astype(np.float32)


def model(most, iou, score, center):
    constants = {"third": THIRD, "most": np.array([most], np.int64), "iou": np.array([iou], np.float32)}
    inputs = ["boxes", "scores", "most", "iou"]
    if score is not None:
        constants["score"] = np.array([score], np.float32)
        inputs.append("score")
    nodes = [helper.make_node("Mul", ["b", "third"], ["boxes"], "/m/boxes"),
             helper.make_node("Mul", ["s", "third"], ["scores"], "/m/scores"),
             helper.make_node("NonMaxSuppression", inputs, ["selected"], "/m/nms", center_point_box=int(center))]
    graph = helper.make_graph(nodes, "nms", [helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, BOXES, 4]),
                                             helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, CLASSES, BOXES])],
                              [helper.make_tensor_value_info("selected", TensorProto.INT64, [None, 3])],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def overlaps(boxes, center):
    """IoU of every pair."""
    boxes = boxes.astype(np.float64)
    if center:
        low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    else:
        low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    shared = np.clip(np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None]), 0, None).prod(-1)
    area = (high - low).prod(-1)
    return shared / (area[:, None] + area[None] - shared)


def greedy(iou, scores, most, limit, floor):
    kept = []
    for box in np.argsort(-scores, kind="stable"):
        if floor is not None and not scores[box] > floor:
            continue
        if len(kept) < most and all(iou[box, other] <= limit for other in kept):
            kept.append(int(box))
    return set(kept)


def fate(box, beside, iou, scores, most, limit, floor):
    """Whether the rule keeps the box where the others are kept as in `beside`."""
    front = [o for o in beside if o != box and (-scores[o], o) < (-scores[box], box)]
    return (floor is None or scores[box] > floor) and len(front) < most and all(iou[box, o] <= limit for o in front)


def margin(box, reference, device, iou, scores, most, limit, floor):
    """(by, of, competitor)"""
    first = {o for o in reference | device if (-scores[o], o) < (-scores[box], box)}
    if box in reference:
        ways = [(scores[box] - floor, "score threshold", None)] if floor is not None else []
        ways += [(limit - iou[box, o], "overlap", o) for o in sorted(device & first)]
        ways += [(scores[box] - scores[o], "score", o) for o in sorted(device - first)
                 if iou[box, o] > limit or len(device) >= most]
        return min(ways, key=lambda way: way[0])
    needs = [(floor - scores[box], "score threshold", None)] if floor is not None and not scores[box] > floor else []
    for other in sorted(device & first):
        if iou[box, other] > limit:
            needs.append(min((iou[box, other] - limit, "overlap", other), (scores[other] - scores[box], "score", other),
                             key=lambda way: way[0]))
    if len((device & first) - {box}) >= most:
        needs.append(min(((scores[o] - scores[box], "score", o) for o in sorted(reference & first)), key=lambda way: way[0]))
    return max(needs, key=lambda need: need[0])


def run(paritas, folder, most, iou, score, center, boxes, scores):
    onnx.save(model(most, iou, score, center), f"{folder}/nms.onnx")
    np.save(f"{folder}/b.npy", boxes)
    np.save(f"{folder}/s.npy", scores)
    done = subprocess.run([paritas, "locate", f"{folder}/nms.onnx", "--input", f"b={folder}/b.npy", "--input",
                           f"s={folder}/s.npy", "--device", "sim:fp16", "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"paritas locate ended with {done.returncode}: {done.stderr}")
    found = [d for d in json.loads(done.stdout)["decisions"] if d["op"] == "NonMaxSuppression"]
    check(len(found) == 1, f"one decision, not {found}")
    return found[0]["tie"]


def check_case(paritas, folder, seed, most, iou, score, center):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 120, (BOXES, 2))
    size = rng.uniform(8, 20, (BOXES, 2))
    corner[: BOXES // 2] = corner[BOXES // 2:] + rng.uniform(-3, 3, (BOXES // 2, 2))  # one of two suppresses the other
    boxes = np.concatenate([corner, size if center else corner + size], 1)[None].astype(np.float32)
    scores = (rng.uniform(0.5, 1, (1, CLASSES, BOXES)) + rng.integers(0, 2, (1, CLASSES, BOXES)) * 1e-4).astype(np.float32)
    scores[..., : BOXES // 2] = scores[..., BOXES // 2:] - np.float32(2e-4)  # rounded alike, the lower index comes first
    tie = run(paritas, folder, most, iou, score, center, boxes, scores)
    limit, floor = np.float32(iou), None if score is None else np.float32(score)
    exact, rounded = boxes[0] * THIRD, f16(f16(boxes[0]) * f16(THIRD))
    pairs, pairs16 = overlaps(exact, center), overlaps(rounded, center)
    floor16 = None if score is None else f16(floor)
    got = {(b["class"], b["box"]): b for b in tie["boxes"]}
    expected, largest = 0, None
    for c in range(CLASSES):
        s, s16 = (scores[0, c] * THIRD).astype(np.float64), f16(f16(scores[0, c]) * f16(THIRD)).astype(np.float64)
        reference = greedy(pairs, s, most, limit, floor)
        device = greedy(pairs16, s16, most, f16(limit), floor16)
        for box in sorted(reference ^ device):
            expected += 1
            row = got.get((c, box))
            check(row is not None and row["kept"] == (box in reference), f"class {c}, box {box} changed: {row}")
            follows = fate(box, device, pairs, s, most, limit, floor) == (box in device)
            check(row["follows"] == follows, f"class {c}, box {box}: follows {row['follows']}, numpy {follows}")
            if follows:
                check(row["margin"] is None, f"what follows has no margin: {row}")
                continue
            by, of, competitor = margin(box, reference, device, pairs, s, most, limit, floor)
            check(abs(row["margin"] - by) <= 1e-9 and row["margin_of"] == of and row["competitor"] == competitor,
                  f"class {c}, box {box}: {row}, numpy {(by, of, competitor)}")
            largest = max(largest or 0, by)
    check(expected == len(got), f"{len(got)} boxes changed, numpy {expected}")
    check((tie["margin"] is None) == (largest is None) and (largest is None or abs(tie["margin"] - largest) <= 1e-9),
          f"margin {tie['margin']}, numpy {largest}")
    return expected, {b["margin_of"] for b in got.values()}, any(b["follows"] for b in got.values())


def main(paritas):
    paritas = os.path.abspath(paritas)
    changed, kinds, follows = 0, set(), False
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(5):
            for most, iou, score, center in ((BOXES, 0.4, None, False), (BOXES, 0.25, 0.25, True), (7, 0.5, 0.2, False)):
                number, of, some = check_case(paritas, folder, seed, most, iou, score, center)
                changed, kinds, follows = changed + number, kinds | of, follows or some
    check(changed >= 20 and {"score", "overlap"} <= kinds and follows,
          f"the cases must show every kind: {changed} boxes, {kinds}, follows {follows}")
    print(f"{check.count} checks, {changed} boxes that changed")


if __name__ == "__main__":
    main(sys.argv[1])
