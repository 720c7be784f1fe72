"""The jobs of .github/workflows and .gitlab-ci.yml: they parse, run what exists, say the same, and pin what they use.
Exit status 77 without PyYAML."""
import json
import os
import pathlib
import re
import shlex
import sys
import unittest

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML here")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PINNED = re.compile(r"^[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
SET_UP = "apt-get update && apt-get install -y --no-install-recommends git ca-certificates"
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())
LISTS = "".join(path.read_text() for path in sorted((ROOT / "tests").rglob("*.cmake")))
LABELS = set(re.findall(r"LABELS (\w+)", LISTS)) | {"browser", "law", "long"}
CONFIGURATIONS = set(re.findall(r"CONFIGURATIONS (\w+)", LISTS))


def faults_of(command):
    """What is wrong with a job's command, as sentences."""
    words = shlex.split(command)
    settings = [words.pop(0).split("=", 1) for _ in range(next(i for i, word in enumerate(words) if "=" not in word))]
    for name, value in settings:
        presets = [{preset["name"] for preset in PRESETS[kind]} for kind in ("configurePresets", "buildPresets", "testPresets")]
        if name == "TALLY_PRESET" and not all(value in names for names in presets):
            yield f"{value} is no preset that is configured, built and tested"
        if name not in ("TALLY_PRESET", "TALLY_EFFORT", "TALLY_CI_BUDGET"):
            yield f"{name} is no setting"
    program = words.pop(0)
    program = words.pop(0) if program == "bash" else program
    if not os.access(ROOT / program, os.X_OK):
        yield f"{program} is no program"
    if program == "./tally" and words.pop(0) != "test":
        yield "the launcher is only asked to test"
    while words:
        option = words.pop(0)
        if option in ("-L", "-LE"):
            yield from (f"{label} is no label" for label in words.pop(0).split("|") if label not in LABELS)
        elif option == "-C":
            if (name := words.pop(0)) not in CONFIGURATIONS:
                yield f"{name} is no configuration of a test"
        elif option != "--no-cuda":
            yield f"{option} is no option that jobs use"


def loose_actions(text):
    """Actions that are not pinned by a commit with its version beside it."""
    return [used for used in re.findall(r"uses: (.*)$", text, re.MULTILINE) if not PINNED.match(used)]


def budget_of(command):
    """The minutes that a job's command allows itself; 0 where it counts none."""
    return int(([*re.findall(r"TALLY_CI_BUDGET=(\d+)", command)] or [85])[0]) if ".ci/run" in command else 0


def github_jobs():
    """(name, job, what starts it) of each."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text())
        yield from ((name, job, workflow[True]) for name, job in workflow["jobs"].items())  # YAML reads `on` as true


def github_commands():
    commands = {}
    for name, job, _ in github_jobs():
        assert job["container"] == "debian:12" and job["timeout-minutes"], name
        assert job["steps"][0]["run"] == SET_UP, name
        commands[name], = [step["run"] for step in job["steps"][1:] if "run" in step]
    return commands


def gitlab_jobs():
    """(name, job) of each."""
    jobs = yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text())
    default = jobs.pop("default")
    assert default == {"image": "debian:12", "before_script": [SET_UP]}, default
    for name in (name for name in jobs if not name.startswith(".")):
        yield name, {**jobs[jobs[name]["extends"]], **jobs[name]}


def gitlab_commands():
    commands = {}
    for name, job in gitlab_jobs():
        settings = dict(job.get("variables", {}))
        line, = job["script"]
        # The shell splits the variable into words and does nothing else to them.
        line = line.replace("$SELECTION", " ".join(map(shlex.quote, settings.pop("SELECTION", "").split())))
        commands[name] = " ".join([*(f"{key}={value}" for key, value in settings.items()), line]).strip()
    return commands


class Jobs(unittest.TestCase):
    def test_every_command_exists(self):
        commands = github_commands()
        self.assertGreater(len(commands), 1)
        for name, command in commands.items():
            self.assertEqual(list(faults_of(command)), [], f"{name}: {command}")

    def test_both_services_run_the_same(self):
        def words(commands):
            return {name: shlex.split(command) for name, command in commands.items()}
        self.assertEqual(words(github_commands()), words(gitlab_commands()))

    def test_both_services_run_it_as_often(self):
        def once_a_week(starts):
            if starts == ["push", "pull_request"]:
                return False
            self.assertEqual(list(starts), ["schedule", "workflow_dispatch"])
            self.assertRegex(starts["schedule"][0]["cron"], r"^\d+ \d+ \* \* \d$")
            return True
        weekly = {"==": True, "!=": False}
        self.assertEqual({name: once_a_week(starts) for name, _, starts in github_jobs()},
                         {name: weekly[job["rules"][0]["if"].split()[1]] for name, job in gitlab_jobs()})

    def test_a_job_has_time_for_its_budget(self):
        commands = github_commands()
        for name, job, _ in github_jobs():
            self.assertGreater(job["timeout-minutes"], budget_of(commands[name]), name)
        for name, job in gitlab_jobs():
            self.assertGreater(int(job["timeout"].removesuffix(" minutes")), budget_of(commands[name]), name)

    def test_actions_are_pinned(self):
        for path in [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "reports" / "ci" / "github.yml"]:
            self.assertEqual(loose_actions(path.read_text()), [], path)

    def test_issue_forms_ask_for_something(self):
        forms = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]
        self.assertGreater(len(forms), 0)
        for path in forms:
            form = yaml.safe_load(path.read_text())
            self.assertTrue(form["name"] and form["description"], path)
            ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
            self.assertEqual(len(ids), len(set(ids)), path)
            self.assertTrue(any(part.get("validations", {}).get("required") for part in form["body"]), path)

    def test_mistakes_are_noticed(self):
        for command, fault in (("bash .ci/ran", ".ci/ran is no program"), ("./tally test -L tydi", "tydi is no label"),
                               ("./tally verify", "the launcher is only asked to test"),
                               ("TALLY_PRESET=gcc bash .ci/run", "gcc is no preset that is configured, built and tested"),
                               ("./tally test -C weekly", "weekly is no configuration of a test"),
                               ("bash .ci/run --fast", "--fast is no option that jobs use")):
            self.assertEqual(list(faults_of(command)), [fault])
        for action in ("a/b@v4", "a/b@v4.2.2", f"a/b@{'0' * 40}", f"a/b@{'0' * 39}  # v4.2.2"):
            self.assertEqual(loose_actions(f"- uses: {action}\n"), [action])


if __name__ == "__main__":
    unittest.main()
