"""What came of it, as a table, as JSON and as a Markdown page."""
import collections
import dataclasses
import json
import os


HEADINGS = ["branches", "never both ways", "of these without a reason", "loops", "turns never taken", "without a reason"]
MANY = 40  # gaps of a reason, above which the page only counts them by file


def folder_of(path):
    """`training_step` of kernels/linear/weight_gradient.cpp; a folder of device/ stands by itself."""
    steps = path.split("/")[1:-1]
    return "/".join(steps[:2] if steps[:1] == ["device"] else steps[:1]) or "."


def rows_of(counted, judged):
    """(folder, six counts as in HEADINGS) of each folder, then of all. `counted` is (kind, file) of every branch and loop."""
    rows = collections.defaultdict(collections.Counter)
    for kind, file in counted:
        for name in (folder_of(file), "all"):
            rows[name][kind] += 1
    for gap, reason in judged.items():
        for name in (folder_of(gap.file), "all"):
            rows[name][gap.kind, reason is not None] += 1
    for name in [*sorted(set(rows) - {"all"}), "all"]:
        row = rows[name]
        yield name, [cell for kind in ("branch", "loop")
                     for cell in (row[kind], row[kind, True] + row[kind, False], row[kind, False])]


def table(rows):
    yield f"| folder | {' | '.join(HEADINGS)} |"
    yield f"|---|{'--:|' * len(HEADINGS)}"
    for name, cells in rows:
        yield f"| {name} | {' | '.join(map(str, cells))} |"


def study(rows, failed, run, campaign):
    """As reports/studies.md has it: what every page of results shows of it."""
    branches, never, open_branches, loops, turns, open_turns = rows[-1][1]
    with open(campaign, encoding="utf-8") as file:
        results = json.load(file)
    columns = [{"name": "folder", "words": [name for name, _ in rows], "numbers": []}]
    columns += [{"name": heading, "words": [], "numbers": [cells[i] for _, cells in rows]} for i, heading in enumerate(HEADINGS)]
    return {
        "schema": 1, "family": "bench", "name": "coverage", "status": "fail" if failed else "pass", "message": "",
        "question": "Which branches and loops of the kernels does the default campaign never take every way?",
        "answer": f"{never} of {branches} branches never go both ways, {open_branches} of these without a reason; {loops} loops "
                  f"miss {turns} numbers of turns, {open_turns} of these without a reason.",
        "seed": results["seed"], "effort": results["effort"], "partial": results["partial"], "device": "host executor",
        "tables": [{"title": "By folder", "note": "A reason names a case that no rule allows, a guard, or the test that goes there.",
                    "columns": columns}],
        "plots": [], "notes": [run], "environment": results["environment"]}


def lines_of(gap):
    return f"{gap.file}:{gap.line} {gap.function}: `` {gap.text[:160]} `` {gap.what}{f' (seen: {gap.seen})' * bool(gap.seen)}"


def page(lines, judged, stale, run):
    """The page: counts, gaps without a reason, then those of each reason."""
    yield from ["# Branches and loops of the kernels", "", run, "", *lines]
    groups = collections.defaultdict(list)
    for gap, reason in sorted(judged.items()):
        groups[reason or ("no reason", "nobody has looked at these yet.")].append(gap)
    for (kind, reason), gaps in sorted(groups.items(), key=lambda group: (group[0][0] != "no reason", group[0])):
        yield from ["", f"**{kind}**: {reason}", ""]
        if len(gaps) <= MANY or kind == "no reason":
            yield from (f"- {lines_of(gap)}" for gap in gaps)
        else:
            yield from (f"- {file}: {count}" for file, count in collections.Counter(gap.file for gap in gaps).items())
    if stale:
        yield from ["", "**stale reasons**", "", *(f"- {' · '.join(pattern)}" for pattern in stale)]


def finish(counted, judged, stale, run, out, campaign=None):
    """Writes the page, the gaps and, with the results of the campaign, the study; prints what is wrong; the exit status."""
    os.makedirs(out, exist_ok=True)
    rows = list(rows_of(counted, judged))
    lines = list(table(rows))
    with open(f"{out}/coverage.md", "w", encoding="utf-8") as file:
        file.write("\n".join([*page(lines, judged, stale, run), ""]))
    gaps = [{**dataclasses.asdict(gap), "reason": reason and reason[1]} for gap, reason in sorted(judged.items())]
    with open(f"{out}/gaps.json", "w", encoding="utf-8") as file:
        file.write(json.dumps({"counted": collections.Counter(kind for kind, _ in counted), "gaps": gaps}, ensure_ascii=False))
    print("\n".join(lines))
    open_gaps = [gap for gap, reason in sorted(judged.items()) if reason is None]
    for gap in open_gaps:
        print(f"gap without a reason: {lines_of(gap)}")
    for pattern in stale:
        print(f"stale reason (it covers no gap): {' · '.join(pattern)}")
    if campaign:
        with open(f"{out}/coverage.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(study(rows, open_gaps or stale, run, campaign), indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    print(f"{len(open_gaps)} gaps without a reason, {len(stale)} stale reasons; report: {out}/coverage.md")
    return 1 if open_gaps or stale else 0
