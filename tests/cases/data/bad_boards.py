"""Boards that misbehave on square.onnx: writes NAME.toml for each, and board.py, which plays them. Run with the folder's
own Python as the first word, since a board inherits nothing but HOME and PATH."""

import sys

BOARD = '''
import os, shutil, sys, time
import numpy as np
what, inputs, output = sys.argv[1:4]
x = np.load(inputs + "/x.npy") if os.path.exists(inputs + "/x.npy") else np.fromfile(inputs + "/x.raw", np.float32).reshape(1, 10)
y = np.sqrt(x * x) + x
def save(name, value): value.astype(np.float32).tofile(output + "/" + name)
if what == "good": save("y.raw", y)
if what == "slow": time.sleep(60)
if what == "fails": print("no device found", file=sys.stderr); sys.exit(3)
if what == "short": save("y.raw", y[:, :7])
if what == "endless":
    with open(output + "/y.raw", "ab") as file:
        while True: file.write(bytes(1 << 16))
if what == "talks":
    while True: print("waiting for device " * 1000)
if what == "other": save("z.raw", y)
if what == "otherdims": np.save(output + "/y.npy", np.zeros((1, 12), np.float32))
if what == "crash": save("y.raw", y); os.abort()
if what == "nothing": print("done")
if what == "environment": print(sorted(os.environ)); save("y.raw", y)
if what == "each": save("y.raw", y * (1 + int(sys.argv[4])))
'''

EXTRA = {
    "slow": "timeout_s = 1\n",
    "short": "outputs = { dtypes = { y = \"float32\" }, shapes = { y = [1, 10] } }\n",
    "endless": "max_output_mib = 4\n",
    "environment": "environment = { BOARD = \"{sample}\" }\ninherit = [\"PATH\"]\n",
    "other": "outputs = { dtype = \"float32\" }\n",
}

open("board.py", "w").write(BOARD)
for name in ["good", "slow", "fails", "short", "endless", "talks", "other", "otherdims", "crash", "nothing", "environment", "each"]:
    words = [sys.executable, "{folder}/board.py", name, "{inputs}", "{output}"] + (["{sample}"] if name == "each" else [])
    text = f"command = {words!r}\n".replace("'", '"') + EXTRA.get(name, "")
    open(name + ".toml", "w").write(text)
