"""The table of the fused passes at a window's end, from the JSON of rounds: Tally's benchmark and PyTorch's steps."""
import statistics

PASSES = ("unscale_check_norm", "clip_decay_step")
LEAST_OF_COPY, LEAST_OF_TORCH = 0.85, 1.0
YES, NO, NOT_RUN = "yes", "no", "not run"


def seconds_of(tally):
    """Seconds a pass by name, from one round of Google Benchmark's JSON."""
    return {b["name"].split("/")[0]: b["seconds_a_pass"] for b in tally["benchmarks"]}


def bytes_a_second_of(tally):
    return {b["name"].split("/")[0]: b["bytes_per_second"] for b in tally["benchmarks"]}


def judged(ratios, least):
    """Median, range and whether it is enough; a NaN is not."""
    middle = statistics.median(ratios)
    enough = all(ratio == ratio for ratio in ratios) and middle >= least
    return middle, f"{min(ratios):.3f} to {max(ratios):.3f}", YES if enough else NO


def rows_against_copy(rounds):
    for name in PASSES:
        rates = [bytes_a_second_of(tally) for tally, _ in rounds]
        middle, spread, met = judged([rate[name] / rate[f"copy_as_{name}"] for rate in rates], LEAST_OF_COPY)
        yield met, [name, f"{statistics.median(r[f'copy_as_{name}'] for r in rates) / 1e9:.1f}",
                    f"{statistics.median(r[name] for r in rates) / 1e9:.1f}", f"{middle:.3f}", spread,
                    f"{LEAST_OF_COPY}", met]


def rows_against_torch(rounds):
    """A row for each of PyTorch's ways; `not run`, with the reason, where any round has none."""
    first = rounds[0][1]
    if "rows" not in first:
        yield NOT_RUN, ["PyTorch", "", "", "", "", f"{LEAST_OF_TORCH}", f"{NOT_RUN}: {first['reason']}"]
        return
    ours = [seconds_of(tally)["both"] for tally, _ in rounds]
    for at, way in enumerate(first["rows"]):
        name = f"AdamW({way['kind']}=True)" + (", as a CUDA graph" if way["graph"] else "")
        theirs = [torch["rows"][at] for _, torch in rounds]
        reasons = [their["reason"] for their in theirs if "seconds" not in their]
        if reasons:
            yield NOT_RUN, [name, "", "", "", "", f"{LEAST_OF_TORCH}", f"{NOT_RUN}: {reasons[0]}"]
            continue
        middle, spread, met = judged([t["seconds"] / our for t, our in zip(theirs, ours)], LEAST_OF_TORCH)
        yield met, [name, f"{1e3 * statistics.median(t['seconds'] for t in theirs):.3f}",
                    f"{1e3 * statistics.median(ours):.3f}", f"{middle:.3f}", spread, f"{LEAST_OF_TORCH}", met]


def lines_of(head, rows):
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|---:" * (len(head) - 2) + "|---|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


def table(rounds, facts):
    """(Markdown, outcomes) of rounds [(tally, torch)] and facts [(name, value)]; an outcome is yes, no or not run."""
    copies, torches = list(rows_against_copy(rounds)), list(rows_against_torch(rounds))
    outcomes = [outcome for outcome, _ in copies + torches]
    lines = ["## The fused passes at a window's end", "",
             f"{outcomes.count(YES)} of {len(outcomes)} figures met, {outcomes.count(NO)} missed, "
             f"{outcomes.count(NOT_RUN)} not run.", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in facts]
    lines += ["", "### Against the device's own copy", "",
              "Bytes read and written, each once; a ratio is that of one round, and the median of the rounds is held "
              "against what is demanded.", ""]
    lines += lines_of(("pass", "copy, GB/s", "pass, GB/s", "of the copy", "rounds", "at least", "met"),
                      (row for _, row in copies))
    lines += ["", "### Against PyTorch", "",
              "Unscale and check, clip by the global norm, AdamW: one step of PyTorch over one of both passes.", ""]
    lines += lines_of(("PyTorch's", "PyTorch, ms", "Tally, ms", "times as fast", "rounds", "at least", "met"),
                      (row for _, row in torches))
    return "\n".join(lines) + "\n", outcomes
