"""Runs a command and watches the resident memory of it and of its descendants, through /proc."""
import os
import subprocess
import tempfile
import time

PAGE = os.sysconf("SC_PAGE_SIZE")


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            # The command's name stands in parentheses and may hold spaces; state and parent follow it.
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1


def _family(root: int) -> list:
    """root and all its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            children.setdefault(_parent(int(entry)), []).append(int(entry))
    members = [root]
    for pid in members:  # grows while it is walked
        members += children.get(pid, [])
    return members


def _resident(pid: int) -> int:
    """Bytes in memory now, pages of mapped files included."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _peak(pid: int) -> int:
    """The most that pid ever had in memory, in bytes."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)
    except (OSError, ValueError):
        return 0


class Watch:
    def __init__(self):
        self.seconds = 0.0
        self.main_peak = 0   # bytes, of the command itself, from the kernel's own mark
        self.sum_peak = 0    # bytes, of the command and all its descendants at one moment
        self.peaks = {}      # pid -> bytes: the peak of each, at whatever moment
        self.code = 0
        self.stderr = ""

    def worker_peaks(self) -> list:
        return sorted(list(self.peaks.values())[1:], reverse=True)

    def look(self, root: int) -> None:
        family = _family(root)
        self.sum_peak = max(self.sum_peak, sum(_resident(pid) for pid in family))
        for pid in family:
            self.peaks[pid] = max(self.peaks.get(pid, 0), _peak(pid))
        self.main_peak = self.peaks[root]


def run(command: list, interval: float = 0.05) -> Watch:
    watch = Watch()
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            watch.look(process.pid)
            time.sleep(interval)
        watch.seconds = time.perf_counter() - start
        watch.code = process.returncode
        errors.seek(0)
        watch.stderr = errors.read().decode(errors="replace")
    return watch
