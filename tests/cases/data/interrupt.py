"""interrupt.py [--worker] SIGNAL COMMAND...: starts the command, sends it (or its worker) the signal once the worker runs,
and says how it ended and whether a worker is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except OSError:
            pass  # it ended meanwhile
    return found


def wait(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited in vain: {what}")
        time.sleep(0.02)


arguments = sys.argv[1:]
to_worker = arguments[0] == "--worker"
if to_worker:
    arguments.pop(0)
number = signal.Signals[arguments[0]]
process = subprocess.Popen(arguments[1:])
wait(lambda: children(process.pid) and list(Path(os.environ["TMPDIR"]).glob("paritas-scratch-*/*")), "a worker")
time.sleep(0.2)
workers = children(process.pid)
os.kill(workers[0] if to_worker else process.pid, number)
code = process.wait(20)
print(f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}")
wait(lambda: not any(alive(worker) for worker in workers), "the end of the worker")
print("no worker is left")
