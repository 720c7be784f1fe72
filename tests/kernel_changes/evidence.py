"""What the gate said of planted changes, read from its words, and the page that shows it."""
import json
import os
import shlex

SHOWN = 3


def kernels_named(text):
    """The kernels under "Kernels that changed": their lines start with two spaces, what is said of them with more."""
    lines = text.splitlines()
    if "Kernels that changed" not in lines:
        return []
    named = []
    for line in lines[lines.index("Kernels that changed") + 1:]:
        if not line.startswith("  "):
            break
        if not line.startswith("   "):
            named.append(line.split()[0])
    return sorted(named)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def listed(names):
    return ", ".join(f"`{name}`" for name in names) or "none"


def shown(rows):
    """What was not named exactly or has a note, then the first of each of three kinds."""
    wrong = [row for row in rows if not row["right"] or "note" in row]
    chosen, kinds = [], {row["kind"] for row in wrong if row["right"]}
    for row in rows:
        if row["kind"] not in kinds and row["named"] and row["right"]:
            kinds.add(row["kind"])
            chosen.append(row)
    return wrong + chosen[:SHOWN]


def of_other_laws(rows):
    """Which changes name laws of their own."""
    return "".join(f"; of \"{row['name']}\" with `--law '{row['law']}'`" for row in rows if "law" in row)


def page(rows, campaign):
    right = sum(row["right"] for row in rows)
    longest = max(row["lines"] for row in rows)
    lines = ["# Does the gate name the kernels that changed, and none else?", "",
             f"{right} of {len(rows)} planted changes are named exactly, by `./tally gate` and by `./tally compare`; the "
             f"longest answer has {longest} lines.", "",
             "Each change is made in one file alone, the program built with it, and the same campaign run: "
             f"`./tally verify {shlex.join(campaign)}`{of_other_laws(rows)}. "
             "`python3 tests/kernel_changes/measure.py --build build/default` repeats it.", "",
             "| Change | Kind | File | Changed | Named | Right | What there is to decide |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {cell(row['name'])} | {row['kind']} | {row['file']} | {listed(row['kernels'])} | "
                     f"{listed(row['named'])} | {'yes' if row['right'] else 'NO'} | {cell(row['said'].splitlines()[-1])} |")
    for row in shown(rows):
        lines += ["", f"## {row['name']}", *(["", row["note"]] if "note" in row else []), "", "```console", *row["said"].splitlines(), "```"]
    return "\n".join(lines) + "\n"


def together(rows, known, names):
    """These rows, and of an earlier run those of other changes; in the order of `names`, without any that is gone."""
    with open(known, encoding="utf-8") as file:
        by_name = {row["name"]: row for row in json.load(file)["changes"]}
    by_name.update((row["name"], row) for row in rows)
    return [by_name[name] for name in names if name in by_name]


def write(rows, campaign, folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in (("changes.json", json.dumps({"campaign": campaign, "changes": rows}, indent=1) + "\n"),
                       ("kernel_change.md", page(rows, campaign))):
        with open(f"{folder}/{name}.part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{folder}/{name}.part", f"{folder}/{name}")
