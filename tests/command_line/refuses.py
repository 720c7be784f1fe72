"""What is wrong with an input is said in one line that no terminal obeys, and nothing is left behind."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TALLY = sys.argv[1]
ROOT = pathlib.Path(sys.argv[2])
CASE = ROOT / "tests" / "readme" / "uneven_micro_batches.json"
ESCAPE = "\x1b]0;owned\x07"


def tally(*arguments):
    return subprocess.run([TALLY, *map(str, arguments)], capture_output=True, text=True, timeout=60)


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, arguments, *words, code=2):
        result = tally(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("error: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def changed(self, change):
        case = json.loads(CASE.read_text())
        change(case)
        file = self.out / "changed.json"
        file.write_text(json.dumps(case))
        return file

    def with_kernel(self, operation, variant):
        return self.changed(lambda case: case.update(execution={"kernels": {operation: variant}}))

    def test_an_unknown_kernel_is_refused_with_those_there_are(self):
        self.refuses(["replay", self.with_kernel("norm", "fastest")], "execution.kernels.norm", '"fastest"', "two_stage")
        self.refuses(["replay", self.with_kernel("normal", "two_stage")], "execution.kernels.normal", "batch_norm.forward")
        self.assertEqual(tally("replay", self.with_kernel("norm", "two_stage"), "--subject", "host").returncode, 0)
        self.assertEqual(tally("replay", self.with_kernel("gemm", "tensor_core_h100"), "--subject", "host").returncode, 0)

    def test_a_replay_that_cannot_be_kept_leaves_nothing(self):
        kept = self.out / "kept"
        self.refuses(["replay", self.with_kernel("norm", "fastest"), "--dump", kept], "fastest")
        self.assertFalse(kept.exists())
        (kept / "case.json").mkdir(parents=True)
        self.refuses(["replay", CASE, "--subject", "host", "--dump", kept], "case.json", code=3)
        self.assertEqual([p.name for p in kept.iterdir()], ["case.json"])
        unsupported = tally("replay", self.with_kernel("gemm.workspace", "1"), "--subject", "host", "--dump", self.out / "none")
        self.assertEqual(unsupported.returncode, 4, unsupported.stdout + unsupported.stderr)
        self.assertFalse((self.out / "none").exists())

    def test_what_is_no_file_is_refused_and_not_waited_for(self):
        pipe = self.out / "pipe.jsonl"
        os.mkfifo(pipe)
        for place, words in ((pipe, "it is a pipe"), (self.out, "it is a folder"), ("/dev/zero", "no regular file")):
            for command in (["oracle", place], ["replay", place], ["check", place, place], ["check", CASE, place],
                            ["report", place], ["gate", place, "--baseline", place], ["baseline", "show", place],
                            ["bless", place, "--baseline", self.out / "b", "--reason", "first"],
                            ["explain", "nobody", "--results", place], ["history", "show", place]):
                self.refuses(command, words)

    def test_a_wrong_case_is_named_by_its_file(self):
        self.assertEqual(tally("replay", CASE, "--subject", "host", "--dump", self.out).returncode, 0)
        case, trace = self.out / "case.json", self.out / "trace.safetensors"
        self.refuses(["check", trace, case], f"{trace}: found a safetensors file", "the two files may be swapped")
        self.refuses(["hash", trace], f"{trace}: found a safetensors file, expected a case")
        self.refuses(["check", case, case], f"{case}: ")
        bad = self.changed(lambda changed: changed.pop("model"))
        for text in (bad.read_text(), "[]", "", "{", "no JSON"):
            bad.write_text(text)
            for command in (["hash", bad], ["oracle", bad], ["replay", bad], ["check", bad, trace]):
                self.refuses(command, f"error: {bad}: $")

    def test_an_effort_of_nothing_is_refused_with_what_was_expected(self):
        for wrong in ("0", "-1", "0.0"):
            said = tally("verify", f"--effort={wrong}", "--out", self.out)
            self.assertEqual(said.returncode, 2)
            self.assertEqual(said.stderr.splitlines()[0], f"--effort: found {wrong}, expected a number above 0")

    def test_a_duration_is_one_that_can_be_waited_for(self):
        for wrong in ("1e10", "1e300h", "inf", "nan"):
            for option in ("--case-time", "--time"):
                self.refuses(["verify", option, wrong, "--out", self.out], option, "60s")

    def test_everything_that_is_wrong_with_a_trace_is_named_at_once(self):
        self.assertEqual(tally("replay", CASE, "--subject", "host", "--dump", self.out).returncode, 0)
        trace = (self.out / "trace.safetensors").read_bytes()
        length = struct.unpack("<Q", trace[:8])[0]
        header, wrong = json.loads(trace[8:8 + length]), 0
        for tap, entry in header.items():
            if tap.endswith(".weight"):
                entry["shape"], wrong = entry["shape"][::-1], wrong + 1
        text = json.dumps(header).encode()
        (self.out / "trace.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + trace[8 + length:])
        shown = tally("check", self.out / "case.json", self.out / "trace.safetensors")
        self.assertEqual(shown.returncode, 2, shown.stderr)
        first, *further = shown.stderr.splitlines()
        self.assertTrue(first.startswith("error: ") and first.endswith(f"(and {wrong - 1} more)"), first)
        for line in (first, *further):
            self.assertIn(": found fp32 [2, 1]; expected fp32 [1, 2]", line)
        self.assertEqual(len(further), wrong - 1)
        self.assertTrue(all(line.startswith("  w0/") for line in further), further)

    def test_no_terminal_obeys_what_a_file_says(self):
        self.assertEqual(tally("replay", CASE, "--subject", "host", "--dump", self.out).returncode, 0)
        trace = (self.out / "trace.safetensors").read_bytes()
        length = struct.unpack("<Q", trace[:8])[0]
        header, data = json.loads(trace[8:8 + length]), trace[8 + length:]
        for change in (lambda h: h["__metadata__"].update(tally_trace=ESCAPE), lambda h: h["__metadata__"].update(claims=ESCAPE),
                       lambda h: h.update({"w0/" + ESCAPE: h.pop("w0/schedule/step")}),
                       lambda h: h["__metadata__"].update(groups=ESCAPE)):
            other = json.loads(json.dumps(header))
            change(other)
            text = json.dumps(other).encode()
            (self.out / "trace.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
            shown = tally("check", self.out / "case.json", self.out / "trace.safetensors")
            self.assertEqual(shown.returncode, 2, shown.stderr)
            self.assertNotRegex(shown.stdout + shown.stderr, "[\x1b\x07]")
        results = (ROOT / "tests/fuzz/corpus/results.json").read_text()[1:]
        for key, command in (("title", ["explain"]), ("law", ["report"])):
            document = json.loads(results)
            document["cases"][0][key] = "a title " + ESCAPE
            (self.out / "results.json").write_text(json.dumps(document))
            words = ["explain", document["cases"][0]["id"], "--results"] if command == ["explain"] else ["report"]
            shown = tally(*words, self.out / "results.json")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertNotRegex(shown.stdout + shown.stderr, "[\x1b\x07]")
            if key == "title":
                self.assertIn("\u241b]0;owned\u2407", shown.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
