"""Writes the small seed files under corpus/npy and corpus/safetensors. Needs nothing but Python."""

import json
import struct
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def npy(descr, order, shape, data, version=1):
    header = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    fixed = 10 if version == 1 else 12
    header += " " * (-(fixed + len(header) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def safetensors(header, data, pad=True):
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    text = text.encode()
    if pad:
        text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


NPY = {
    "f4": npy("'<f4'", "False", "(2, 3)", bytes(24)),
    "f4_big_fortran": npy("'>f4'", "True", "(2, 3)", bytes(range(24))),
    "f2_v2": npy("'<f2'", "False", "(4,)", bytes(8), 2),
    "i8_v3": npy("'<i8'", "True", "(1, 2, 2)", bytes(32), 3),
    "bool_scalar": npy("'|b1'", "False", "()", b"\1"),
    "empty": npy("'<f8'", "False", "(3, 0)", b""),
    "object": npy("'|O'", "False", "(1,)", b"x"),
    "structured": npy("[('a', '<f4'), ('b', '<i4')]", "False", "(1,)", bytes(8)),
    "overflow": npy("'<f8'", "False", "(4294967296, 4294967296)", b""),
    "nested": npy("'<f4'", "False", "((((((", b""),
    "truncated": npy("'<f4'", "False", "(100,)", bytes(10)),
    "long_header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
}

SAFETENSORS = {
    "two": safetensors({"a": tensor("F32", [1, 2], 0, 8), "b": tensor("F16", [], 8, 10)}, bytes(10)),
    "metadata": safetensors({"__metadata__": {"k": "v"}, "x": tensor("U8", [3], 0, 3)}, b"abc"),
    "float8": safetensors({"a": tensor("F8_E4M3", [2], 0, 2), "b": tensor("F8_E5M2", [1], 2, 3)}, bytes(3)),
    "empty_tensor": safetensors({"a": tensor("I64", [0, 4], 0, 0)}, b""),
    "none": safetensors({}, b""),
    "overlap": safetensors({"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 2, 6)}, bytes(6)),
    "hole": safetensors({"a": tensor("U8", [1], 0, 1), "b": tensor("U8", [1], 2, 3)}, bytes(3)),
    "past_the_end": safetensors({"a": tensor("U8", [9], 0, 9)}, bytes(3)),
    "overflow": safetensors({"a": tensor("U8", [1 << 32, 1 << 32], 0, 0)}, b""),
    "twice": safetensors('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{}}', b"x"),
    "nested": safetensors('{"a":' + "[" * 50, b"", pad=False),
    "long_header": struct.pack("<Q", (1 << 64) - 1) + b"{}",
}

for folder, seeds in (("npy", NPY), ("safetensors", SAFETENSORS)):
    (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (CORPUS / folder / name).write_bytes(content)
