"""Runs every command of README.md against a finished build: readme_commands.py REPOSITORY BUILD

A line `$ ./tally …` of a ```console block is run by a shell, all in one scratch folder and in the order of the page, with
little effort; it has to exit 0, or as its comment `# exits N` says. `./tally test …` only lists the tests it would run.
A `$ ` line of another command is an error, and so is a word after `tally` anywhere on the page that tally does not know.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

EFFORT = "0.02"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
MENTION = re.compile(r"`(?:\./)?tally ([a-z]\w*)")
EXITS = re.compile(r"#\s*exits (\d+)\s*$")


def commands(page):
    return [line[2:] for block in BLOCK.findall(page) for line in block.splitlines() if line.startswith("$ ")]


def scratch_copy(repository, folder):
    """The repository's entries, linked, so that what a command writes lands in the scratch folder."""
    for entry in os.listdir(repository):
        if entry not in (".git", "build", "tally-out", "out"):
            os.symlink(os.path.join(repository, entry), os.path.join(folder, entry))


def environment(build):
    cleared = {name: value for name, value in os.environ.items() if name != "CI"}
    return {**cleared, "TALLY_BUILD": build, "TALLY_EFFORT": EFFORT}


def run(command, folder, build):
    """None, or what is wrong with this command."""
    if not command.startswith("./tally "):
        return "is not a ./tally command, so this test cannot run it"
    if command.startswith("./tally test"):
        command += " --show-only"
    stated = EXITS.search(command)
    expected = int(stated[1]) if stated else 0
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment(build), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode == expected:
        return None
    return f"exit status {done.returncode}; expected {expected}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def unknown_words(page, build):
    for word in sorted(set(MENTION.findall(page)) - {"test"}):
        program = os.path.join(build, "reports", "tally")
        if subprocess.run([program, word, "--help"], capture_output=True).returncode != 0:
            yield f"`tally {word}`", "tally does not know this word"


def main(repository, build):
    with open(os.path.join(repository, "README.md"), encoding="utf-8") as file:
        page = file.read()
    folder = tempfile.mkdtemp()
    scratch_copy(repository, folder)
    found = commands(page)
    problems = list(unknown_words(page, build))
    for command in found:
        problem = run(command, folder, build)
        print(f"{'ok' if problem is None else 'FAILED'}: {command}", flush=True)
        if problem:
            problems.append((command, problem))
    shutil.rmtree(folder)
    for command, problem in problems:
        print(f"{command}: {problem}")
    print(f"{len(found)} commands, {len(problems)} problems")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
