"""Writes files that lie about themselves into the working folder: npy, safetensors, ONNX."""

import json
import struct


def npy(path, descr, shape, data=b"", length=None):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    size = len(header) if length is None else length
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", size) + header + data)


def safetensors(path, header, data=b"", length=None):
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    size = len(text) if length is None else length
    open(path, "wb").write(struct.pack("<Q", size) + text + data)


def entry(begin, end, dtype="U8", shape=None):
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


open("empty.npy", "wb").close()
open("text.npy", "w").write("hello, I am no array at all\n")
npy("truncated.npy", "'<f4'", "(1000,)", bytes(100))
npy("header_past_end.npy", "'<f4'", "(1,)", bytes(4), length=65535)
npy("overflow.npy", "'<f8'", "(4294967296, 4294967296, 4294967296)")
npy("negative.npy", "'<f4'", "(-1,)")
npy("nested.npy", "'<f4'", "(" * 5000)
npy("object.npy", "'|O'", "(1,)", b"cos\nsystem\n(S'touch owned'\ntR.")
npy("strings.npy", "'<U8'", "(1,)", bytes(32))

open("empty.safetensors", "wb").close()
safetensors("header_past_end.safetensors", {}, length=1 << 40)
safetensors("header_overflow.safetensors", {}, length=(1 << 64) - 1)
safetensors("data_past_end.safetensors", {"a": entry(0, 100)}, bytes(10))
safetensors("overflow.safetensors", {"a": entry(0, 8, shape=[1 << 33, 1 << 33])}, bytes(8))
safetensors("nested.safetensors", '{"a":' + "[" * 5000)
safetensors("twice.safetensors", '{"a":%s,"a":%s}' % ((json.dumps(entry(0, 4)),) * 2), bytes(4))
safetensors("overlap.safetensors", {"a": entry(0, 4), "b": entry(2, 6)}, bytes(6))
safetensors("hole.safetensors", {"a": entry(0, 2), "b": entry(4, 6)}, bytes(6))
safetensors("dtype.safetensors", {"a": entry(0, 4, dtype="F5")}, bytes(4))
safetensors("size.safetensors", {"a": entry(0, 4, dtype="F32", shape=[2])}, bytes(4))
safetensors("backwards.safetensors", {"a": {"dtype": "U8", "shape": [1], "data_offsets": [4, 0]}}, bytes(4))

open("text.onnx", "w").write("hello, I am no model at all\n")
open("empty.onnx", "wb").close()
