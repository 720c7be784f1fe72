"""What the tests of steps share: Tally's program run on a subject, and what must not be left behind."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TALLY, LIBRARIES = sys.argv[1], pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CASE = ROOT / "tests/readme/uneven_micro_batches.json"
MARK = "TALLY_STEP_TEST"  # in the environment of whatever a test starts, by its value


def library(name):
    return f"step:{LIBRARIES / name}.so"


def processes_with(value):
    """Of this user, begun by that test, still there."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={value}\0".encode() in (folder / "environ").read_bytes() + b"\0":
                found.append((folder.name, (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except OSError:
            continue
    return found


class Steps(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        self.mark = f"{os.getpid()}-{self.id()}"

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name not in ("GITHUB_ACTIONS", "TALLY_EFFORT")}
        return kept | {MARK: self.mark} | {name: str(value) for name, value in more.items()}

    def tally(self, *words, code=0, **environment):
        ran = subprocess.run([TALLY, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                             timeout=float(os.environ.get("STEP_TIMEOUT", "1800")), env=self.environment(**environment))
        if code is not None:
            self.assertEqual(ran.returncode, code, f"{words}\n{ran.stdout}{ran.stderr}")
        self.assertNothingIsLeft()
        return ran.stdout + ran.stderr

    def verified(self, subject, *words, code=0, **environment):
        """results.json of a campaign, and what it printed."""
        said = self.tally("verify", "--subject", subject, "--out", self.folder / "out", *words, code=code, **environment)
        return json.loads((self.folder / "out/results.json").read_text()), said

    def assertNothingIsLeft(self):
        """A guard ends within moments of who holds it."""
        for _ in range(50):
            left = processes_with(self.mark)
            if not left:
                return
            time.sleep(0.1)
        for number, _ in left:
            os.kill(int(number), signal.SIGKILL)
        self.fail(f"left behind: {left}")


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)
