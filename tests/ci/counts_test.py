"""What `.ci/run` prints at its end: the parts of a run with their times, its budget, and the count."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".ci"))
import count_tests  # noqa: E402

ROWS = [  # name, labels, cores, seconds, status
    ("one", ["unit"], 1, 10, "run"), ("two", ["unit"], 2, 20, "run"), ("loop", ["unit", "weekly"], 1, 7, "run"),
    ("law.exact", ["law"], 1, 30, "run"), ("planted", ["fault"], 1, 40, "run"), ("page", ["browser"], 1, 5, "run"),
    ("ranks", ["long", "mpi"], 2, 3, "run"), ("loose", [], 1, 2, "run"), ("absent", ["gpu"], 1, 2, "notrun")]
SKIPPED = '<skipped message="SKIP_RETURN_CODE=77"/>'
TIMES = "bare root 90\nset-up 60\nbuild 600\ntotal 3600\n"


def ran(rows=ROWS, times=TIMES, budget=60, status=0):
    """(exit status, the lines printed) of a run with these rows."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cases = "".join(f'<testcase name="{name}" time="{seconds}" status="{ended}">{SKIPPED * (ended == "notrun")}</testcase>'
                        for name, _, _, seconds, ended in rows)
        (folder / "junit.xml").write_text(f"<testsuite>{cases}</testsuite>")
        (folder / "tests.json").write_text(json.dumps({"tests": [
            {"name": name, "properties": [{"name": "LABELS", "value": labels}] * bool(labels)
             + [{"name": "PROCESSORS", "value": cores}] * (cores > 1)} for name, labels, cores, _, _ in rows]}))
        (folder / "times").write_text(times)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            ended = count_tests.main(folder / "junit.xml", folder / "tests.json", status, folder / "times", budget)
        return ended, printed.getvalue().splitlines()


class Counts(unittest.TestCase):
    def test_the_table_says_what_each_part_took(self):
        _, lines = ran()

        first = next(i for i, line in enumerate(lines) if line.startswith("part "))
        rows = [line.rsplit(maxsplit=1) for line in lines[first + 1:-1]]

        self.assertEqual([(part.strip(), int(seconds)) for part, seconds in rows],
                         [("bare root", 90), ("set-up", 60), ("build", 600), ("unit", 50), ("law", 30), ("fault", 40),
                          ("browser", 5), ("(no label)", 2), ("mpi", 6), ("weekly", 7), ("total", 3600)])

    def test_the_count_is_the_last_line(self):
        for budget in (60, 1):
            self.assertEqual(ran(budget=budget)[1][-1], "8 passed, 0 failed, 1 skipped")

    def test_each_label_of_a_test_counts_it_and_what_did_not_pass_is_named(self):
        _, lines = ran(rows=[*ROWS, ("wrong", ["unit"], 1, 1, "fail")], status=8)
        for line in ("label unit: 3 passed, 1 failed, 0 skipped", "label weekly: 1 passed, 0 failed, 0 skipped",
                     "label long: 1 passed, 0 failed, 0 skipped", "label gpu: 0 passed, 0 failed, 1 skipped",
                     "label (no label): 1 passed, 0 failed, 0 skipped", "failed: wrong", "skipped: absent"):
            self.assertIn(line, lines)

    def test_only_what_says_so_or_is_disabled_is_skipped(self):
        def outcome(status, message=None):
            reason = f'<skipped message="{message}"/>' if message else ""
            return count_tests.outcome_of(ElementTree.fromstring(f'<testcase name="a" status="{status}">{reason}</testcase>'))
        for message in ("Fixture dependency failed", "Unable to find executable", "Required Files Missing"):
            self.assertEqual(outcome("notrun", message), "failed")
        for message in ("SKIP_RETURN_CODE=77", "SKIP_REGULAR_EXPRESSION_MATCHED"):
            self.assertEqual(outcome("notrun", message), "skipped")
        self.assertEqual([outcome(status) for status in ("run", "fail", "disabled")], ["passed", "failed", "skipped"])

    def test_a_failure_that_ctest_did_not_report_fails(self):
        self.assertEqual(ran(rows=[*ROWS, ("wrong", ["unit"], 1, 1, "fail")])[0], 1)

    def test_no_row_of_a_law_is_an_error(self):
        for law in (("campaign.runs", ["law"], 2, 9, "run"), ("law.exact", ["law"], 1, 9, "notrun")):
            ended, lines = ran(rows=[law, ("one", ["unit"], 1, 1, "run")])
            self.assertEqual(ended, 1)
            self.assertIn("error: no test labelled `law` ran on the host; expected at least one", lines)
            self.assertEqual(ran(rows=[law, ("one", ["unit"], 1, 1, "run")], status=8)[0], 8)

    def test_a_run_over_its_budget_fails(self):
        self.assertEqual(ran()[0], 0)
        ended, lines = ran(times=TIMES.replace("3600", "3606"))
        self.assertEqual(ended, 1)
        self.assertIn("error: all of it took 60.1 minutes; expected at most 60 (TALLY_CI_BUDGET)", lines)
        self.assertEqual(ran(times=TIMES.replace("3600", "nan"))[0], 1)
        self.assertEqual(ran(times=TIMES.replace("3600", "3606"), status=8)[0], 8)

    def test_a_run_without_set_up_has_a_table_too(self):
        ended, lines = ran(times="total 1\n")
        self.assertEqual(ended, 0)
        self.assertRegex(lines[-2], r"^total +1$")


if __name__ == "__main__":
    unittest.main()
