#!/usr/bin/env python3
"""Campaigns over processes joined by MPI: across_test.py TALLY MPI RECIPE

The same bytes alone, with 1, 2 and 4 processes and from merged shards; a run that was killed goes on where it was, a
process that stands still is done without; what cannot take part says so.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TALLY, MPI, RECIPE = os.path.realpath(sys.argv.pop(1)), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
LAUNCHER = f"mpirun.{MPI}"
MORE = ["--oversubscribe"] if MPI == "openmpi" else []
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
REPORT = ("results.json", "report.html", "junit.xml", "summary.md")
# Two jobs in three strands each, and two of one.
CASES = ["--law", "scaler_counts_windows,rate_counts_steps_taken", "--cases", "90", "--precision", "fp32,fp16"]
FAULT = ["--law", "scaler_counts_windows,ranks_agree", "--cases", "50", "--precision", "fp32", "--fault",
         "mean-of-means"]


def why_not():
    """Why nothing can run here; empty where it can."""
    if shutil.which(LAUNCHER) is None:
        return f"no {LAUNCHER}"
    doctor = subprocess.run([TALLY, "doctor"], capture_output=True, text=True, timeout=300).stdout
    return "" if f"{MPI}: module built" in doctor else f"this tally was built without {MPI}"


def processes_in(folder):
    """Of this test: all of whose command line names its folder."""
    found = []
    for each in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == os.fsencode(TALLY) and any(os.fsencode(str(folder)) in word for word in words):
            found.append(int(each.name))
    return found


def parent_of(pid):
    """0 where the process has ended."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def ranks_of(folder):
    """Of this test: those that no other of its processes forked."""
    all_of_it = processes_in(folder)
    parents = {pid: parent_of(pid) for pid in all_of_it}
    return [pid for pid, parent in parents.items() if parent != 0 and parent not in all_of_it]


def wait_until(holds, seconds):
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return held


