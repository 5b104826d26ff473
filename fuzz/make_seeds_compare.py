#!/usr/bin/env python3
"""Writes the seeds of compare_result: results that paritas compare itself wrote.

usage: make_seeds_compare.py PARITAS
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus/compare_result")


def main() -> None:
    os.makedirs(FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        x = np.arange(20, dtype=np.float32)
        np.savez(f"{folder}/a.npz", f=x, q=np.arange(20, dtype=np.uint8), only=x)
        np.savez(f"{folder}/b.npz", f=np.where(x == 3, np.nan, x), q=np.arange(1, 21, dtype=np.uint8), other=x)
        for name, more in (("plain", []), ("gated", ["--inputs-unverified", "--gate", "q: max_step<=2", "--quantiles"]),
                           ("part", ["--samples", "0:1", "--gate", "f: outside<=0, atol=1"])):
            out = f"{FOLDER}/{name}.json"
            subprocess.run([sys.argv[1], "compare", "a.npz", "b.npz", *more, "--json", out, "--force", "--quiet"], cwd=folder)


main()
