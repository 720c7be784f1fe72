"""Scripts that are varied, and what is asked of what is printed."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from recorder_path import PACKAGE

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")
PASS, FAIL, ERROR, INTERRUPTED = 0, 1, 2, 130
PLAIN = ["--set", "--batch-size {rows} --accum {k}", os.path.join(SCRIPTS, "plain.py")]
SENTENCES = ["--set", "--batch-size {rows} --accum {k}", os.path.join(SCRIPTS, "sentences.py")]
NANO = os.path.join(SCRIPTS, "nano", "train.py")


def started(folder, *words):
    return subprocess.Popen([sys.executable, "-B", "-m", "tally_recorder", "vary", "--rows", "4", "--out", folder, *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                            env={**os.environ, "PYTHONPATH": PACKAGE},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


class Varied(unittest.TestCase):
    def setUp(self):
        near = tempfile.TemporaryDirectory()
        self.addCleanup(near.cleanup)
        self.folder = near.name

    def script(self, text):
        path = os.path.join(self.folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def vary(self, code, *words, said=()):
        """What was printed."""
        process = started(self.folder, *words)
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, out + err)
        for each in said:
            self.assertIn(each, out + err)
        return out + err

    def document(self):
        with open(os.path.join(self.folder, "vary.json"), encoding="utf-8") as file:
            return json.load(file)

    def sizes(self):
        return {tuple(run["sizes"]) for run in self.document()["runs"] if run["sizes"]}
