"""Runs a command and watches the resident memory of it and of its descendants, through /proc."""
import os
import subprocess
import tempfile
import time


def _status(pid: int) -> dict:
    fields = {}
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key in ("VmRSS", "VmHWM", "PPid"):
                    fields[key] = int(value.split()[0])
    except (OSError, ValueError):
        pass
    return fields


def _family(root: int) -> list:
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _status(int(entry))
            if "PPid" in fields:
                parents[int(entry)] = fields["PPid"]
    members, grew = {root}, True
    while grew:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        members |= more
        grew = bool(more)
    return list(members)


class Watch:
    def __init__(self):
        self.seconds = 0.0
        self.main_peak = 0   # bytes, of the command itself
        self.sum_peak = 0    # bytes, of the command and all its descendants at one moment
        self.code = 0
        self.stderr = ""


def run(command: list, interval: float = 0.05) -> Watch:
    watch = Watch()
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            watch.main_peak = max(watch.main_peak, _status(process.pid).get("VmHWM", 0) * 1024)
            watch.sum_peak = max(watch.sum_peak, sum(_status(pid).get("VmRSS", 0) for pid in _family(process.pid)) * 1024)
            time.sleep(interval)
        watch.seconds = time.perf_counter() - start
        watch.code = process.returncode
        errors.seek(0)
        watch.stderr = errors.read().decode(errors="replace")
    return watch
