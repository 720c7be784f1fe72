"""Reasons for gaps, written by hand. Each names its gaps by text, never by line number.

reasons.json is a list of {"kind", "reason", "gaps"}; a gap is [file, function, text, what], of which file, function and
text may be patterns that end with `*`, and a missing `what` stands for whatever is missing there. Kinds:
  no legal case   nothing that a campaign may draw goes there; the reason says why
  defensive       goes there only when Tally itself is wrong, or the machine fails
  elsewhere       not what the default campaign on the host is for; the reason names the test that goes there
"""
import json

KINDS = {"no legal case", "defensive", "elsewhere"}


def read(path):
    """[(kind, reason, gap pattern)]. Raises ValueError on what is no reason."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    found, seen = [], set()
    for entry in entries:
        if entry["kind"] not in KINDS or not entry["reason"].strip() or not entry["gaps"]:
            raise ValueError(f"{path}: {entry['kind']!r} with reason {entry['reason']!r}; expected one of {sorted(KINDS)}, "
                             "a reason and its gaps")
        for gap in entry["gaps"]:
            if len(gap) not in (3, 4) or tuple(gap) in seen:
                raise ValueError(f"{path}: {gap} stands twice or is no [file, function, text, what]; write it once")
            seen.add(tuple(gap))
            found.append((entry["kind"], entry["reason"], tuple(gap)))
    return found


def _fits(pattern, word):
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern


def covers(pattern, gap):
    return all(map(_fits, pattern, (gap.file, gap.function, gap.text, gap.what)))


def judged(gaps, reasons):
    """Gap -> (kind, reason) or None, by the first reason that covers it; and the patterns that cover none."""
    stale = {pattern for _, _, pattern in reasons}
    found = {}
    for gap in gaps:
        fitting = [(kind, reason, pattern) for kind, reason, pattern in reasons if covers(pattern, gap)]
        stale -= {pattern for *_, pattern in fitting}
        found[gap] = fitting[0][:2] if fitting else None
    return found, sorted(stale)
