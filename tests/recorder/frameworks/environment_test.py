#!/usr/bin/env python3
"""How the environment of the frameworks is made, kept and not to be had: python3 environment_test.py"""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import environment  # noqa: E402


class Environment(unittest.TestCase):
    def setUp(self):
        self.near = tempfile.TemporaryDirectory()
        self.addCleanup(self.near.cleanup)
        self.folder = os.path.join(self.near.name, "frameworks")

    def test_it_is_made_once_and_again_when_its_lists_change(self):
        made = []

        def make(folder):
            made.append(folder)
            os.makedirs(folder, exist_ok=True)

        for _ in range(2):
            self.replaced(make)
        self.assertEqual(made, [self.folder])

        with open(os.path.join(self.folder, environment.STAMP), "w", encoding="utf-8") as file:
            file.write("of another list")
        self.replaced(make)
        self.assertEqual(made, [self.folder] * 2)

    def replaced(self, make):
        own, environment.make = environment.make, make
        try:
            self.assertEqual(environment.environment(self.folder), os.path.join(self.folder, "bin", "python"))
        finally:
            environment.make = own

    def test_what_is_not_finished_is_not_taken_for_made(self):
        def fails(folder):
            os.makedirs(folder)
            raise environment.NotToBeHad("no network")

        with self.assertRaises(environment.NotToBeHad):
            self.replaced(fails)
        self.assertFalse(os.path.exists(os.path.join(self.folder, environment.STAMP)))

    def test_a_machine_that_reaches_no_index_skips_with_a_reason(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "run.py"), self.folder, "-c", "print('ran')"],
                              env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.near.name},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertRegex(done.stdout, "^skipped: no environment with the frameworks: ERROR: No matching distribution")
        self.assertNotIn("ran", done.stdout)

    def test_every_package_has_one_version(self):
        for name in environment.LISTS:
            with open(name, encoding="utf-8") as file:
                lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
            self.assertTrue(lines)
            for line in lines:
                self.assertRegex(line, r"^[A-Za-z0-9_.-]+==[A-Za-z0-9.]+$")


if __name__ == "__main__":
    unittest.main()
