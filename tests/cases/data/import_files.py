"""Writes small dumps in the layouts of other tools into the working folder, for import.t."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent))

X = np.array([[1, 2, 3]], np.float32)
Y = X * X


def model(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("/sq/y", TensorProto.FLOAT, [1, 3])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, [1])
    nodes = [helper.make_node("Mul", ["x", "x"], ["/sq/y"])]
    nodes.append(helper.make_node("ArgMax", ["/sq/y"], ["label"], axis=1, keepdims=0))
    graph = helper.make_graph(nodes, "g", [x], [y, label])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write(path, array):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    array.tofile(path)


model("model.onnx")
np.savez_compressed("results.npz", **{"/sq/y": Y, "label": np.array([2])})

for number in range(2):
    folder = Path(f"case/test_data_set_{number}")
    folder.mkdir(parents=True)
    onnx.save_tensor(numpy_helper.from_array(X, "x"), folder / "input_0.pb")
    onnx.save_tensor(numpy_helper.from_array(Y, ""), folder / "output_0.pb")

for number in range(2):
    write(f"snpe/inputs/{number}.raw", X)
    write(f"snpe/output/Result_{number}/sq/y.raw", Y)
    write(f"snpe/output/Result_{number}/label.raw", np.array([2], np.float32))
Path("snpe/input_list.txt").write_text("x:=inputs/0.raw\nx:=inputs/1.raw\n")

Path("trt.json").write_text(
    """[
  { "name" : "/sq/y"
  , "dimensions" : "1x3"
  , "values" : [ 1, 4, 9 ]
  }
, { "name" : "label"
  , "dimensions" : "1"
  , "values" : [ 2 ]
  }
]
"""
)
write("trt_raw/x.input.1.3.Float.raw", X)
write("trt_raw/_sq_y.output.1.3.Half.raw", Y.astype(np.float16))
write("scores.raw", Y)
