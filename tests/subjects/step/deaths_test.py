"""Steps that crash, hang, leave, hoard, corrupt and lie: each is a verdict with its case, the run goes on, nothing is left."""
import collections
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from campaign import CASE, TALLY, Steps, library, main, processes_with

# What is said of one case that behaves so, and how the replay ends.
SAID = {
    "segfault": "ended by signal 11 (Segmentation fault)", "null": "ended by signal 11", "abort": "ended by signal 6 (Aborted)",
    "exit": "ended by an exit with code 0", "exit_3": "ended by an exit with code 3", "throw": "ended by signal 6",
    "stack": "ended by signal 11", "leave_children": "ended by signal 4",
    "hoard": "process was ended by",  # the first that asks in vain: the step, or what runs it
    "twice_freed": "double free", "heap": "",
    "input_written": "the input 'x' changed during the run", "beyond_input": "it wrote beyond the end of the input 'x'",
    "no_such_tap": "w0/m0/forward/of_another_case.y: found fp32 [1]; expected no such tap in this case",
    "no_tap_name": "nan", "unnamed_tap": "a tap without a name", "other_window": "w99999/schedule/step: found i64 []",
    "negative_shape": "w0/m0/loss/loss: found fp32 [-1]; expected fp32 [2]",
    "huge_shape": "w0/m0/loss/loss: found fp32 [9223372036854775807, 1099511627776]; expected fp32 [2]",
    "huge_rank": "a shape of rank 1073741824; expected 0 to 32", "unknown_dtype": "format 99; expected TALLY_FP32",
    "other_dtype": "found i64 []; expected fp32 []", "null_tap": "NULL; expected its elements", "wild_tap": "ended by signal 11",
    "device_tap": "w0/m0/loss/in.factor: ", "nonsense_result": "its run returned 77; expected TALLY_RAN", "wrong_claims": "claims: nonsense is unknown",
    "fails": "it says: no luck", "closes_all": ""}
ERRORS = {"hang": "it took longer than 1 s", "hang_deaf": "it took longer than 1 s", "killed": "ended by signal 9 (Killed)"}
MEMORY = ["--step-memory", "256M"]


