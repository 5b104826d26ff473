"""Writes dumps that lie about themselves into the working folder, for bad_import.t."""

import base64
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def lie(source, path, old, new):
    data = Path(source).read_bytes()
    assert old in data
    Path(path).write_bytes(data.replace(old, new))


A = npy(np.ones(2, np.float32))
archive("good.npz", ("a.npy", A))
archive("bomb.npz", ("a.npy", A + bytes(10_000_000)))
archive("zeros.npz", ("a.npy", npy(np.zeros(400_000_000, np.uint8))))
archive("climbs.npz", ("../../a.npy", A))
archive("torch.npz", ("archive/data.pkl", pickle.dumps({"a": 1})))
archive("object.npz", ("a.npy", A.replace(b"'<f4'", b"'|O' ")))
archive("twice.npz", ("a.npy", A), ("b.npy", A))
lie("twice.npz", "twice.npz", b"b.npy", b"a.npy")
archive("not_utf8.npz", ("X.npy", A))
lie("not_utf8.npz", "not_utf8.npz", b"X.npy", b"\xff.npy")
size = len(A).to_bytes(4, "little")
lie("good.npz", "claims.npz", size + b"\x05\0", (1 << 31).to_bytes(4, "little") + b"\x05\0")
Path("cut.npz").write_bytes(Path("good.npz").read_bytes()[:-30])

array = '{"array": "%s", "polygraphy_class": "ndarray"}' % base64.b64encode(A).decode()
Path("names_twice.json").write_text('[{"x": %s, "x": %s}]' % (array, array))
Path("levels.json").write_text('{"lst": [], "x": ' + "[" * 10000 + "]" * 10000 + "}")
Path("cut.json").write_text('{"lst": [["r", [{"outputs": {"x": ' + array)
Path("lies.json").write_text(json.dumps([{"x": {"array": base64.b64encode(A[:-1]).decode(), "polygraphy_class": "ndarray"}}]))
Path("torch.json").write_text(json.dumps([{"x": {"array": "gAJOLg==", "polygraphy_class": "Tensor"}}]))
Path("counts.json").write_text('[{"name": "y", "dimensions": "1x3", "values": [1, 2]}]')

Path("weights.pkl").write_bytes(pickle.dumps({"a": 1}))
Path("short.raw").write_bytes(bytes(11))

for name, line in (
    ("absent", "x:=x.raw y:=gone.raw"),
    ("same", "x:=x.raw y:=x.raw"),
    ("outside", "x:=../short.raw"),
    ("absolute", "x:=/etc/hostname"),
):
    Path(name, "output/Result_0").mkdir(parents=True)
    Path(name, "x.raw").write_bytes(bytes(4))
    Path(name, "output/Result_0/y.raw").write_bytes(bytes(4))
    Path(name, "input_list.txt").write_text(line + "\n")

Path("link").mkdir()
os.symlink("/etc/hostname", "link/a.npy")
Path("shared").mkdir()
Path("shared/a.npy").write_bytes(A)
os.link("shared/a.npy", "shared/b.npy")
Path("bytes").mkdir()
Path(os.fsdecode(b"bytes/\xff.npy")).write_bytes(A)
Path("mixed").mkdir()
Path("mixed/a.npy").write_bytes(A)
Path("mixed/b.raw").write_bytes(bytes(4))
