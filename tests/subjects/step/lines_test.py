"""A program as a training step, asked line by line: what it may answer wrongly, and a command that is none."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from campaign import CASE, HERE, Steps, main

FAILS = {
    "no_trace": "its trace: safetensors: header: 0 bytes", "no_safetensors": "its trace: safetensors: header: length",
    "other_case": "metadata case is '0000", "no_claims": "claims: ", "unknown_dtype": 'dtype "F1", not one of F32',
    "negative_shape": "shape holds -2", "huge_shape": "its trace: safetensors: ",
    "other_shape": "w0/m0/loss/loss: found fp32 [1]; expected fp32 [2]",
    "no_such_tap": "w0/m0/loss/lost: found fp32 [1]; expected no such tap in this case",
    "nonsense": "it answered ", "not_an_object": 'it answered "[1, 2]"; expected {"ran": 1}', "other_number": 'it answered "{\\"ran\\": 2}"',
    "long_line": "it answered ", "closes": "the end of its lines, while it went on",
    "raises": "an exit with code 1; its last words: ValueError: nobody caught this", "leaves_children": "signal 6 (Aborted)",
    "fails": "it says: no luck", "fails_wordless": "it says: no reason given"}


class Lines(Steps):
    def liar(self, how):
        return f"exec:python3 -B {HERE / 'liar.py'} {how}"

    def test_a_wrong_answer_fails_its_case_and_says_what_was_expected(self):
        for how, said in FAILS.items():
            with self.subTest(how):
                told = self.tally("replay", CASE, "--subject", self.liar(how), code=1)
                self.assertRegex(told, r"\nfail: the training step left no trace: ")
                self.assertIn(said, told)
                self.assertNotIn("\x1b", told)

    def test_a_declined_case_is_not_run(self):
        self.assertIn("this subject declines the case: not today", self.tally("replay", CASE, "--subject", self.liar("declines"), code=4))

    def test_a_trace_without_taps_shows_nothing(self):
        told = self.tally("replay", CASE, "--subject", self.liar("no_taps"), code=None)
        self.assertNotRegex(told, r"\npass")

    def test_silence_is_an_error_at_the_limit(self):
        results, said = self.verified(self.liar("silent"), "--law", "exact_lane", "--precision", "fp32", "--cases", "3",
                                      "--case-time", "1s", code=None)
        self.assertEqual([case["status"] for case in results["cases"]], ["error"], said)
        self.assertIn("it took longer than 1 s (--case-time)", results["cases"][0]["message"])

    def test_a_command_that_is_no_step_is_refused_before_anything_runs(self):
        for command, *words in (("none-such-program", "not found", "an exit with code 127 before it answered"),
                                ("true", "an exit with code 0 before it answered", 'expected {"tally_step": 1}'),
                                ("cat /dev/null", "before it answered"), ("echo hello; sleep 100", 'answered "hello"'),
                                ("yes", 'answered "y"'), ("cat", None), ("   ", "names nothing; expected exec:COMMAND"),
                                (self.liar("greets_wrongly")[5:], 'answered "hello"'),
                                (self.liar("other_version")[5:], "answered ", "process.md")):
            if words == [None]:
                continue  # it greets as it is greeted
            with self.subTest(command):
                said = self.tally("verify", "--subject", f"exec:{command}", "--out", self.folder / "out", code=2)
                self.assertRegex(said, r"^error: [^\n]+\n$")
                for word in words:
                    self.assertIn(word, said)
                self.assertFalse((self.folder / "out").exists())

    def test_what_greets_as_it_is_greeted_fails_its_first_case(self):
        told = self.tally("replay", CASE, "--subject", "exec:cat", code=1)
        self.assertIn("it answered ", told)


if __name__ == "__main__":
    main()
