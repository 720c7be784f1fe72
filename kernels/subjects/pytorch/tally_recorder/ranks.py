"""Processes that train together: which of them this one is, how they add up, what they tell each other, and how a recording of
them ends: each writes its part, and rank 0 merges and judges them."""
import gc
import secrets

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from . import verdict
from .user_code import CaptureError, in_one_line
from .verdict import worst

SAY_HOW = ("pass ranks={\"reduce\": {\"divide\": \"after\"}} (or before, loss, collective, in the words of a case file) as "
           "the loop does it, or ranks=False to record each process as one that trains alone")


def local(value):
    """The rank's own rows of a tensor that ranks share; any other tensor as it is."""
    return value.to_local() if value is not None and hasattr(value, "to_local") else value


def is_sharded(model):
    """Whether fully_shard has cut parameters of this model."""
    return any(hasattr(parameter, "to_local") for parameter in model.parameters())


def can_be_cut(model, size):
    """Refuses pieces that a case does not state: it cuts every parameter into as many equal ones as there are ranks."""
    for name, parameter in model.named_parameters():
        if not hasattr(parameter, "to_local"):
            raise CaptureError(f"fully_shard: found {name} that it has not cut beside others that it has, expected all of "
                               "them; call fully_shard on the whole model")
        placements = [str(placement) for placement in parameter.placements]
        if len(placements) != 1 or getattr(parameter.placements[0], "dim", None) != 0:
            raise CaptureError(f"fully_shard: found {name} placed as {placements}, expected rows on one mesh of all ranks; "
                               "record without replicas and tensor parallelism")
        if parameter.shape[0] % size:
            raise CaptureError(f"fully_shard: found {name} with {parameter.shape[0]} rows over {size} ranks, expected a "
                               "multiple; a case cuts parameters into equal pieces, record with ranks that divide them")


