"""interrupt.py [--worker] SIGNAL COMMAND...: starts the command, sends it (or its worker) the signal once a worker has loaded
the provider library that the command names (library=...), and says how it ended and whether a worker is left.

The library is waited for, not a time: under the sanitizers a worker takes seconds to get there."""

import os
import re
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


def has_loaded(pid, library):
    try:
        return any(line.rstrip().endswith(library) for line in Path(f"/proc/{pid}/maps").read_text().splitlines())
    except OSError:
        return False  # it ended meanwhile


def wait(condition, what, seconds=60):
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
library = os.path.realpath(re.search(r"library=([^,\s]+)", " ".join(arguments[1:])).group(1))
process = subprocess.Popen(arguments[1:])


def opening():
    return [worker for worker in children(process.pid) if has_loaded(worker, library)]


wait(opening, "a worker that has loaded the provider's library")
workers = children(process.pid)
os.kill(opening()[0] if to_worker else process.pid, number)
code = process.wait(60)
print(f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}")
wait(lambda: not any(alive(worker) for worker in workers), "the end of the worker")
print("no worker is left")
