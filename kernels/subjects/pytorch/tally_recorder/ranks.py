"""Processes that train together: which of them this one is, how they add up, and what they tell each other."""
import gc

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from .errors import CaptureError
from .sharded import can_be_cut, is_sharded

HOW = ("pass ranks={\"reduce\": {\"divide\": \"after\"}} (or before, loss, collective, in the words of a case file) as "
       "the loop does it, or ranks=False to record each process as one that trains alone")


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
                               f"expected to be told how gradients are divided; {HOW}")
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
                         "behind every micro-batch, as fully_shard does")
            return {"sharding": "gradients", "buckets": {"elements": 1}, **found}  # each parameter cut by itself
        if self.wrapper is not None and "buckets" not in found:
            found["buckets"] = {"order": "reverse"}
        if "communicate" not in found:
            found["communicate"] = self.communicate(sums)
            when = ("once a window, behind its last micro-batch" if found["communicate"] == "window" else
                    "behind every micro-batch, of all that was accumulated until then")
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