def several():
    """Whether this process is one of several that torch.distributed has joined."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def wrapper_of(model):
    """The DistributedDataParallel around a model, or that is one; None where there is none."""
    if isinstance(model, DistributedDataParallel):
        return model
    return next((found for found in gc.get_objects() if issubclass(type(found), DistributedDataParallel)
                 and found.module is model), None)


def inner(model):
    """The network that a wrapper wraps."""
    return model.module if isinstance(model, DistributedDataParallel) else model


def ranks_of(model, optimizer, said):
    """What is known of the ranks; None where this process trains alone, or is to be recorded so."""
    if said is False:
        return None
    if not several():
        if said is not None:
            raise CaptureError("ranks: found one process, expected several that torch.distributed has joined; call "
                               "init_process_group before the recorder is made, or leave ranks out")
        return None
    ranks = Ranks(wrapper_of(model), optimizer, said, is_sharded(model))
    if ranks.sharded:
        can_be_cut(model, ranks.size)
    return ranks


class Ranks:
    """`said` is the section `execution.ranks` of a case file, as far as the loop's author states it."""

    def __init__(self, wrapper, optimizer, said, sharded):
        if said is not None and not isinstance(said, dict):
            raise CaptureError(f"ranks: found {said!r}, expected False or a dictionary in the words of execution.ranks; "
                               "pass one of these, or leave it out")
        self.wrapper, self.said, self.sharded = wrapper, said or {}, sharded
        self.group = wrapper.process_group if wrapper is not None else None
        self.rank, self.size = dist.get_rank(self.group), dist.get_world_size(self.group)
        self.shares = hasattr(optimizer, "_param_to_rank")  # ZeroRedundancyOptimizer: each rank steps its parameters
        if wrapper is None and not sharded and "divide" not in self.said.get("reduce", {}):
            raise CaptureError(f"ranks: found {self.size} processes and no DistributedDataParallel around the model, "
                               f"expected to be told how gradients are divided; {SAY_HOW}")
        if wrapper is not None and wrapper.gradient_as_bucket_view:
            raise CaptureError("DistributedDataParallel: found gradient_as_bucket_view=True, expected False, as such a "
                               "gradient is seen only when it is on its way; record with False, which leaves the same "
                               "bits but for a division")
        if self.said.get("sharding", "none") != "none" and not sharded:
            raise CaptureError(f"ranks: found sharding={self.said['sharding']!r} of parameters that each rank has whole, "
                               "expected none; leave it out, as what ZeroRedundancyOptimizer shares is seen in the run")
        if getattr(optimizer, "_overlap_with_ddp", False):
            raise CaptureError("optimizer: found overlap_with_ddp=True, which steps inside of backward, expected False; "
                               "record with False")

    @property
    def divide(self):
        return self.said.get("reduce", {}).get("divide", "collective" if self.sharded else "before")

    def synchronises(self):
        """Whether the backward pass that ended was one in which the wrapper adds up over ranks."""
        return self.wrapper is not None and self.wrapper.require_forward_param_sync

    def section(self, sums, lines):
        """`execution.ranks`; `sums` says of each micro-batch whether the ranks added up behind it."""
        found = {**self.said, "reduce": {"divide": self.divide, **self.said.get("reduce", {})}}
        if self.sharded:
            lines.append(f"assumed: {self.size} ranks share parameters, gradients and the optimizer's state, and add up "
                         "after every micro-batch, as fully_shard does")
            return {"sharding": "gradients", "buckets": {"elements": 1}, **found}  # each parameter cut by itself
        if self.wrapper is not None and "buckets" not in found:
            found["buckets"] = {"order": "reverse"}
        if "communicate" not in found:
            found["communicate"] = self.communicate(sums)
            when = ("once per window, after its last micro-batch" if found["communicate"] == "window" else
                    "after every micro-batch, of all that was accumulated until then")
            ends = "" if self.wrapper else ("; all that changes gradients before PyTorch's clip, recorder.added_up() or the "
                                            "step is taken for that sum")
            lines.append(f"assumed: {self.size} ranks add up {when} (argument ranks){ends}")
        return found

    @staticmethod
    def communicate(sums):
        """What the run shows: the running total where all windows add up behind every micro-batch."""
        several_each = [window for window in sums if len(window) > 1]
        return "running_total" if several_each and all(map(all, several_each)) else "window"

    def owner(self, optimizer, parameter):
        """The rank that steps a parameter; None where all do."""
        return optimizer._param_to_rank[parameter] if self.shares else None

    def share(self, told):
        """What every rank tells, by rank; all call this together."""
        if not several():
            raise CaptureError("torch.distributed: found its processes parted, expected them together; call check before "
                               "destroy_process_group, on every rank")
        all_told = [None] * self.size
        dist.all_gather_object(all_told, told, group=self.group)
        return all_told


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
        return None, in_one_line(problem)


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
    from .merge import write_part  # which `python -m` runs, and nothing imports before
    ranks, names = recorder.ranks, recorder.capture.parameters
    owns = [name for name, parameter in names.items() if ranks.owner(recorder.optimizer, parameter) == ranks.rank]
    for segment in recorder.whole():
        case, tensors, taps, claims, seen, lines, notes, problems = recorder.stated(segment, options)
        said = {"rank": ranks.rank, "ranks": ranks.size, "run": run, "case": case, "claims": claims, "seen": seen,
                "places": recorder.capture.places.text(), "lines": lines + notes,
                "problems": problems, "wrong": recorder.wrongs(), "owns": owns, "sharded": ranks.sharded}
        write_part(recorder.folder_of(folder, segment), ranks.rank, recorder.scratch, said, tensors, taps)


def checked_together(recorder, folder, tally, show, options):
    """Recorder.check of every rank: all return the same code, and rank 0 shows what is said."""
    ranks, capture = recorder.ranks, recorder.capture
    try:
        _, problem = tried(lambda: (recorder.whole(), verdict.can_be_written(folder)))
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
            code = 2 if failed else all_merged(recorder, folder, tally, show, options)
        return ranks.share(code)[0]
    except CaptureError as problem:
        show(f"error: {problem}")
        return 2


def all_merged(recorder, folder, tally, show, options):
    """The worst code of all stretches of windows."""
    from .merge import merged
    return worst(merged(recorder.folder_of(folder, segment), tally, recorder.ranks.size, show, options)
                 for segment in recorder.capture.segments)
