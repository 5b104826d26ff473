"""Writes the small seed files under corpus/task. Needs nothing but Python."""

import json
import struct
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus" / "task"

NAN, INF = float("nan"), float("inf")
BOX = [0, 0, 10, 10, 0.9, 1]
SHIFTED = [1, 0, 11, 10, 0.85, 1]


def rows(first, *values):
    return bytes([first]) + struct.pack(f"<{len(values)}f", *values)


SEEDS = {
    "classification": json.dumps({"type": "classification", "output": "y", "values": "logits", "k": 3,
                                  "class_names": ["a"], "quantisation": {"scale": [0.5], "zero_point": 1, "axis": 1}}),
    "detection": json.dumps({"type": "detection", "boxes": "b", "scores": "s", "labels": "l", "format": "cxcywh",
                             "units": "normalised", "threshold": 0.5, "background": "none"}),
    "command": json.dumps({"type": "command", "command": ["python3", "e.py"], "figure": "map", "timeout_s": 1}),
    "unknown_key": json.dumps({"output": "y", "values": "logits", "K": 3}),
    "number": "loading\n0.75\n",
    "numbers": 'done\n{"map": 0.5, "recall": "nan"}\n',
    "labels": "# ids\n3\n4\n",
    "huge_number": "1e999",
    "logits": rows(0, 1, 2, 3, 4, 1, 2, 4, 3),
    "probabilities": rows(0, 0.5, 0.25, 0.125, 0.125, 0.25, 0.5, 0.125, 0.125),
    "tie": rows(0, 1, 1, 0, 0, 1, 0, 0, 0),
    "nan": rows(0, 1, 2, 3, 4, 1, 2, NAN, 3),
    "infinite": rows(0, 1, 2, 3, -INF, 1, 2, INF, 3),
    "dead": rows(0, *[0] * 8),
    "boxes": rows(0, *BOX, *SHIFTED),
    "boxes_yxyx": rows(6, *BOX, *BOX),
    "boxes_xywh": rows(2, *BOX, 50, 50, 9, 9, 0.5, 0, *SHIFTED, 50, 50, 9, 8, 0.24, 0),
    "relabelled": rows(0, *BOX, *BOX[:5], 2),
    "lost": rows(0, *BOX, *BOX[:4], 0.1, 1),
    "nan_box": rows(0, *BOX, NAN, *BOX[1:]),
    "nan_score": rows(0, *BOX, *BOX[:4], NAN, 1),
    "no_area": rows(0, *BOX, 10, 0, 0, 10, 0.9, 1),
    "huge": rows(1, -3e38, -3e38, 3e38, 3e38, 0.9, 1, -3e38, -3e38, 3e38, 3e38, 0.9, 1),
}

FOLDER.mkdir(parents=True, exist_ok=True)
for name, content in SEEDS.items():
    (FOLDER / name).write_bytes(content if isinstance(content, bytes) else content.encode())
