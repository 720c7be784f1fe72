"""Windows of a script that hold what they should not, whatever the whole batch holds."""


def stepped_early(dealt, sizes):
    """Of a first window that has fewer micro-batches than were asked for, where another has them all."""
    first, *others = dealt or [[]]
    if not first or len(first) >= len(sizes) or sum(first) >= sum(sizes) or sizes not in others:
        return None
    return {"window": 0, "behind": len(first), "of": len(sizes)}


def repeated(seen, sizes, of_whole):
    """The first window in which rows of a loader are in more micro-batches of their size than in the whole batch's."""
    for window, (dealt, (rows, times)) in enumerate(zip(seen.get("dealt", []), seen.get("repeated", []))):
        if times > of_whole > 0 and set(dealt) <= set(sizes):
            return {"window": window, "rows": rows, "times": times}
    return None
