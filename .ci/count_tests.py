"""Counts what a ctest run did, and says what each part took: count_tests.py JUNIT.xml TESTS.json STATUS TIMES BUDGET

TESTS.json is `ctest --show-only=json-v1` (JUnit knows no labels), STATUS is ctest's exit status, kept when it is not 0.
A law counts as run on the host when its row, law.NAME, passed or failed.
TIMES has lines `PART SECONDS` by the clock, the last of which is `total`; over BUDGET minutes of that are an error. What
tests took is counted in seconds times the cores that they declare, each test once: under its label, and under another
one than `unit` if it has one. `long` says only that `./tally test` leaves a test out. What failed says so by its last
lines, at the end.
"""
import collections
import json
import sys
import xml.etree.ElementTree as ElementTree


PARTS = ("unit", "law", "fault", "browser", "frameworks")  # first in the table, those that ran
NO_LABEL = "(no label)"
LAST_LINES = 20


def property_by_name(tests, name):
    return {test["name"]: field["value"] for test in tests["tests"] for field in test.get("properties", [])
            if field["name"] == name}


def part_of(labels):
    return min(labels - {"long"}, key=lambda label: (label == "unit", label), default=NO_LABEL)


def outcome_of(case):
    """Skipped is what is disabled or said so itself. What never began for another reason has failed: its program was not
    there, or the test that it builds on failed."""
    skipped = case.find("skipped")
    if case.get("status") == "disabled" or skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "passed" if case.get("status") == "run" else "failed"


def table(times, of_parts):
    """The lines that say what each part took."""
    *before, total = times
    after = sorted(set(of_parts) - set(PARTS))
    rows = [*before, *((part, of_parts[part]) for part in (*PARTS, *after) if part in of_parts), total]
    yield f"{'part':<12}{'seconds':>9}  (of tests times the cores that each declares; all else by the clock)"
    for part, seconds in rows:
        yield f"{part:<12}{seconds:>9.0f}"


def read_times(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rsplit(maxsplit=1) for line in file]
    return [(part, float(seconds)) for part, seconds in rows]


def main(junit, tests, status, times, budget):
    with open(tests, encoding="utf-8") as file:
        listed = json.load(file)
    labels = {name: set(value) for name, value in property_by_name(listed, "LABELS").items()}
    cores = property_by_name(listed, "PROCESSORS")
    took = collections.Counter()
    counts = collections.Counter()
    by_label = collections.defaultdict(collections.Counter)
    laws = 0
    last_lines = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        outcome = outcome_of(case)
        counts[outcome] += 1
        of_case = labels.get(case.get("name"), set())
        for label in of_case or {NO_LABEL}:
            by_label[label][outcome] += 1
        if outcome != "skipped":
            took[part_of(of_case)] += float(case.get("time", 0)) * cores.get(case.get("name"), 1)
        laws += outcome != "skipped" and case.get("name").startswith("law.")
        if outcome != "passed":
            print(f"{outcome}: {case.get('name')}")
        if outcome == "failed":
            last_lines[case.get("name")] = (case.findtext("system-out") or "").rstrip().splitlines()[-LAST_LINES:]

    def sentence(count):
        return ", ".join(f"{count[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))

    for label in sorted(by_label):
        print(f"label {label}: {sentence(by_label[label])}")
    read = read_times(times)
    print("\n".join(table(read, took)))
    minutes = read[-1][1] / 60
    if not minutes <= budget:
        print(f"error: all of it took {minutes:.1f} minutes; expected at most {budget} (TALLY_CI_BUDGET)")
        status = status or 1
    if laws == 0:
        print("error: no test labelled `law` ran on the host; expected at least one")
        status = status or 1
    for name, lines in last_lines.items():
        print(f"the end of {name}:", *lines, sep="\n  ")
    print(sentence(counts))
    return status or int(counts["failed"] > 0 or counts["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])))