class Across(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-across-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def words(self, out, *words):
        return ["verify", "--subject", "host", "--out", str(self.folder / out), *map(str, words)]

    def alone(self, out, *words, code=0):
        done = subprocess.run([TALLY, *self.words(out, *words)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def launch(self, processes, words):
        return [LAUNCHER, *MORE, "-n", str(processes), TALLY, *words, "--across", "mpi"]

    def across(self, processes, out, *words, code=0):
        done = subprocess.run(self.launch(processes, self.words(out, *words)), capture_output=True, text=True,
                              timeout=300, env={**os.environ, **ROOT})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def report(self, out):
        return {name: (self.folder / out / name).read_bytes() for name in REPORT}

    def corpus(self, out):
        return {file.name: file.read_bytes() for file in (self.folder / out / "corpus").glob("*")}

    def test_writes_the_same_bytes_for_any_number_of_processes_and_merged_shards(self):
        self.alone("alone", *CASES)
        whole = self.report("alone")
        for processes, workers in ((1, 2), (2, 1), (4, 2)):
            out = f"of{processes}"
            self.across(processes, out, *CASES, "--processes", workers)
            self.assertEqual(self.report(out), whole, f"{processes} processes")
            facts = json.loads((self.folder / out / "run.json").read_text())["across"]
            self.assertEqual(len(facts["processes"]), processes)
            self.assertEqual(sum(each["pieces"] for each in facts["processes"]), len(facts["pieces"]))
            self.assertEqual(len(facts["pieces"]), 12)
            self.assertFalse((self.folder / out / "journal").exists())
        for shard in (1, 2):
            self.across(2, f"shard{shard}", *CASES, "--shard", f"{shard}/2")
        shards = [self.folder / f"shard{shard}" for shard in (1, 2)]
        subprocess.run([TALLY, "merge", *shards, "--out", self.folder / "merged"], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(self.report("merged"), whole)

    def test_keeps_the_same_failing_cases_and_replays_them_alike(self):
        self.alone("alone", *FAULT, code=1)
        self.across(2, "two", *FAULT, code=1)
        self.assertEqual(self.report("two"), self.report("alone"))
        self.assertEqual(self.corpus("two"), self.corpus("alone"))
        self.assertTrue(self.corpus("two"))
        self.alone("alone", *FAULT, code=1)
        self.across(3, "two", *FAULT, code=1)
        self.assertEqual(self.report("two"), self.report("alone"))
        self.assertIn(b"kept: ", self.report("two")["results.json"])

    def started(self, out, *words, processes=2):
        """A campaign under way, some of whose answers are there."""
        process = subprocess.Popen(self.launch(processes, self.words(out, *words)), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env={**os.environ, **ROOT})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        journal = self.folder / out / "journal"
        self.assertTrue(wait_until(lambda: journal.exists() and b"\npiece " in journal.read_bytes(), 120), "no answer")
        return process

    def test_goes_on_from_its_journal_after_it_was_killed_and_leaves_no_process(self):
        self.alone("alone", *CASES)
        process = self.started("killed", *CASES, "--processes", 1)
        for pid in processes_in(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        said = process.communicate(timeout=120)[0]
        self.assertNotEqual(process.returncode, 0, said)
        self.assertTrue(wait_until(lambda: not processes_in(self.folder), 10), processes_in(self.folder))
        refused = self.across(2, "killed", *CASES, code=2)
        self.assertIn("found the journal of a campaign that was ended before it was over", refused.stderr)
        words = [word for word in self.words("killed", *CASES)]
        words[words.index("--out")] = "--resume"
        other = subprocess.run(self.launch(2, [*words, "--seed", "3"]), capture_output=True, text=True, timeout=300,
                               env={**os.environ, **ROOT})
        self.assertEqual(other.returncode, 2, other.stdout + other.stderr)
        self.assertIn("as in the journal", other.stderr)
        with (self.folder / "killed" / "journal").open("ab") as journal:
            journal.write(b"piece 0 100 cut sho")
        done = subprocess.run(self.launch(4, words), capture_output=True, text=True, timeout=300,
                              env={**os.environ, **ROOT})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        facts = json.loads((self.folder / "killed" / "run.json").read_text())["across"]
        self.assertLess(len(facts["pieces"]), 12)
        self.assertEqual(self.report("killed"), self.report("alone"))

    def test_asked_to_end_writes_what_it_has_and_keeps_its_journal(self):
        process = self.started("asked", *CASES, "--processes", 1)
        for pid in ranks_of(self.folder):
            os.kill(pid, signal.SIGTERM)
        said = process.communicate(timeout=120)[0]
        self.assertNotEqual(process.returncode, 0, said)
        self.assertIn("--resume", said)
        self.assertTrue(json.loads((self.folder / "asked" / "results.json").read_text())["partial"])
        self.assertTrue((self.folder / "asked" / "journal").exists())

    def test_does_without_a_process_that_stands_still(self):
        many = [word if word != "90" else "240" for word in CASES]  # the one that is stopped has a piece in hand
        self.alone("alone", *many)
        process = self.started("still", *many, "--processes", 1, "--lost-after", "2s")
        ranks, all_of_it = ranks_of(self.folder), processes_in(self.folder)
        self.assertEqual(len(ranks), 2)
        last = max(ranks, key=lambda pid: self.rank_of(pid))
        still = [last, *(pid for pid in all_of_it if self.comes_from(pid, last))]
        for pid in still:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:  # a worker that has ended meanwhile
                pass
        said = process.communicate(timeout=200)[0]
        self.assertIn("a process was lost", said)
        self.assertEqual(self.report("still"), self.report("alone"))
        self.assertTrue(wait_until(lambda: not processes_in(self.folder), 20), processes_in(self.folder))

    def rank_of(self, pid):
        names = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")
        words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return next(int(word.split(b"=")[1]) for word in words if word.startswith(names))

    def comes_from(self, pid, ancestor):
        try:
            while pid > 1:
                pid = parent_of(pid)
                if pid == ancestor:
                    return True
        except OSError:
            pass
        return False

    def test_refuses_what_does_not_fit(self):
        alone = self.alone("refused", "--across", "mpi", code=2)
        self.assertIn("no launcher of MPI started this process", alone.stderr)
        self.assertIn("found without --across", self.alone("refused", "--lost-after", "3s", code=2).stderr)
        for words, said in ((["--ranks", "mpi:4"], "a launcher in a launcher"), (["--seed", "random"], "the same in every"),
                            (["--kernel-times", self.folder / "times"], "on one machine")):
            self.assertIn(said, self.alone("refused", "--across", "mpi", *words, code=2).stderr)
        variables = {"openmpi": "OMPI_COMM_WORLD_", "mpich": "PMI_"}[MPI]
        size = subprocess.run([TALLY, *self.words("refused", *CASES), "--across", "mpi"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, variables + "SIZE": "4", variables + "RANK": "0"})
        self.assertNotEqual(size.returncode, 0)
        slurm = subprocess.run([TALLY, *self.words("refused", *CASES), "--across", "mpi"], capture_output=True, text=True,
                               timeout=120, env={**os.environ, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2",
                                                 "SLURM_PROCID": "0"})
        self.assertEqual(slurm.returncode, 2, slurm.stderr)
        self.assertIn("srun --mpi=pmix", slurm.stderr)
        self.assertFalse((self.folder / "refused" / "results.json").exists())

    def test_refuses_processes_of_two_campaigns(self):
        first, second = (self.words("two", *CASES, "--seed", seed, "--across", "mpi") for seed in (1, 2))
        done = subprocess.run([LAUNCHER, *MORE, "-n", "1", TALLY, *first, ":", "-n", "1", TALLY, *second],
                              capture_output=True, text=True, timeout=300, env={**os.environ, **ROOT})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("process 1 on ", done.stderr)
        self.assertIn("seed 2", done.stderr)
        self.assertFalse((self.folder / "two" / "journal").exists())

    def test_the_recipe_for_slurm_runs_it_and_goes_on_after_it_was_ended(self):
        stand_in = self.folder / "bin" / "srun"
        stand_in.parent.mkdir()
        launch = " ".join([LAUNCHER, *MORE, "-n", "2"])
        stand_in.write_text('#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\n'
                            f'exec {launch} "$@"\n')
        stand_in.chmod(0o755)
        out = self.folder / "out"
        environment = {**os.environ, **ROOT, "PATH": f"{stand_in.parent}:{os.environ['PATH']}",
                       "TALLY_BUILD": str(pathlib.Path(TALLY).parent.parent), "SLURM_CPUS_PER_TASK": "1"}

        def submitted():
            return subprocess.run(["bash", str(RECIPE), str(out), *CASES], capture_output=True, text=True, timeout=300,
                                  env=environment, cwd=RECIPE.parents[2])

        self.assertEqual(submitted().returncode, 0)
        self.alone("alone", *CASES)
        self.assertEqual(self.report("out"), self.report("alone"))
        process = self.started("out", *CASES, "--processes", 1)
        for pid in processes_in(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.communicate(timeout=120)
        again = submitted()
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertEqual(self.report("out"), self.report("alone"))


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
