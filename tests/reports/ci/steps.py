"""Prints the commands of a GitHub recipe as one script, in the order of its steps: steps.py RECIPE BRANCH

What other actions do is left to whoever runs it. A step that has to run always does, and the script ends with the first
exit status that was not 0.
"""
import pathlib
import re
import shlex
import sys

import yaml


def script(recipe, branch):
    job, = yaml.safe_load(recipe)["jobs"].values()
    values = {"github.workspace": "$PWD", "github.base_ref": branch}

    def filled(text):
        return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: values[match[1]], text)

    lines = ["export GITHUB_STEP_SUMMARY=${GITHUB_STEP_SUMMARY:-$PWD/out/step-summary.md} CI=true", "status=0"]
    lines += [f'export {name}="{filled(value)}"' for name, value in job.get("env", {}).items()]
    for step in job["steps"]:
        if "run" not in step:
            continue
        condition = "" if step.get("if") == "always()" else "((status)) || "
        lines.append(f"echo {shlex.quote('== ' + step['name'])}")
        lines.append(f"{condition}( set -e\n{filled(step['run']).rstrip()}\n) || {{ last=$?; ((status)) || status=$last; }}")
    return "\n".join([*lines, 'exit "$status"', ""])


if __name__ == "__main__":
    print(script(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]), end="")
