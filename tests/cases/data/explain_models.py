"""Small float and QDQ models for `paritas explain`, with inputs, into the working folder.

float.onnx: Conv + Clip, a residual Add, boxes and scores concatenated. quantised.onnx: its QDQ copy with planted faults:
conv   Clip folded into the quantiser (its bound is no saturation); weights per channel: healthy
pt     weights per tensor, one wide channel: weights
narrow the quantiser holds half of the range: activations
sum    a residual sum with one large value: outliers
cat    boxes to 640 and scores to 1 before one quantiser: shared scale
"""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

N = 8
rng = np.random.default_rng(7)
w_conv = rng.normal(0, 0.5, (N, N, 1, 1)).astype(np.float32)
w_pt = rng.normal(0, 0.01, (N, N, 1, 1)).astype(np.float32)
w_pt[3] *= 100
w_narrow = rng.normal(0, 0.5, (N, N, 1, 1)).astype(np.float32)
images = [rng.uniform(0, 4, (1, N, 16, 16)).astype(np.float32) for _ in range(2)]
six, zero = np.float32(6), np.float32(0)


def conv(x, w):
    return np.einsum("oi,nihw->nohw", w[:, :, 0, 0], x)


def constants(**arrays):
    return [nh.from_array(np.asarray(value), name) for name, value in arrays.items()]


# What the quantisers need to hold. The spike sits where both samples have a value.
a = [np.clip(conv(x, w_conv), 0, 6) for x in images]
spike = np.zeros((1, N, 16, 16), np.float32)
spike.flat[int(np.argmax(np.minimum(*a)))] = 100

info = [h.make_tensor_value_info("x", T.FLOAT, [1, N, 16, 16])]
outs = [h.make_tensor_value_info(n, T.FLOAT, None) for n in ("p", "n", "sum", "cat")]
nodes = [h.make_node("Conv", ["x", "w_conv"], ["c"], name="conv"), h.make_node("Clip", ["c", "lo", "hi"], ["a"], name="clip"),
         h.make_node("Conv", ["a", "w_pt"], ["p"], name="pt"), h.make_node("Conv", ["a", "w_narrow"], ["n"], name="narrow"),
         h.make_node("Mul", ["a", "spike"], ["m"], name="mul"), h.make_node("Add", ["m", "a"], ["sum"], name="sum"),
         h.make_node("Sigmoid", ["n"], ["scores"], name="scores"), h.make_node("Mul", ["x", "wide"], ["boxes"], name="boxes"),
         h.make_node("Concat", ["boxes", "scores"], ["cat"], name="cat", axis=1)]
init = constants(w_conv=w_conv, w_pt=w_pt, w_narrow=w_narrow, lo=zero, hi=six, spike=spike, wide=np.float32(160))
graph = h.make_graph(nodes, "g", info, outs, init)
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "float.onnx")

values = {"a": a, "p": [conv(v, w_pt) for v in a], "n": [conv(v, w_narrow) for v in a], "m": [v * spike for v in a]}
values["sum"] = [m + v for m, v in zip(values["m"], a)]


def asked(tensors):
    low, high = min(0, *(t.min() for t in tensors)), max(0, *(t.max() for t in tensors))
    scale = (high - low) / 255
    return np.float32(scale), np.uint8(np.rint(-low / scale))


ranges = {"x": asked(images), "a": (np.float32(6 / 255), np.uint8(0)), "p": asked(values["p"]), "sum": asked(values["sum"]),
          "cat": (np.float32(640 / 255), np.uint8(0))}
ranges["n"] = asked([t * 0.5 for t in values["n"]])
qnodes, qinit = [], constants(lo=zero, hi=six, spike=spike, wide=np.float32(160))


def quantise(name):
    """Quantiser of a value, named as ONNX Runtime's."""
    scale, point = ranges[name]
    qinit.extend(constants(**{f"{name}_scale": scale, f"{name}_zero_point": point}))
    for op, source, end in (("QuantizeLinear", name, "Quantize"), ("DequantizeLinear", f"{name}_QuantizeLinear_Output", "Dequantize")):
        qnodes.append(h.make_node(op, [source, f"{name}_scale", f"{name}_zero_point"], [f"{name}_{end}Linear_Output"],
                                  name=f"{name}_{end}Linear"))
    return f"{name}_DequantizeLinear_Output"


def weight(name, w, per_channel):
    top = np.abs(w).max(axis=(1, 2, 3)) if per_channel else np.abs(w).max()
    scale = np.asarray(top / 127, np.float32)
    full = scale.reshape(-1, 1, 1, 1) if per_channel else scale
    codes = np.clip(np.rint(w / full), -127, 127).astype(np.int8)
    qinit.extend(constants(**{f"{name}_quantized": codes, f"{name}_scale": scale, f"{name}_zero_point": np.zeros_like(scale, np.int8)}))
    qnodes.append(h.make_node("DequantizeLinear", [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"],
                              [f"{name}_DequantizeLinear_Output"], name=f"{name}_DequantizeLinear", axis=0))
    return f"{name}_DequantizeLinear_Output"


x = quantise("x")
qnodes.append(h.make_node("Conv", [x, weight("w_conv", w_conv, True)], ["a"], name="conv"))
act = quantise("a")
qnodes.append(h.make_node("Conv", [act, weight("w_pt", w_pt, False)], ["p"], name="pt"))
p = quantise("p")
qnodes.append(h.make_node("Conv", [act, weight("w_narrow", w_narrow, True)], ["n"], name="narrow"))
n = quantise("n")
qnodes.append(h.make_node("Mul", [act, "spike"], ["m"], name="mul"))
qnodes.append(h.make_node("Add", ["m", act], ["sum"], name="sum"))
s = quantise("sum")
qnodes.append(h.make_node("Sigmoid", [n], ["scores"], name="scores"))
qnodes.append(h.make_node("Mul", [x, "wide"], ["boxes"], name="boxes"))
qnodes.append(h.make_node("Concat", ["boxes", "scores"], ["cat"], name="cat", axis=1))
c = quantise("cat")
outs = [h.make_tensor_value_info(o, T.FLOAT, None) for o in (p, n, s, c)]
graph = h.make_graph(qnodes, "g", info, outs, qinit)
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "quantised.onnx")
for i, image in enumerate(images):
    np.save(f"x{i}.npy", image)