class Deaths(Steps):
    def replayed(self, behaviour, code):
        return self.tally("replay", CASE, "--subject", library("hostile_step"), *MEMORY, "--law", "every_tap_is_there", code=code,
                          HOSTILE=behaviour)

    def test_each_is_a_verdict_that_says_what_happened(self):
        for behaviour, said in SAID.items():
            with self.subTest(behaviour):
                told = self.replayed(behaviour, 1)
                self.assertRegex(told, r"\nfail: the training step left no trace: " if said else r"\nfail: ")
                self.assertIn(said, told)
        self.assertRegex(self.replayed("killed", 3), r"\nerror: the training step left no trace: .*signal 9 \(Killed\)")

    def test_what_is_printed_is_no_answer(self):
        self.assertRegex(self.replayed("prints", 0), r"\npass")

    def test_taps_that_never_come_are_never_green(self):
        self.assertRegex(self.replayed("no_taps", 1), r"\nfail: .*was not tapped|\nnot run")

    def test_a_hang_ends_at_the_limit_and_the_campaign_goes_on(self):
        for behaviour in ("hang", "hang_deaf"):
            begun = time.monotonic()
            results, said = self.verified(library("hostile_step"), "--law", "every_tap_is_there,exact_lane", "--precision", "fp32",
                                          "--cases", "3", "--case-time", "1s", "--corpus", self.folder / behaviour, code=None,
                                          HOSTILE=behaviour)
            self.assertLess(time.monotonic() - begun, 60)
            self.assertEqual([case["status"] for case in results["cases"]], ["error", "error"], said)
            for case in results["cases"]:
                self.assertIn("it took longer than 1 s (--case-time)", case["message"])
                self.assertTrue(case["token"])

    def test_after_a_crash_the_next_case_runs_in_another_process(self):
        results, _ = self.verified(library("hostile_step"), "--law", "every_tap_is_there", "--precision", "fp32", "--cases", "40",
                                   "--keep-going", "--no-shrink", "--unsteered", "--case-time", "4s", code=1,
                                   HOSTILE="any", HOSTILE_SHARE=100, HOSTILE_LEFT_OUT="hang hoard killed")
        statuses = collections.Counter(case["status"] for case in results["cases"])
        self.assertEqual(sum(statuses.values()), 40)
        self.assertGreater(statuses["fail"], 0)
        self.assertGreater(statuses["pass"] + statuses["not_run"], 10)

    def test_a_campaign_of_hostile_cases_loses_no_verdict(self):
        self.hostile_campaign(int(os.environ.get("HOSTILE_CASES", "150")))

    def hostile_campaign(self, cases):
        """By hand: STEP_TIMEOUT=7200 HOSTILE_CASES=10000 HOSTILE_SHARE=300 HOSTILE_LIMIT=1s."""
        log = self.folder / "log"
        before = set(os.listdir("/dev/shm")) | set(os.listdir("/tmp"))
        results, said = self.verified(library("hostile_step"), *MEMORY, "--law", "every_tap_is_there", "--precision", "fp32",
                                      "--cases", str(cases), "--keep-going", "--no-shrink", "--unsteered", "--case-time", os.environ.get("HOSTILE_LIMIT", "4s"),
                                      code=1, HOSTILE="any", HOSTILE_SHARE=os.environ.get("HOSTILE_SHARE", "900"),
                                      HOSTILE_LOG=log,
                                      HOSTILE_LEFT_OUT=os.environ.get("HOSTILE_LEFT_OUT", "hang hang_deaf hoard" if cases < 1000 else ""))
        self.assertEqual(len(results["cases"]), cases, said)
        behaved = {self.id_of(line.split()[0]): line.split()[1] for line in log.read_text().splitlines()}
        counts = collections.Counter()
        for case in results["cases"]:
            behaviour = behaved.get(case["id"], "unknown")
            counts[behaviour, case["status"]] += 1
            self.assertNotEqual(behaviour, "unknown", case)
            slow = case["status"] == "error" and "it took longer than" in case["message"]
            if behaviour in ("heap", "hoard"):  # a heap that is spoilt may end its process, or never return
                self.assertTrue(case["status"] == "fail" or slow, case)
            elif behaviour in SAID and not (slow and cases >= 1000):  # by hand, under a short limit, a death may be slow
                self.assertEqual(case["status"], "fail", case)
            elif behaviour in SAID:
                counts[behaviour, "too slow to tell"] += 1
            elif behaviour in ERRORS:
                self.assertEqual(case["status"], "error", case)
            elif behaviour == "no_taps":
                self.assertNotEqual(case["status"], "pass", case)
            elif case["status"] == "fail" or slow:  # a right one may die of what an earlier one did to its process
                self.assertTrue(slow or "an earlier one may have spoilt its memory" in case["message"], case)
        print("\n".join(f"  {behaviour:18} {status:8} {count}" for (behaviour, status), count in sorted(counts.items())))
        after = set(os.listdir("/dev/shm")) | set(os.listdir("/tmp"))
        self.assertFalse({name for name in after - before if "tally" in name or "core" in name})
        self.assertFalse([name for name in os.listdir(self.folder) if name not in ("out", "log")])

    @staticmethod
    def id_of(sha256):
        return hashlib.sha256((sha256 + "every_tap_is_there").encode()).hexdigest()[:12]

    def test_nothing_is_left_when_tally_itself_is_killed(self):
        for signal_sent in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal_sent):
                command = [TALLY, "verify", "--subject", library("hostile_step"), "--law", "every_tap_is_there", "--cases", "50",
                           "--out", self.folder / "killed"]
                ran = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env=self.environment(HOSTILE="hang"))
                for _ in range(100):
                    if len(processes_with(self.mark)) >= 4:  # the program, a worker, a guard and a step at least
                        break
                    time.sleep(0.05)
                self.assertGreaterEqual(len(processes_with(self.mark)), 4)
                ran.send_signal(signal_sent)
                ran.wait(timeout=60)
                self.assertNothingIsLeft()


if __name__ == "__main__":
    main()
