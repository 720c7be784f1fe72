"""The end of a recording of several ranks: each writes its part, and rank 0 merges and judges them."""
import secrets

from . import folders, merging, parts
from .errors import CaptureError
from .guard import told as one_line


def can_be_dealt(meaning, samples, described):
    """Refuses what is not stated of several ranks."""
    if meaning.normalisation == "mean_of_means_configured":
        raise CaptureError("normalisation: found mean_of_means_configured beside ranks, expected window_items, "
                           "mean_of_means, rank_means or sum; pass one of these")
    if samples.places:
        raise CaptureError("samples: found a number beside ranks, whose sums need every element, expected none; record all "
                           "elements (samples=None)")
    if described.drops() and described.attentions:
        raise CaptureError("layers: found an attention that drops beside ranks, expected none; record the model as opaque")


def tried(work):
    """What work gives, and no problem; or nothing, and the problem in one line."""
    try:
        return work(), None
    except OSError as problem:
        return None, str(problem)
    except Exception as problem:  # pylint: disable=broad-except
        return None, one_line(problem)


def other_parameters(told):
    """Why ranks do not train the same parameters, in one line; None where they do."""
    first = told[0]["parameters"]
    for rank, each in enumerate(told):
        missing = [name for name in first if name not in each["parameters"]]
        more = [name for name in each["parameters"] if name not in first]
        if missing or more:
            found = (f"no parameter {missing[0]} that trains" if missing else
                     f"the parameter {more[0]}, which does not train on rank 0")
            return (f"the parameters of rank {rank}: found {found}, expected those of rank 0; let every rank's optimizer "
                    "hold the same, none of them frozen on one rank alone")
    return None


def other_marks(told):
    """Why ranks do not agree where they have added up, in one line; None where they do."""
    for rank, each in enumerate(told):
        if each["marks"] != told[0]["marks"]:
            return (f"added_up(): found {told[0]['marks']} calls on rank 0 and {each['marks']} on rank {rank}, expected as "
                    "many on each; call it on every rank, in every window")
    return None


def unite(recorder, told):
    """What is the same for all ranks once they have told each other: the run's name, and which parameters took part."""
    for own, segment in enumerate(recorder.capture.segments):
        for each in told:
            if own < len(each["touched"]):
                segment.touched.update(each["touched"][own])
    return told[0]["run"]


def write_parts(recorder, folder, run, options):
    """Writes this rank's part of every stretch of windows."""
    ranks, names = recorder.ranks, recorder.capture.parameters
    owns = [name for name, parameter in names.items() if ranks.owner(recorder.optimizer, parameter) == ranks.rank]
    for segment in recorder.whole():
        case, tensors, taps, claims, seen, lines, notes, problems = recorder.stated(segment, options)
        said = {"rank": ranks.rank, "ranks": ranks.size, "run": run, "case": case, "claims": claims, "seen": seen,
                "places": recorder.capture.places.text(), "lines": lines + notes,
                "problems": problems, "wrong": recorder.wrongs(), "owns": owns, "sharded": ranks.sharded}
        parts.write(recorder.folder_of(folder, segment), ranks.rank, recorder.scratch, said, tensors, taps)


def checked_together(recorder, folder, tally, show, options):
    """As Recorder.check, of every rank: all return the same code, and rank 0 shows what is said."""
    ranks, capture = recorder.ranks, recorder.capture
    try:
        _, problem = tried(lambda: (recorder.whole(), folders.can_be_written(folder)))
        told = ranks.share({"run": secrets.token_hex(8), "problem": problem,
                            "parameters": list(capture.parameters), "marks": capture.sums.marks,
                            "touched": [sorted(segment.touched) for segment in capture.segments]})
        if not any(each["problem"] for each in told):
            told[0]["problem"] = other_parameters(told) or other_marks(told)
        if not any(each["problem"] for each in told):
            run = unite(recorder, told)
            _, problem = tried(lambda: write_parts(recorder, folder, run, options))
            told = ranks.share({"problem": problem})
        code = None
        if ranks.rank == 0:
            for rank, each in enumerate(told):
                if each["problem"]:
                    show(f"error: rank {rank}: {each['problem']}")
            failed = any(each["problem"] for each in told)
            code = 2 if failed else worst(recorder, folder, tally, show, options)
        return ranks.share(code)[0]
    except CaptureError as problem:
        show(f"error: {problem}")
        return 2


def worst(recorder, folder, tally, show, options):
    """The worst code of all stretches of windows."""
    codes = [merging.merged(recorder.folder_of(folder, segment), tally, recorder.ranks.size, show, options)
             for segment in recorder.capture.segments]
    return max(codes, key=lambda code: (code != 0, code != 4, code))
