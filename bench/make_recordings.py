#!/usr/bin/env python3
"""Writes two recordings (schema paritas.run/1) of many small tensors: FOLDER/reference and FOLDER/device.

usage: make_recordings.py FOLDER [TENSORS] [ELEMENTS]
"""
import hashlib
import json
import os
import sys

import numpy as np


def write(folder: str, arrays: dict) -> None:
    os.makedirs(folder, exist_ok=True)
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in arrays.values())
    with open(os.path.join(folder, "sample-000000.safetensors"), "wb") as file:
        file.write(data)
    run = {
        "schema": "paritas.run/1",
        "model": {"path": "made.onnx", "sha256": ""},
        "tensors": [{"name": name, "dtype": "float32", "role": "output"} for name in arrays],
        "samples": [{
            "file": "sample-000000.safetensors",
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
            "shapes": {name: list(array.shape) for name, array in arrays.items()},
        }],
    }
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump(run, file)


def main() -> None:
    folder = sys.argv[1]
    tensors = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    elements = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rng = np.random.default_rng(3)
    reference = {f"layer{i}/output": rng.normal(size=elements).astype(np.float32) for i in range(tensors)}
    device = {name: (a + 1e-4 * rng.normal(size=a.shape)).astype(np.float32) for name, a in reference.items()}
    write(os.path.join(folder, "reference"), reference)
    write(os.path.join(folder, "device"), device)


main()
