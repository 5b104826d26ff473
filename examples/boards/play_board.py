"""Plays a board: runs an ONNX model with ONNX Runtime on the files that Paritas wrote, as a tool of yours would.

play_board.py MODEL INPUTS OUTPUT: INPUTS holds one .npy file a tensor and inputs.json; OUTPUT receives NAME.npy.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime

if sys.argv[1:] == ["--version"]:
    print("play_board on onnxruntime", onnxruntime.__version__)
    sys.exit()
model, inputs, output = sys.argv[1:]
feeds = {
    entry["name"]: np.load(Path(inputs) / entry["file"]) for entry in json.loads((Path(inputs) / "inputs.json").read_text())
}
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
for info, value in zip(session.get_outputs(), session.run(None, feeds)):
    np.save(Path(output) / f"{info.name}.npy", value)
