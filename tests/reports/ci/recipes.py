"""The recipes of reports/ci: they are YAML, keep their artifacts, and every tally command in them is one; a report
stands after a shard of a campaign crashed. Exit status 77 without PyYAML."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    sys.exit(77)

import steps

TALLY, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
RECIPES = ROOT / "reports" / "ci"


def commands(text):
    """Words of every call of ./tally, with what the environment brings replaced."""
    for line in text.splitlines():
        if line.strip().startswith("./tally "):
            yield shlex.split(re.sub(r"\$\{\{.*?\}\}|\$\w+", "VALUE", line.strip()))[1:]


class Recipes(unittest.TestCase):
    def exists(self, words):
        """The command and its options stand in its own help."""
        command = [word for word in words[:2] if not word.startswith("-") and "/" not in word]
        result = subprocess.run([TALLY, *command, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, f"{words}: {result.stdout}{result.stderr}")
        self.assertIn(" ".join(["Usage: tally", *command]), result.stdout, f"{words}: not a command")
        for option in (word for word in words if word.startswith("--")):
            self.assertRegex(result.stdout, rf"(?m)^\s+(?:-\w,)?{option}\b", f"{words}: {option}")

    def test_github_runs_commands_that_exist_and_keeps_its_files(self):
        job = yaml.safe_load((RECIPES / "github.yml").read_text())["jobs"]["equivalence"]
        calls = [words for step in job["steps"] for words in commands(step.get("run", ""))]
        self.assertEqual([words[0] for words in calls], ["gate"])
        for words in calls:
            self.exists(words)
        self.assertEqual(job["container"], "debian:12")
        self.assertIn("bash reports/ci/gate.sh out", [step.get("run") for step in job["steps"]])
        self.assertIn("ccache", job["steps"][0]["run"])
        upload = job["steps"][-1]
        self.assertIn("upload-artifact", upload["uses"])
        self.assertEqual(upload["if"], "always()")
        self.assertTrue(any("GITHUB_STEP_SUMMARY" in step.get("run", "") for step in job["steps"]))

    def test_gitlab_runs_commands_that_exist_and_keeps_its_files(self):
        job = yaml.safe_load((RECIPES / "gitlab.yml").read_text())["equivalence"]
        calls = [words for line in job["script"] + job["after_script"] for words in commands(line)]
        self.assertEqual([words[0] for words in calls], ["history", "report"])
        self.assertEqual(job["image"], "debian:12")
        self.assertIn("bash reports/ci/gate.sh out", job["script"])
        for words in calls:
            self.exists(words)
        self.assertEqual(job["artifacts"]["when"], "always")
        self.assertEqual(job["artifacts"]["reports"]["junit"], "out/junit.xml")

    def test_what_they_run_are_commands_that_exist(self):
        text = (RECIPES / "gate.sh").read_text().replace("exec ./tally", "./tally")
        calls = list(commands(re.sub(r'"\$@"|\$\{waivers.*\}|\|\| exit', "", text)))
        self.assertEqual([words[0] for words in calls], ["verify", "bless", "gate"])
        for words in calls:
            self.exists(words)

    def test_the_recipe_for_slurm_runs_commands_that_exist_and_is_well_formed(self):
        text = (RECIPES / "slurm.sh").read_text()
        call = re.sub(r'"\$\{to\[@\]\}"|"\$@"', "", next(line for line in text.splitlines() if line.startswith("  ./tally")))
        for words in commands(call):
            self.exists(words)
            self.assertIn("--across", words)
        where = re.findall(r"to=\((--[a-z]+) ", text)
        self.assertEqual(where, ["--out", "--resume"])
        self.exists(["verify", *where])
        self.assertEqual(subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode, 0)

    def test_the_first_run_makes_the_baseline_and_the_second_is_held_against_it(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "repository"
            shutil.copytree(RECIPES, copy / "reports" / "ci")
            (copy / "tally").symlink_to(ROOT / "tally")

            def run():
                return subprocess.run(["bash", "reports/ci/gate.sh", "out", "--law", "exact_lane", "--precision", "fp32",
                                       "--effort", "0.05", "--no-training"], cwd=copy, capture_output=True, text=True,
                                      timeout=300, env={**os.environ, "CI": "true",
                                                        "TALLY_BUILD": str(pathlib.Path(TALLY).parent.parent)})

            first = run()
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertIn("commit out/host.json as baselines/host.json", first.stdout)
            second = run()
            self.assertEqual(second.returncode, 0, second.stdout + second.stderr)
            self.assertNotIn("commit out/host.json", second.stdout)
            self.assertTrue(second.stdout.splitlines()[-1].startswith("PASS"), second.stdout)
            (copy / "baselines" / "host.json").write_text("{}")
            self.assertEqual(run().returncode, 2)

    def test_the_steps_of_a_recipe_make_a_script(self):
        script = steps.script((RECIPES / "github.yml").read_text(), "main")
        self.assertNotIn("${{", script)
        self.assertIn('--against "origin/main"', script)
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode, 0)
        small = "jobs: {j: {steps: [{name: a, run: exit 3}, {name: b, run: echo B}, {name: c, if: always(), run: echo C}]}}"
        ran = subprocess.run(["bash", "-c", steps.script(small, "main")], capture_output=True, text=True)
        self.assertEqual((ran.returncode, "B" in ran.stdout.split(), "C" in ran.stdout.split()), (3, False, True))

    def test_a_misspelt_command_or_option_is_noticed(self):
        for words in (["verfy"], ["verify", "--unstered"], ["gate", "out/results.json", "--baselin", "b"]):
            with self.assertRaises(AssertionError):
                self.exists(words)

    @unittest.skipUnless(shutil.which("ctest"), "no ctest")
    def test_ctest_renders_the_report_after_a_shard_crashed(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            crashing = folder / "crashing"
            crash = 'case "$*" in *"--shard 2/3"*) kill -SEGV $$ ;; esac'
            crashing.write_text(f'#!/bin/sh\n{crash}\nexec "{TALLY}" "$@"\n')
            crashing.chmod(0o755)
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(recipe NONE)\nenable_testing()\n"
                f'include("{RECIPES}/ctest.cmake")\n'
                f'tally_add_campaign(NAME c PROGRAM "{crashing}" SHARDS 3 OUT "{folder}/out" ARGUMENTS --subject host '
                "--law exact_lane --cases 1 --no-training)\n")
            build = folder / "build"
            subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", build], check=True, capture_output=True,
                           timeout=120)
            for chosen in ([], ["-R", "c.2"]):
                ran = subprocess.run(["ctest", "--test-dir", build, *chosen], capture_output=True, text=True,
                                     timeout=300)
                self.assertNotEqual(ran.returncode, 0)
                self.assertRegex(ran.stdout, r"c\.2 .*(Exception|Failed)")
                self.assertRegex(ran.stdout, r"c\.report ")
                if not chosen:
                    self.assertIn("shard 2 of 3 is missing", (folder / "out" / "report.html").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
