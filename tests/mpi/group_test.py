#!/usr/bin/env python3
"""Ranks that are processes joined by MPI: group_test.py TALLY MPI CASE

The same bits as the model's ranks; a rank or a launcher that is killed ends its case and leaves no process behind; what
cannot start says so.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from group_words import group, why_not

TALLY, MPI, CASE = os.path.realpath(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
GROUP = group(MPI, 4)
# What a launcher tells each process, by which this one is told of its MPI.
SIZE, RANK = {"openmpi": ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), "mpich": ("PMI_SIZE", "PMI_RANK")}[MPI]
BANNER = {"openmpi": "https://www.open-mpi.org", "mpich": "HYDRA build details:"}[MPI]


def tally(*words, timeout=300, **options):
    return subprocess.run([TALLY, *words], capture_output=True, text=True, timeout=timeout, **options)


def ranks():
    """The processes of every group that train, and which rank each is; none of those that watch one."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes().split(b"\0")
            watches = (folder / "comm").read_text() == "tally-watch\n"
        except OSError:
            continue
        own = words[0] == os.fsencode(TALLY) and b"crew" in words and not watches
        names = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")
        rank = [int(word.split(b"=")[1]) for word in environment for name in names if word.startswith(name)]
        if own and rank:
            found[int(folder.name)] = rank[0]
    return found


def wait_until(holds, seconds):
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return held


