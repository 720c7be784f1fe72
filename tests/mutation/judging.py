"""What judges, changed: its sources, and who has to notice: unit tests, the fitting ones first, then laws and faults."""
import glob
import json
import re
import signal

from campaign import SECONDS_AT_LEAST, Campaign
from program import run_limited

SCOPE = [f"{folder}/**/*.[ch]pp" for folder in (
    *(f"oracle/{name}" for name in ("recipe", "layers", "losses", "window", "tolerance", "exact", "graph")),
    *(f"properties/{name}" for name in ("judge", "lenses", "diagnosis")))]
MOST_OBJECTS = 4  # a header that more objects include is left out: each change of it would take minutes to compile
PROGRAMS = ("oracle", "properties", "kernels", "reports")
TARGETS = {name: f"tests/{name}_tests" for name in PROGRAMS}
SLOWEST = 1     # seconds: tests that take longer are left out
# Known to: they would take most of the time that the unchanged programs need.
SLOW = ("Studies/*", "Catalogue/*", "Replicas.PassOfEvery*", "Diagnose.FaultsThatHaveASuspectLookLikeIt", "Evidence.*",
        "StepStatistics.Pass*", "Magnitude.*", "StructuredData.*", "Shared*.Pass*", "Checkpoint.PassesOfEverySharing*",
        "MissingTap.HidesNoOtherTap", "HostileTaps.*", "DriftSweeps.*", "RunningOfRanks.PassWhosever*",
        "Variants/NormOverTensors.AddsAMillion*", "HalfArithmetic/*", "HalfBits.*",
        "LaunchDesigns.*", "Groups.PassCaptures*", "RandomPlan.MakesValid*", "EvidenceTables.*", "Pieces.FindWhat*")
SLOWER = 5      # how many times slower than the unchanged program counts as hanging
FAULTS = (  # of every stage
    "attention-scale-missing", "dropout-mask-redrawn", "rms-eps-outside-root", "mean-of-means", "lost-atomic-add",
    "residual-gradient-dropped", "bf16-accumulator", "truncating-accumulator", "average-is-a-sum", "double-unscale",
    "overflow-not-checked", "norm-of-own-stage", "clip-before-unscale", "clip-coefficient-not-capped",
    "adam-vs-adamw-decay", "bias-correction-stuck", "sched-per-microbatch", "scaler-counts-microbatches",
    "biased-running-variance", "stale-weight-cast")
# Tests that stand elsewhere than the folder that they test.
TESTED_AS = {"properties/lenses": "properties/judge"}
SUITE = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\((\w+),", re.MULTILINE)
RUNS = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] ([^\s,]+)", re.MULTILINE)  # tests that are skipped behind it say RUN too


def reaches(program, path):
    """Whether mutants of `path` are tried: no header of many objects, nor one that is compiled beforehand."""
    return path.endswith(".cpp") or (
        path not in program.precompiled() and len(program.objects_with(path)) <= MOST_OBJECTS)


def suites_for(root, name, path):
    """Suites of tests/`name` in files that include a header of `path`'s folder or stand where its tests do."""
    folder = "/".join(path.split("/")[:2])
    folder = TESTED_AS.get(folder, folder)
    found = set()
    for test in glob.glob(f"{root}/tests/{name}/**/*_test.cpp", recursive=True):
        with open(test, encoding="utf-8") as file:
            text = file.read()
        if f'#include "{folder}/' in text or f"/tests/{folder}/" in test:
            found.update(SUITE.findall(text))
    return found


class Judges:
    """The unit tests of all programs but slow ones, every law on one case a precision, and seeded faults."""

    def __init__(self, root, seed):
        self.root = root
        self.campaign = Campaign(["*"], [1], seed)
        self.seconds = {}  # program -> test -> what the unchanged one took
        self.found = None  # what the unchanged program says of the faults

    def prove(self, link, folder):
        """Runs the unchanged programs; raises where they fail anything, since a kill would then mean nothing."""
        for name in PROGRAMS:
            code, output = run_limited([link(TARGETS[name]), "--gtest_output=json:tests.json",
                                         f"--gtest_filter=-{':'.join(SLOW)}"], folder, None)
            if code != 0:
                raise RuntimeError(f"the unchanged {name}_tests end with {code}: {output[-2000:]}")
            with open(f"{folder}/tests.json", encoding="utf-8") as file:
                suites = json.load(file)["testsuites"]
            tests = {f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
                     for suite in suites for test in suite["testsuite"]}
            self.seconds[name] = {test: seconds for test, seconds in tests.items() if seconds <= SLOWEST}
        self.campaign.prove(link, folder)
        self.found = self._faults(link(), folder)
        if not all(caught and at_its_stage for caught, at_its_stage, _ in self.found.values()):
            raise RuntimeError(f"the unchanged program misses a fault: {self.found}")

    def turns(self, path):
        """(program, its tests to run next): the program of the changed file first, of each the fitting tests first."""
        for name in sorted(PROGRAMS, key=lambda name: name != path.split("/")[0]):
            suites = suites_for(self.root, name, path)
            fitting = {test for test in self.seconds[name] if suites.intersection(test.split(".")[0].split("/"))}
            yield name, sorted(fitting)
            yield name, sorted(self.seconds[name].keys() - fitting)

    def run(self, link, path, folder):
        """What killed the programs whose file `path` was changed, as a dictionary, or None."""
        for name, tests in self.turns(path):
            program = link(TARGETS[name])
            found = self._tests(program, name, tests, folder) if program and tests else None
            if found is not None:
                return found
        found = self.campaign.run(link, path, folder)
        if found is not None:
            return found
        faults = self._faults(link(), folder)
        other = [name for name in self.found if faults.get(name) != self.found[name]]
        return {"by": "fault", "law": other[0], "stage": "", "class": str(faults.get(other[0]))} if other else None

    def _tests(self, program, name, tests, folder):
        limit = SECONDS_AT_LEAST + SLOWER * sum(self.seconds[name][test] for test in tests)
        code, output = run_limited([program, "--gtest_fail_fast", f"--gtest_filter={':'.join(tests)}"], folder, limit)
        if code == 0:
            return None
        last, failed = (RUNS.findall(output) or [""])[-1], (FAILED.findall(output) or [""])[0]
        if code is None:
            return {"by": "timeout", "law": f"{name}_tests", "stage": "", "class": f"no end within {limit:.0f} s"}
        if code < 0:
            return {"by": "crash", "law": last, "stage": "", "class": signal.Signals(-code).name}
        return {"by": "unit test", "law": failed, "stage": f"{name}_tests", "class": ""}

    def _faults(self, program, folder):
        """Of each fault: whether a law caught it, at its own stage, and whether the first suspect is its name."""
        _, output = run_limited([program, "faults", *FAULTS, "--subject", "host", "--processes", "1", "--json"], folder, 600)
        try:
            faults = json.loads(output[output.index("{\n"):output.rindex("}") + 1])["faults"]
        except ValueError:
            return {}
        return {fault["name"]: (fault["caught"], fault["right_stage"], fault["right_suspect"]) for fault in faults}

    def __str__(self):
        return (f"Each ran up to {sum(map(len, self.seconds.values()))} unit tests (those of more than {SLOWEST} s left "
                f"out), every law on one case a precision, and {len(FAULTS)} seeded faults, of which the same had to be "
                "found, at the same stage and under the same name; the unchanged program passes all.")
