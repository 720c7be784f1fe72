#!/usr/bin/env python3
"""No law accuses a clean case that people wrote, whatever it draws itself: every_law.py TALLY CASES FOUR_RANKS

Every case of the folder CASES, and FOUR_RANKS as ranks share their work, under every law of `tally list laws`: each
passes, or says that it is not for such a case. Cases of opaque models are refused before any law sees them."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from language_models import token_case

TALLY, CASES, FOUR = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
FEWER = [[[2, 1], [3, 2]], [[1], [1, 2, 2, 1]]]
CHANGING = [[[2, 1], [3, 2]], [[1], [1, 2], [2], [1]]]
WAYS = {  # windows (None: as they are), and `execution.ranks`
    "zero_1": (None, {"sharding": "optimizer", "reduce": {"algorithm": "in_order"}}),
    "hybrid": (None, {"sharding": "gradients", "replicas": 2}),
    "fully_sharded": (None, {"sharding": "parameters", "buckets": {"elements": 1}}),
    "offloaded": (None, {"sharding": "optimizer", "offload": True}),
    "running_total": (None, {"communicate": "running_total", "reduce": {"divide": "before"}}),
    "stages": (FEWER, {"pipeline": {"stages": 2, "cut": [2], "schedule": "1f1b"}}),
    "stages_zero_1": (FEWER, {"sharding": "optimizer", "pipeline": {"stages": 2, "cut": [2], "schedule": "1f1b"}}),
    "changing": (CHANGING, {}),
    "changing_sharded": (CHANGING, {"sharding": "parameters"}),
}


# Laws that make models and cuts of their own know neither these layers nor these ranks.
LANGUAGE_MODELS = {
    "tokens_in_stages": token_case(ranks={"pipeline": {"stages": 2, "cut": [2]}}),
    "tokens_on_ranks": token_case(windows=[[[2], [2]]]),
    "tokens_recomputed": token_case(windows=[[[1, 1], [2]]], recompute=["a"]),
}


def cases(folder):
    found = [path for path in sorted(CASES.glob("*.json")) if '"opaque"' not in path.read_text()] + [FOUR]
    for name, (windows, ranks) in WAYS.items():
        case = json.loads(FOUR.read_text())
        case["windows"] = windows or case["windows"]
        case["execution"] = {"ranks": ranks}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(case))
        found.append(path)
    for name, case in LANGUAGE_MODELS.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(case))
        found.append(path)
    return found


def judged(case, law):
    """What is wrong with the answer; empty where nothing is."""
    done = subprocess.run([TALLY, "replay", str(case), "--law", law], capture_output=True, text=True, timeout=300)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    allowed = {0: "pass", 4: "not_run"}
    if last.startswith("vacuous") or last.split(":")[0] == allowed.get(done.returncode):
        return ""
    return f"{case.name}, law {law}: exit {done.returncode}, {last or done.stderr.strip()[-300:]}"


def main():
    listed = subprocess.run([TALLY, "list", "laws"], capture_output=True, text=True, check=True).stdout
    laws = [line.split()[0] for line in listed.splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = [(case, law) for case in cases(pathlib.Path(folder)) for law in laws]
        wrong = [answer for answer in pool.map(lambda pair: judged(*pair), asked) if answer]
    print("\n".join(wrong) or f"{len(asked)} answers, none of them an accusation")
    return 1 if wrong or len(asked) < len(laws) * len(WAYS) else 0


if __name__ == "__main__":
    sys.exit(main())
