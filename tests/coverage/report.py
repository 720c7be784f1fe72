"""What came of it, as a table, as JSON and as a Markdown page."""
import collections
import dataclasses
import json
import os


MANY = 40  # gaps of a reason, above which the page only counts them by file


def folder_of(path):
    """`training_step` of kernels/training_step/layers/linear.cpp; a folder of device/ stands by itself."""
    steps = path.split("/")[1:-1]
    return "/".join(steps[:2] if steps[:1] == ["device"] else steps[:1]) or "."


def table(counted, judged):
    """Lines of a table by folder. `counted` is (kind, file) of every branch and loop."""
    rows = collections.defaultdict(collections.Counter)
    for kind, file in counted:
        for name in (folder_of(file), "all"):
            rows[name][kind] += 1
    for gap, reason in judged.items():
        for name in (folder_of(gap.file), "all"):
            rows[name][gap.kind, reason is not None] += 1
    yield "| folder | branches | never both ways | of these without a reason | loops | turns never taken | without a reason |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in [*sorted(set(rows) - {"all"}), "all"]:
        row = rows[name]
        cells = [cell for kind in ("branch", "loop")
                 for cell in (row[kind], row[kind, True] + row[kind, False], row[kind, False])]
        yield f"| {name} | {' | '.join(map(str, cells))} |"


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


def finish(counted, judged, stale, run, out):
    """Writes both files and prints what is wrong; the exit status."""
    os.makedirs(out, exist_ok=True)
    lines = list(table(counted, judged))
    with open(f"{out}/coverage.md", "w", encoding="utf-8") as file:
        file.write("\n".join([*page(lines, judged, stale, run), ""]))
    rows = [{**dataclasses.asdict(gap), "reason": reason and reason[1]} for gap, reason in sorted(judged.items())]
    with open(f"{out}/coverage.json", "w", encoding="utf-8") as file:
        file.write(json.dumps({"counted": collections.Counter(kind for kind, _ in counted), "gaps": rows}, ensure_ascii=False))
    print("\n".join(lines))
    open_gaps = [gap for gap, reason in sorted(judged.items()) if reason is None]
    for gap in open_gaps:
        print(f"gap without a reason: {lines_of(gap)}")
    for pattern in stale:
        print(f"stale reason (it covers no gap): {' · '.join(pattern)}")
    print(f"{len(open_gaps)} gaps without a reason, {len(stale)} stale reasons; report: {out}/coverage.md")
    return 1 if open_gaps or stale else 0
