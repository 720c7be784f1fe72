"""The table of Tally's judging beside PyTorch's check, from the seconds of rounds."""
import statistics

HEAD = ["network", "rows", "PyTorch, ms", "Tally, ms", "Tally / PyTorch", "range", "at most", "met"]
# What is demanded of Tally's time, in PyTorch's: five times as fast on small cases, otherwise four and ten times as slow.
LIMITS = {("local", 0): 1 / 5, ("local", 1): 4, ("all_lenses", 1): 10}


def limit_of(lens, width):
    return LIMITS.get((lens, min(width, 1)))


def row(lens, width, rows, torch, tally):
    """Of the seconds of each round; a ratio that is not a number meets nothing."""
    ratios = [ours / theirs for ours, theirs in zip(tally, torch)]
    middle, limit = statistics.median(ratios), limit_of(lens, width)
    met = "" if limit is None else "yes" if middle <= limit else "no"
    name = "16-32-8" if width == 0 else f"{width}-{width}-{width}-10"
    return [f"{name}, {lens.replace('_', ' ')}", str(rows), f"{1e3 * statistics.median(torch):.3g}",
            f"{1e3 * statistics.median(tally):.3g}", f"{middle:.3g}", f"{min(ratios):.3g} to {max(ratios):.3g}",
            "" if limit is None else f"{limit:g}", met]


def table(rows):
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
