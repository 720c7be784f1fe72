"""What a row of a law says of a campaign that has run, and what running one leaves."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import campaign_row

PASSED = '<testcase classname="{}" name="{}"/>'
FAILED = '<testcase classname="{}" name="{}"><failure message="off">far off</failure></testcase>'
BROKEN = '<testcase classname="{}" name="{}"><error message="signal 11"/></testcase>'
SKIPPED = '<testcase classname="{}" name="{}"><skipped message="vacuous"/></testcase>'
CONTROL = PASSED.format("controls", "exact")


class Rows(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="a campaign ")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name) / "rows"

    def leaving(self, *cases, code=0):
        """A program that writes these cases and exits so."""
        text = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
        return [sys.executable, "-c", f"import pathlib, sys\nfolder = pathlib.Path({str(self.folder)!r})\n"
                f"folder.mkdir(exist_ok=True)\n(folder / 'junit.xml').write_text({text!r})\nsys.exit({code})"]

    def found(self, *cases, law="exact"):
        """(exit code, what is printed) of a law's row where these cases ran."""
        campaign_row.ran(self.folder, self.leaving(*cases))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            return campaign_row.found_of(self.folder, law), printed.getvalue()

    def test_a_law_passes_by_its_own_cases_and_its_control(self):
        self.assertEqual(self.found(PASSED.format("exact.fp32", "c-1"), SKIPPED.format("exact.fp16", "c-2"), CONTROL),
                         (0, "exact: 1 of 2 cases passed, 0 failed, the control counted\n"))

    def test_a_case_or_a_control_that_is_bad_fails_it_and_is_named(self):
        passed = PASSED.format("exact.fp32", "c-1")
        for bad, name in ((FAILED.format("exact.fp32", "c-2"), "c-2"), (BROKEN.format("exact.fp32", "c-3"), "c-3")):
            code, printed = self.found(passed, bad, CONTROL)
            self.assertEqual((code, name in printed), (1, True), printed)
        self.assertEqual(self.found(passed, FAILED.format("controls", "exact"))[0], 1)

    def test_nothing_shown_is_no_pass(self):
        self.assertEqual(self.found(SKIPPED.format("exact.fp32", "c-1"), CONTROL)[0], 1)
        self.assertEqual(self.found(CONTROL)[0], 1)
        code, printed = self.found(PASSED.format("exact.fp32", "c-1"))
        self.assertEqual((code, printed), (1, "exact: 1 of 1 cases passed, 0 failed, no control counted\n"))

    def test_another_law_of_a_longer_name_is_another(self):
        others = PASSED.format("exact_sums.fp32", "c-1"), PASSED.format("controls", "exact_sums")
        self.assertEqual(self.found(*others)[0], 1)
        self.assertEqual(self.found(*others, law="exact_sums")[0], 0)
        self.assertEqual(self.found(*others, FAILED.format("exact_sums.fp32", "c-2"), PASSED.format("exact.fp32", "c-3"),
                                    CONTROL)[0], 0)

    def test_a_campaign_that_failed_has_run_and_its_code_is_kept(self):
        for code, runs in ((0, 0), (1, 0), (4, 4), (77, 77)):
            self.assertEqual(campaign_row.ran(self.folder, self.leaving(CONTROL, code=code)), runs)
            self.assertEqual((self.folder / "exit_code").read_text(), str(code))

    def test_what_an_earlier_campaign_left_counts_for_nothing(self):
        campaign_row.ran(self.folder, self.leaving(CONTROL))
        for code in (0, 1):
            self.assertNotEqual(campaign_row.ran(self.folder, [sys.executable, "-c", f"import sys; sys.exit({code})"]), 0)
            self.assertFalse((self.folder / "junit.xml").exists())


if __name__ == "__main__":
    unittest.main()