class Group(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-mpi-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def running(self, seconds=1, cases=100000):
        """A campaign with a group that goes on until it is stopped, so long after all its ranks came up."""
        words = ["verify", "--law", "ranks_equal_full_batch", "--cases", str(cases), "--precision", "fp32",
                 "--processes", "1", "--no-shrink"]
        process = subprocess.Popen([TALLY, *words, "--out", str(self.folder / "run"), *GROUP], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: len(ranks()) == 4, 60), "no group of four came up")
        time.sleep(seconds)
        return process

    def case(self, windows, ranks):
        """The case with other windows, and this in `execution.ranks` as well."""
        case = json.loads(pathlib.Path(CASE).read_text())
        case["windows"] = windows
        case["execution"]["ranks"].update(ranks)
        path = self.folder / "case.json"
        path.write_text(json.dumps(case))
        return path

    def leaves_the_models_bits(self, case, asked=GROUP):
        for words, folder in (([], "model"), (asked, "group")):
            done = tally("replay", str(case), "--dump", str(self.folder / folder), *words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        traces = [(self.folder / folder / "trace.safetensors").read_bytes() for folder in ("model", "group")]
        self.assertEqual(*traces)

    def test_leaves_the_bits_that_ranks_in_one_process_leave(self):
        self.leaves_the_models_bits(CASE)

    def test_trains_a_case_of_fewer_ranks_by_some_of_its_own(self):
        self.leaves_the_models_bits(CASE, group(MPI, 5))

    def test_trains_every_stage_of_every_rank_as_a_process(self):
        pipeline = {"stages": 2, "cut": [2], "schedule": "1f1b"}
        self.leaves_the_models_bits(self.case([[[2, 1], [3, 2]], [[1], [1, 2, 2, 1]]], {"pipeline": pipeline}))

    def test_trains_each_generation_by_as_many_processes_as_it_has_ranks(self):
        for sharding in ("none", "optimizer"):
            changing = [[[2, 1], [3, 2]], [[1], [1, 2], [2], [1]]]
            self.leaves_the_models_bits(self.case(changing, {"sharding": sharding}))

    def test_adds_as_numbers_come_and_as_the_library_adds(self):
        case = json.loads(pathlib.Path(CASE).read_text())
        groups = {"sharding": "gradients", "replicas": 2}
        for algorithm, wire, beside, expected in (("arrival", "buffer", {}, 0), ("library", "buffer", {}, 0),
                                                  ("library", "buffer", groups, 0), ("library", "bf16", {}, 4)):
            case["execution"]["ranks"] = {"reduce": {"algorithm": algorithm, "wire": wire}, **beside}
            path = self.folder / "case.json"
            path.write_text(json.dumps(case))
            done = tally("replay", str(path), *GROUP)
            self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        self.assertIn("a sum by MPI over a wire of bf16", done.stdout + done.stderr)

    def test_holds_the_law_over_drawn_cases(self):
        out = str(self.folder / "out")
        done = tally("verify", "--law", "ranks_equal_full_batch", "--cases", "12", "--out", out, *GROUP)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_accuses_nobody_where_a_campaign_is_interrupted(self):
        for seconds in (0, 1):
            process = self.running(seconds)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            said = process.communicate(timeout=120)[0]
            self.assertEqual(process.returncode, 130, said)
            self.assertNotIn("FAIL", said)
            self.assertFalse((self.folder / "run" / "corpus").exists(), said)
            shutil.rmtree(self.folder / "run", ignore_errors=True)

    def test_is_refused_as_root_unless_it_is_allowed(self):
        if MPI != "openmpi" or os.geteuid() != 0:
            self.skipTest("Open MPI alone asks, and root alone")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_")}
        done = tally("replay", CASE, "--ranks", "mpi:4", env=clean)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("--allow-root allows it", done.stderr)

    @unittest.skipUnless(os.environ.get("TALLY_MPI_KILLS"), "takes minutes: ctest -C failures")
    def test_gives_a_verdict_where_a_rank_is_killed_and_leaves_none_behind(self):
        for seconds in (1, 4, 16, 64):  # until it trains: MPI may take its time to begin
            process = self.running(seconds, 600)  # the strands behind the one that fails go on
            os.kill(next(pid for pid, rank in ranks().items() if rank == 2), signal.SIGKILL)
            said = process.communicate(timeout=120)[0]
            if process.returncode != 2:  # else it was killed before the group trained
                break
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("left no trace: crash: rank 2 was ended by signal 9 (Killed)", said)
        self.assertTrue(wait_until(lambda: not ranks(), 10), f"left behind: {ranks()}")

    @unittest.skipUnless(os.environ.get("TALLY_MPI_KILLS"), "takes minutes: ctest -C failures")
    def test_leaves_no_rank_behind_where_the_program_is_killed(self):
        process = self.running()
        process.kill()
        self.assertTrue(wait_until(lambda: not ranks(), 10), f"left behind: {ranks()}")

    def test_is_refused_where_no_launcher_started_it(self):
        done = tally("crew")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no launcher of MPI started this process", done.stderr)

    def test_is_refused_where_mpi_has_another_size_than_the_launcher_said(self):
        done = tally("crew", env={**os.environ, SIZE: "4"}, stdin=subprocess.DEVNULL, timeout=60)
        self.assertNotEqual(done.returncode, 0, done.stderr)

    def test_is_refused_by_a_launcher_that_starts_ranks_apart(self):
        apart = self.folder / "apart"
        apart.write_text(f"""#!/bin/sh
if [ "$1" = --version ]; then echo '{BANNER}'; exit; fi
while [ "$1" != -n ]; do shift; done
shift 2
for rank in 1 2 3; do {RANK}=$rank {SIZE}=4 "$@" & done
{RANK}=0 {SIZE}=4 exec "$@"
""")
        apart.chmod(0o755)
        done = tally("replay", CASE, "--ranks", "mpi:4", "--launcher", str(apart))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("the launcher started 4 ranks and", done.stderr)
        self.assertNotIn("pass", done.stdout)

    def test_is_refused_where_nccl_or_its_gpus_are_not_there(self):
        missing = [line for line in tally("doctor").stdout.splitlines() if line.startswith("nccl      not run: ")]
        if not missing:
            self.skipTest("NCCL is there")
        done = tally("replay", CASE, "--ranks", "nccl:4", *GROUP[2:])
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn(missing[0].removeprefix("nccl      not run: "), done.stderr)

    def test_is_refused_where_no_launcher_is_found(self):
        done = tally("replay", CASE, "--ranks", "mpi:4", env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("./tally doctor", done.stderr)
        said = tally("doctor", env={**os.environ, "PATH": str(self.folder)})
        self.assertIn(f"{MPI}: module built, no launcher found", said.stdout)

    def test_is_refused_by_words_that_are_no_launcher(self):
        done = tally("replay", CASE, "--ranks", "mpi:4", "--launcher", "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("is not a launcher of Open MPI or MPICH", done.stderr)

    def test_is_refused_of_one_rank(self):
        done = tally("replay", CASE, "--ranks", "mpi:1")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("mpi:N or nccl:N with two ranks or more", done.stderr)


if __name__ == "__main__":
    reason = why_not(TALLY, MPI)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
