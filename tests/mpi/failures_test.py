#!/usr/bin/env python3
"""Ranks that die, hang and stop, and launchers that are killed: failures_test.py TALLY MPI LIBRARY

Every case has its verdict, which names the rank, and no process is left. By hand, as many cases as one likes:
FAILURES_CASES=2500 FAILURES_SHARE=600 FAILURES_KILLS=100 FAILURES_SECONDS=2 failures_test.py …
"""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from group_words import group, why_not
from processes import Record, environment, launcher_of

TALLY, MPI, LIBRARY = os.path.realpath(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
CASES, SHARE = int(os.environ.get("FAILURES_CASES", "48")), int(os.environ.get("FAILURES_SHARE", "500"))
KILLS, SEED = int(os.environ.get("FAILURES_KILLS", "4")), os.environ.get("FAILURES_SEED", "1")
SECONDS_LEFT = float(os.environ.get("FAILURES_SECONDS", "10"))  # 2 on a machine that does nothing else
# What a verdict says of each, and what it comes to.
SAID = {
    "segfault": ("fail", "crash: rank {rank} was ended by signal 11 (Segmentation fault)"),
    "abort": ("fail", "crash: rank {rank} was ended by signal 6 (Aborted)"),
    "kill": ("fail", "crash: rank {rank} was ended by signal 9 (Killed)"),
    "exit": ("fail", "rank {rank} was ended by an exit with code 3"),
    "exit_0": ("fail", "rank {rank}, which was ended by an exit with code 0|rank {rank} was ended by an exit with code 0"),
    "hang": ("fail", "rank {rank}, which is at work|rank {rank} is at work"),
    "spin": ("fail", "rank {rank}, which is at work|rank {rank} is at work"),
    "stop": ("fail", "rank {rank}, which is stopped|rank {rank} is stopped"),
    "launcher": ("error", "its launcher (mpirun." + MPI + ") was ended by signal 9 (Killed)"),
}


class Killer:
    """Kills the launcher of every rank that says in the log that it waits for that."""

    def __init__(self, log):
        self.log, self.over, self.killed = log, threading.Event(), 0
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def follow(self):
        read = 0
        while not self.over.wait(0.02):
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            for line in lines[read:]:
                _, kind, _, rank = line.split()
                launcher = launcher_of(int(rank)) if kind == "launcher" else None
                if launcher:
                    os.kill(launcher, signal.SIGKILL)
                    self.killed += 1
            read = len(lines)


class Failures(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-failures-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.log, self.mark = self.folder / "log", f"{os.getpid()}-{self.id()}"

    def words(self, cases):
        return [TALLY, "verify", "--law", "ranks_equal_full_batch", "--precision", "fp32", "--cases", str(cases),
                "--keep-going", "--no-shrink", "--unsteered", "--case-time", "6s", "--seed", SEED, "--corpus",
                str(self.folder / "corpus"), "--out", str(self.folder / "out"), *group(MPI, 4)]

    def environment(self, kinds, share):
        return environment(self.mark, LD_PRELOAD=LIBRARY,
                           TALLY_FAULTY_RANKS=f"{SEED}:{share}:{','.join(kinds)}:{self.log}")

    def struck(self):
        """What befell each case, in order: a case that is tried again is befallen again."""
        first = {}
        for line in self.log.read_text().splitlines():
            case, kind, rank, _ = line.split()
            first.setdefault(case, (kind, int(rank)))
        return list(first.values())

    def test_every_case_has_a_verdict_that_names_the_rank_and_no_process_is_left(self):
        begun = time.monotonic()
        with Record(self.mark) as record, Killer(self.log) as killer:
            done = subprocess.run(self.words(CASES), capture_output=True, text=True, timeout=40000,
                                  env=self.environment(SAID, SHARE))
            left, after = record.left_after(SECONDS_LEFT)
        said = done.stdout + done.stderr
        results = json.loads((self.folder / "out/results.json").read_text())
        self.assertFalse(left, said)
        self.assertEqual(len(results["cases"]), CASES, said)
        struck, counts = self.struck(), collections.Counter()
        broken = [case for case in results["cases"] if case["status"] in ("fail", "error")]
        said_of = list(broken)  # a case that ended its process stands behind the others
        for kind, rank in struck:
            status, words = SAID[kind]
            fits = [case for case in said_of if case["status"] == status and
                    any(each.format(rank=rank) in case["message"] for each in words.split("|"))]
            with self.subTest(kind, rank=rank):
                self.assertTrue(fits, [case["message"] for case in broken])
                self.assertTrue(fits[0]["token"])
            if fits:
                said_of.remove(fits[0])
                counts[kind, status] += 1
        self.assertEqual(len(broken), len(struck), said)
        self.assertGreater(len(struck), CASES * SHARE // 10000)
        print(f"{MPI}: {CASES} cases, {len(struck)} befallen, {killer.killed} launchers killed, "
              f"{len(record.seen)} processes, none left {after:.2f} s behind the end, {time.monotonic() - begun:.0f} s")
        print("\n".join(f"  {kind:10} {status:8} {count}" for (kind, status), count in sorted(counts.items())))

    def test_no_process_is_left_where_the_program_is_killed_at_any_time(self):
        drawn, longest = random.Random(SEED), 0
        for _ in range(KILLS):
            with Record(self.mark) as record:
                process = subprocess.Popen(self.words(100000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           env=self.environment(["stop", "spin"], SHARE // 10))
                time.sleep(drawn.uniform(0.05, 4))
                process.send_signal(drawn.choice([signal.SIGKILL, signal.SIGTERM]))
                process.wait(timeout=60)
                left, after = record.left_after(SECONDS_LEFT)
            self.assertFalse(left)
            longest = max(longest, after)
        print(f"{MPI}: {KILLS} times the program was killed, none left after {longest:.2f} s at most")


if __name__ == "__main__":
    reason = why_not(TALLY, MPI)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
