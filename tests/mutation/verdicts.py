"""Verdicts on survivors, written by hand: each names its mutants by text, never by line number, and says why.

verdicts.json is a list of {"verdict", "reason", "mutants"}; a mutant is [file, function, before, after] or has, where a
function holds equal lines, which of them as a fifth entry. Verdicts:
  equivalent    no input can show a difference in what the laws may see
  law_to_write  a real gap; it counts as a survivor
"""
import json

VERDICTS = {"equivalent", "law_to_write"}


def read(path):
    """Key of each judged mutant -> (verdict, reason). Raises ValueError on what is not a verdict."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    judged = {}
    for entry in entries:
        if entry["verdict"] not in VERDICTS or not entry["reason"].strip():
            raise ValueError(f"{path}: {entry['verdict']!r} with reason {entry['reason']!r}; expected one of "
                             f"{sorted(VERDICTS)} and a reason")
        for mutant in entry["mutants"]:
            key = (*mutant[:4], mutant[4] if len(mutant) > 4 else 1)
            if len(mutant) not in (4, 5) or key in judged:
                raise ValueError(f"{path}: {mutant} is malformed or judged twice")
            judged[key] = (entry["verdict"], entry["reason"])
    return judged


def stale(judged, makeable, outcomes):
    """Verdicts whose mutant the sources no longer give, or which is no survivor: (key, what it is now).

    `makeable` are the keys of all mutants, `outcomes` key -> outcome of those that ran.
    """
    found = []
    for key in sorted(judged):
        if key not in makeable:
            found.append((key, "no such mutant"))
        elif outcomes.get(key, "survived") != "survived":
            found.append((key, outcomes[key]))
    return found
