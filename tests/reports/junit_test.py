"""junit.xml of every sample as its readers take it: junit_test.py FOLDER."""
import json
import pathlib
import sys

from lxml import etree


def problems(folder):
    root = etree.parse(str(folder / "junit.xml")).getroot()
    results = json.loads((folder / "results.json").read_text())
    if root.tag != "testsuites":
        yield f"the root is {root.tag}"
    tests = list(root.iter("testcase"))
    if not tests:
        yield "no test case: an empty file looks like success"
    names = [(t.get("classname"), t.get("name")) for t in tests]
    if len(set(names)) != len(names):
        yield "two test cases have the same name"
    for suite in root:
        for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped"), ("testcase", "tests")):
            if int(suite.get(key)) != len(list(suite.iter(tag))):
                yield f"{suite.get('name')}: {key} says {suite.get(key)}, there are {len(list(suite.iter(tag)))}"
    failed = [c for c in results["cases"] if c["status"] == "fail"]
    bodies = [f.text or "" for f in root.iter("failure")]
    for case in failed:
        if not any("reproduce: ./tally replay" in body and "over bound" in body and "c-" + case["id"] in body for body in bodies):
            yield f"the failure of {case['id']} has no census and replay command in its body"
    lost = [f for f in results["faults"] if not f["caught"]]
    if len(bodies) < len(failed) + len(lost):
        yield f"{len(bodies)} failures for {len(failed)} failing cases and {len(lost)} faults that were not caught"
    if (results["partial"] or not results["cases"]) and root.find("testsuite/testcase/skipped") is None:
        yield "a run that is not whole looks whole"


def main(folder):
    folders = sorted(p.parent for p in pathlib.Path(folder).glob("*/junit.xml"))
    found = [f"{f.name}: {p}" for f in folders for p in problems(f)]
    print("\n".join(found) or f"{len(folders)} files")
    return 1 if found or len(folders) < 6 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
