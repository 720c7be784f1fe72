"""What came of the mutants, as JSON and as a Markdown page: counts by operator, file and killer, and every survivor."""
import collections
import json
import os

import verdicts

LEAST_PER_CENT = 95
OUTCOMES = ("invalid", "same_code", "killed", "survived", "not_run")


def row_of(mutant, outcome, details, seconds):
    return {"id": mutant.id, "file": mutant.file, "function": mutant.function, "line": mutant.line,
            "operator": mutant.operator, "before": mutant.before, "after": mutant.after, "nth": mutant.nth,
            "outcome": outcome, **details, "seconds": round(seconds, 1)}


def key_of(row):
    return (row["file"], row["function"], row["before"], row["after"], row["nth"])


def with_verdicts(rows, judged):
    for row in rows:
        row.pop("verdict", None)
        if row["outcome"] == "survived" and key_of(row) in judged:
            row["verdict"], row["reason"] = judged[key_of(row)]


def counts_of(rows):
    """Outcomes, equivalents among the survivors, and the share killed of what could be."""
    count = collections.Counter(row["outcome"] for row in rows)
    equivalent = sum(row.get("verdict") == "equivalent" for row in rows)
    killable = count["killed"] + count["survived"] - equivalent
    return {"made": len(rows), **{name: count[name] for name in OUTCOMES}, "equivalent": equivalent,
            "per_cent": 100 * count["killed"] / killable if killable else None}


def table(title, rows, name_of):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    lines = [f"| {title} | tried | no C++ | same code | killed | survived | equivalent of these | killed of killable |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for name in [*sorted(groups), "all"]:
        c = counts_of(groups.get(name, rows))
        share = "" if c["per_cent"] is None else f"{c['per_cent']:.1f} %"
        lines.append(f"| {name} | {c['made'] - c['not_run']} | {c['invalid']} | {c['same_code']} | {c['killed']} | "
                     f"{c['survived']} | {c['equivalent']} | {share} |")
    return lines


def killers(rows):
    """How mutants died: by which law, at which stage."""
    dead = [row for row in rows if row["outcome"] == "killed"]
    lines = ["| killed by | mutants |", "|---|--:|"]
    for by, count in collections.Counter(row["by"] for row in dead).most_common():
        lines.append(f"| {by} | {count} |")
    lines += ["", "| first to fail | mutants | most often at |", "|---|--:|---|"]
    for law, count in collections.Counter(row["law"] for row in dead).most_common():
        stages = collections.Counter(row["stage"] or row["class"] for row in dead if row["law"] == law)
        lines.append(f"| {law} | {count} | {', '.join(f'{stage} {n}' for stage, n in stages.most_common(4))} |")
    return lines


def survivors(rows):
    lines = []
    alive = [row for row in rows if row["outcome"] == "survived"]
    order = {None: 0, "law_to_write": 1, "equivalent": 2}
    groups = collections.defaultdict(list)
    for row in alive:
        groups[order[row.get("verdict")], row.get("verdict"), row.get("reason")].append(row)
    for (_, verdict, reason), members in sorted(groups.items(), key=lambda item: (item[0][0], item[1][0]["file"])):
        lines += ["", f"**{verdict or 'no verdict'}**: {reason or 'nobody has looked at these yet.'}", ""]
        for row in members:
            lines.append(f"- `{row['file']}:{row['line']}` {row['operator']}: "
                         f"`` {row['before'][:160]} `` → `` {row['after'][:160]} ``")
    return lines


def page(rows, run, stale):
    c = counts_of(rows)
    ran = [row for row in rows if row["outcome"] != "not_run"]
    share = "none" if c["per_cent"] is None else f"{c['per_cent']:.1f} %"
    changed = c["killed"] + c["survived"]
    raw = f"{100 * c['killed'] / changed:.1f} %" if changed else "none"
    left_out = f"; {run['left_out']} more in headers that much includes were left out" if run["left_out"] else ""
    times = sorted(row["seconds"] for row in ran) or [0]
    lines = [f"# Source mutation of {run['of']}", "",
             f"{len(ran)} of {run['made_of']} possible mutants were tried (seed {run['seed']}{left_out}). {c['invalid']} are no "
             f"C++, {c['same_code']} give the same machine code, {c['killed']} were killed, {c['survived']} survived, "
             f"of which {c['equivalent']} are equivalent by a verdict. **{share} of those that could be killed were**, "
             f"{raw} with the equivalent ones counted as survivors.", "",
             f"{run['killers']} One mutant took {times[len(times) // 2]:.1f} s in the median, "
             f"{times[-1]:.1f} s at most, {run['jobs']} at a time.", "",
             "## By operator", *table("operator", rows, lambda row: row["operator"]), "",
             "## By file", *table("file", rows, lambda row: row["file"]), "",
             "## How they died", *killers(rows), "", "## Survivors", *survivors(rows)]
    if stale:
        lines += ["", "## Stale verdicts", *(f"- {now}: `{key[0]}` `` {key[3][:160]} ``" for key, now in stale)]
    return "\n".join(lines) + "\n"


def finish(rows, run, judged, makeable, out):
    """Writes both files and prints what is wrong; the exit status."""
    with_verdicts(rows, judged)
    stale = verdicts.stale(judged, makeable, {key_of(row): row["outcome"] for row in rows})
    os.makedirs(out, exist_ok=True)
    c = counts_of(rows)
    with open(f"{out}/{run['of']}.json", "w", encoding="utf-8") as file:
        ran = [row for row in rows if row["outcome"] != "not_run"]
        json.dump({"run": run, "counts": c, "mutants": ran}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(f"{out}/{run['of']}.md", "w", encoding="utf-8") as file:
        file.write(page(rows, run, stale))
    unjudged = [row for row in rows if row["outcome"] == "survived" and "verdict" not in row]
    for row in unjudged:
        print(f"survivor without a verdict: {row['file']}:{row['line']} {row['operator']}\n  - {row['before']}\n"
              f"  + {row['after']}")
    for key, now in stale:
        print(f"stale verdict ({now}): {key[0]}: {key[3]}")
    print(f"{c['killed']} killed, {c['survived']} survived ({c['equivalent']} equivalent), {c['invalid']} no C++, "
          f"{c['same_code']} same code, {c['not_run']} not run; report: {out}/{run['of']}.md")
    if c["per_cent"] is None:
        print("error: no mutant could be killed; nothing was shown")
        return 2
    return 0 if c["per_cent"] >= LEAST_PER_CENT and not unjudged else 1
