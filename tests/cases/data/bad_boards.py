"""Boards that misbehave on square.onnx: writes NAME.toml for each, and board.py, which plays them. Run with the folder's
own Python as the first word, since a board inherits nothing but HOME and PATH."""

import sys

BOARD = '''
import os, shutil, sys, time
import numpy as np
what, inputs, output = sys.argv[1:4]
if os.path.exists(inputs + "/x.raw"):
    x = np.fromfile(inputs + "/x.raw", np.float32).reshape(1, 10)
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
if what == "environment": print(sorted(set(os.environ) - {"LC_CTYPE"})); save("y.raw", y)
if what == "together":
    for i, line in enumerate(open(inputs + "/input_list.txt")):
        x = np.fromfile(inputs + "/" + line.strip().split(":=")[1], np.float32).reshape(1, 10)
        save(f"Result_{i}/y.raw", np.sqrt(x * x) + x)
if what == "each": save("y.raw", y * (1 + int(sys.argv[4])))
'''

EXTRA = {
    "slow": "timeout_s = 1\n",
    "short": "outputs = { dtypes = { y = \"float32\" }, shapes = { y = [1, 10] } }\n",
    "endless": "max_output_mib = 4\n",
    "environment": "environment = { BOARD = \"{sample}\" }\ninherit = [\"PATH\"]\n",
    "together": """samples = "together"
before = [["mkdir", "{output}/Result_0", "{output}/Result_1"]]
after = [["touch", "{folder}/pulled"]]
version = ["echo", "board 7"]
""",
    "other": "outputs = { dtype = \"float32\" }\n",
}

open("board.py", "w").write(BOARD)
for name in ["good", "slow", "fails", "short", "endless", "talks", "other", "otherdims", "crash", "nothing", "environment", "each", "together"]:
    words = [sys.executable, "{folder}/board.py", name, "{inputs}", "{output}"] + (["{sample}"] if name == "each" else [])
    text = f"command = {words!r}\n".replace("'", '"') + EXTRA.get(name, "")
    open(name + ".toml", "w").write(text)
