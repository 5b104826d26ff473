#!/usr/bin/env python3
"""Runs every truth case through paritas-truth and compares the verdict with the right one.

usage: run_truth.py PARITAS_TRUTH [FOLDER] [--json FILE]     FOLDER holds truth.json and cases/ (default: beside this file)
Exit code 1 when a verdict is wrong, a case crashes, or one takes more than 512 MiB.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

LIMIT = 512 << 20
NAMES = {0: "pass", 1: "fail", 2: "refuse"}


def main() -> int:
    program = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 and not sys.argv[2].startswith("--") else os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "truth.json")) as file:
        truth = json.load(file)
    absolute = lambda path: os.path.join(folder, "cases", path)
    wrong, peak, cases = [], 0, truth["cases"]
    for case in cases:
        policy = {**truth["default_policy"], **(case.get("policy") or {})}
        one = {"id": case["id"], "format": case.get("format", "npy"), "policy": policy}
        for side in ("ref", "test"):
            given = case[side]
            one[side] = absolute(given) if isinstance(given, str) else [
                [{**t, "file": absolute(t["file"])} for t in iteration] for iteration in given]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(one, file)
            file.flush()
            child = subprocess.Popen([program, file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            text = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        memory = usage.ru_maxrss * 1024
        peak = max(peak, memory)
        verdict = NAMES.get(code, f"exit {code}")
        if verdict not in case["accept"] or memory > LIMIT:
            wrong.append(case["id"])
            print(f"WRONG {case['id']}: {verdict}, right: {' or '.join(case['accept'])} ({case['why']}); {memory >> 20} MiB\n{text}")
    print(f"{len(cases)} cases, {len(wrong)} wrong, {peak >> 20} MiB at most")
    return bool(wrong)


sys.exit(main())
