"""How a verdict ends: what is wrong and all that goes with it, or a pass that says what it leaves open, and what to do next."""
from .reductions import PROPOSAL
from .terms import ITEMS
from .unjudged import INTO

# What is not judged and is no parameter, with the words of the last line.
OTHER = {"not judged: the loss": "", "not judged: forward": "", "not judged: the batch statistics": "batch statistics",
         "not judged: what came behind": "later windows", "not judged: a term of the loss": "a term of the loss",
         "not judged: the optimizer's algorithm": "the optimizer's algorithm", "not judged: the optimizer's step": "the optimizer's step",
         "not judged: what is stated": "what is stated of the optimizer", "not judged: what changes": "what is changed behind a step",
         "not judged: a change of the gradients": "a change of the gradients",
         "not judged: a clip": "a clip", "not judged: a window without a step": "windows without a step"}
LOOK_AT = "look at "  # how a line begins that says what no case states and a reader is to decide: "look at WHAT: …"
IN_VAIN = "pass, but some tensors could not be judged"  # of tally check
FACTOR = "looks like off-by-a-factor"  # which says no cause
VARY = "next: what a recording cannot show, the same rows in other micro-batches do: python -m tally_recorder vary … (vary.md)"


def left_open(lines):
    """What these lines leave out of a verdict, in few words."""
    found = ["elements outside the sample"] if any(line.startswith("judged by samples") for line in lines) else []
    if any(line.startswith("not judged: the loss beside its factor") for line in lines):
        found.append("the loss beside its factor")
    elif any(line.startswith("not judged: the loss") for line in lines):
        found.append("the loss and its normalisation")
    if any(line.startswith("not judged: ") and not line.startswith(tuple(OTHER)) for line in lines):
        found.append("some parameters")
    return found + [words for start, words in OTHER.items() if words and any(line.startswith(start) for line in lines)]


def passed(last, lines):
    """The last line of a pass, with what it leaves open; below it the line that tells most, and what to do next."""
    looks, left_out = [line for line in lines if line.startswith(LOOK_AT)], left_open(lines)
    if (last == IN_VAIN or last.endswith(", some tensors")) and left_out:
        left_out.append("some tensors")
    if not looks and not left_out:
        return last
    parts = [", ".join(dict.fromkeys(line.partition(":")[0] for line in looks)).replace(f", {LOOK_AT}", ", ")] if looks else []
    parts += [f"not judged: {', '.join(left_out)}"] if left_out else []
    proposal = next((line for line in lines if line.startswith(PROPOSAL)), None)
    unjudged = [line for line in lines if line.startswith("not judged: ") and not line.startswith("not judged: forward")]
    unjudged.sort(key=lambda line: (line.startswith("not judged: the loss"), line.startswith(tuple(OTHER))))  # parameters first
    told = [line for line in lines if line.startswith(ITEMS)] + [line.partition(": ")[2] for line in [*looks, *unjudged]]
    further = [f"next: {proposal}" if proposal else VARY] if left_out else []
    return "\n  ".join([f"pass, but {'; '.join(parts)}", *told[:2], *further])


def cause_in(line):
    """The name that `tally explain` knows; of a line without one itself, which is no word."""
    return line.rpartition("looks like ")[2].replace(",", " ").split(" (")[0].split("  ")[0]


def failed(code, said, wrong):
    """One verdict: what the recorder itself found to be wrong stands first, as it was seen and is no guess."""
    spread = next((line for line in wrong if INTO in line), None)
    if spread:  # neither a figure nor a suspect says more of what is not finite
        return "\n".join([said.rpartition("\nfail: " if code == 1 else "\n")[0].partition("\nfailing, in stage order")[0], f"fail: {spread}"])
    head, mark, guessed = said.rpartition("\nfail: ") if code == 1 else (said.rpartition("\n")[0] if code == 0 else said, "", "")
    if mark and cause_in(wrong[0]) in guessed.replace(",", " ").split():  # with figures
        return "\n".join([said, *(f"  also: {line}" for line in wrong[1:])])
    if "no cause is known" in guessed or FACTOR in guessed:
        figures = [line.partition(f"; {FACTOR}")[0] for line in guessed.split("\n")[1:] if not line.startswith("  change: ")]
        return "\n".join([head, f"fail: {wrong[0]}", *(f"  also: {line}" for line in wrong[1:]), *figures])
    also = wrong[1:] + [guessed.replace("\n", "\n  ")] * bool(mark)
    return "\n".join([head, f"fail: {wrong[0]}", *(f"  also: {line}" for line in also)])


def concluded(code, said, lines, wrong, show):
    """Shows what `tally check` said, without what was shown before, and what else there is to say; the code of all."""
    known = {start + line for line in lines for start in ("", "assumed: ")}  # which the program repeats from the trace
    said = "\n".join(line for line in said.rstrip().split("\n") if line not in known)
    if wrong and code != 2:
        show(failed(code, said, wrong))
        return 1
    head, newline, last = said.rpartition("\n")
    show(head + newline + (passed(last, lines) if last.startswith("pass") else last))
    return code
