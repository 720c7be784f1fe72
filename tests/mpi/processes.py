"""Processes that a test started, told by a mark in their environment, and remembered while they last."""
import os
import pathlib
import threading
import time

MARK = "TALLY_MPI_TEST"


def facts(pid):
    """Its parent, state and start; None where it is gone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return int(words[1]), words[0], words[19]


def name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def marked(value):
    """Of this user, begun under that mark, still there."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={value}\0".encode() in (folder / "environ").read_bytes() + b"\0":
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def launcher_of(pid):
    """The process of the launcher that a rank stands under: the last below Tally's own."""
    above = [pid]
    while above[-1] > 1:
        parent = facts(above[-1])
        if parent is None:
            return None
        above.append(parent[0])
    launchers = [each for each in above if name(each).startswith(("mpirun", "mpiexec", "orterun"))]
    return launchers[-1] if launchers else None


class Record:
    """Every marked process that a look at /proc, ten times a second, has seen: as itself, whoever has its number later."""

    def __init__(self, value):
        self.value, self.seen, self.over = value, {}, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        while not self.over.wait(0.1):
            for pid in marked(self.value):
                now = facts(pid)
                if now is not None:
                    self.seen.setdefault((pid, now[2]), name(pid))

    def left(self):
        """Those that are still there, and are no mere entry that a parent has not read."""
        found = {}
        for (pid, start), called in list(self.seen.items()):
            now = facts(pid)
            if now is not None and now[2] == start and now[1] != "Z":
                found[pid] = called
        return found | {pid: name(pid) for pid in marked(self.value) if (facts(pid) or (0, "Z"))[1] != "Z"}

    def left_after(self, seconds):
        """Those that are left so long from now on; and after how many seconds none was."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            if not self.left():
                return {}, time.monotonic() - begun
            time.sleep(0.02)
        return self.left(), seconds


def environment(value, **more):
    return {**os.environ, MARK: value, **{key: str(text) for key, text in more.items()}}
