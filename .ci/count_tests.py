"""Counts what a ctest run did: count_tests.py JUNIT.xml TESTS.json STATUS

TESTS.json is `ctest --show-only=json-v1` (JUnit knows no labels), STATUS is ctest's exit status, kept when it is not 0.
A law counts as run on the host when its row passed or failed and does not carry the label `gpu`.
"""
import collections
import json
import sys
import xml.etree.ElementTree as ElementTree


def labels_by_name(tests):
    labels = {}
    for test in tests["tests"]:
        for field in test.get("properties", []):
            if field["name"] == "LABELS":
                labels[test["name"]] = set(field["value"])
    return labels


def main(junit, tests, status):
    with open(tests, encoding="utf-8") as file:
        labels = labels_by_name(json.load(file))
    counts = collections.Counter()
    by_label = collections.defaultdict(collections.Counter)
    laws = 0
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        outcome = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
        counts[outcome] += 1
        of_case = labels.get(case.get("name"), set())
        for label in of_case or {"(no label)"}:
            by_label[label][outcome] += 1
        laws += outcome != "skipped" and "law" in of_case and "gpu" not in of_case
        if outcome != "passed":
            print(f"{outcome}: {case.get('name')}")

    def sentence(count):
        return ", ".join(f"{count[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))

    for label in sorted(by_label):
        print(f"label {label}: {sentence(by_label[label])}")
    if laws == 0:
        print("error: no test labelled `law` ran on the host; expected at least one")
        status = status or 1
    print(sentence(counts))
    return status or int(counts["failed"] > 0 or counts["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
