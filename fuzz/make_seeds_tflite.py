"""Writes the seed files under corpus/tflite, with the schema classes of ai-edge-litert."""

from pathlib import Path

import flatbuffers
from ai_edge_litert import schema_py_generated as s

CORPUS = Path(__file__).parent / "corpus/tflite"


def tensor(name, kind, shape, buffer=0, scale=None, zero_point=None, axis=0, signature=None, variable=False):
    t = s.TensorT()
    t.name, t.type, t.shape, t.buffer, t.isVariable = name, kind, shape, buffer, variable
    t.shapeSignature = signature
    if scale:
        t.quantization = s.QuantizationParametersT()
        t.quantization.scale, t.quantization.zeroPoint, t.quantization.quantizedDimension = scale, zero_point, axis
    return t


def graph(tensors, ops, inputs, outputs, name="main"):
    g = s.SubGraphT()
    g.tensors, g.inputs, g.outputs, g.name, g.operators = tensors, inputs, outputs, name, []
    for code, ins, outs in ops:
        op = s.OperatorT()
        op.opcodeIndex, op.inputs, op.outputs = code, ins, outs
        g.operators.append(op)
    return g


def model(graphs, codes, buffers=(), signatures=(), outside=None):
    m = s.ModelT()
    m.version, m.description, m.subgraphs, m.operatorCodes, m.buffers = 3, "seed", graphs, [], []
    for code in codes:
        c = s.OperatorCodeT()
        if isinstance(code, str):
            c.builtinCode, c.deprecatedBuiltinCode, c.customCode = 32, 32, code
        else:
            c.builtinCode, c.deprecatedBuiltinCode = code, min(code, 127)
        m.operatorCodes.append(c)
    for data in (b"", *buffers):
        b = s.BufferT()
        b.data = list(data) if data else None
        m.buffers.append(b)
    m.signatureDefs = list(signatures)
    if outside:
        m.buffers[-1].data, m.buffers[-1].offset, m.buffers[-1].size = None, *outside
    builder = flatbuffers.Builder(0)
    builder.Finish(m.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def signature(inputs, outputs):
    d = s.SignatureDefT()
    d.signatureKey, d.subgraphIndex = "serve", 0
    for attribute, ports in (("inputs", inputs), ("outputs", outputs)):
        maps = []
        for name, index in ports:
            p = s.TensorMapT()
            p.name, p.tensorIndex = name, index
            maps.append(p)
        setattr(d, attribute, maps)
    return d


F32, I8, U8 = s.TensorType.FLOAT32, s.TensorType.INT8, s.TensorType.UINT8
ADD, LOGISTIC, QUANTIZE, CONV, IF = 0, 14, 114, 3, 118
chain = [tensor("x", F32, [1, 3], signature=[-1, 3]), tensor("s", F32, [1, 3]), tensor("z", F32, [1, 3])]
SEEDS = {
    "chain": model([graph(chain, [(0, [0, 0], [1]), (1, [1], [2])], [0], [2])], [ADD, LOGISTIC]),
    "signature": model([graph(chain, [(0, [0, 0], [1]), (1, [1], [2])], [0], [2])], [ADD, LOGISTIC], signatures=[signature([("a", 0)], [("b", 2)])]),
    "quantised": model([graph([tensor("x", I8, [1, 4], scale=[0.5], zero_point=[-1]), tensor("y", U8, [1, 4], scale=[0.5], zero_point=[127])],
                              [(0, [0], [1])], [0], [1])], [QUANTIZE]),
    "channels": model([graph([tensor("x", I8, [1, 1, 1, 2], scale=[1.0], zero_point=[0]),
                              tensor("w", I8, [2, 1, 1, 2], buffer=1, scale=[0.5, 0.25], zero_point=[0, 0]), tensor("y", I8, [1, 1, 1, 2])],
                             [(0, [0, 1, -1], [2])], [0], [2])], [CONV], [bytes([1, 2, 3, 4])]),
    "graphs": model([graph(chain, [(0, [0], [1]), (1, [1], [2])], [0], [2]), graph(chain, [(1, [0], [2])], [0], [2], "body")], [IF, LOGISTIC]),
    "custom": model([graph(chain, [(0, [0], [1]), (0, [1], [2])], [0], [2])], ["MyOp"]),
    "same_names": model([graph([tensor("x", F32, [2]), tensor("x", F32, [2]), tensor("", F32, [2], variable=True)], [(0, [0, 2], [1])], [0], [1])], [ADD]),
}
plain = model([graph([tensor("x", F32, [1]), tensor("w", F32, [2], buffer=1), tensor("y", F32, [2])], [(0, [0, 1], [2])], [0], [2])], [ADD], [b"12345678"], outside=(1, 8))
at = (len(plain) + 127) // 16 * 16
with_room = model([graph([tensor("x", F32, [1]), tensor("w", F32, [2], buffer=1), tensor("y", F32, [2])], [(0, [0, 1], [2])], [0], [2])], [ADD], [b"12345678"], outside=(at, 8))
SEEDS["outside"] = with_room + b"\0" * (at - len(with_room)) + b"12345678"

CORPUS.mkdir(parents=True, exist_ok=True)
for name, data in SEEDS.items():
    (CORPUS / name).write_bytes(data)
