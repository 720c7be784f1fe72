"""Parameters that fully_shard (FSDP2) has cut: each rank keeps rows of its own, and sees whole gradients on their way."""
import sys

import torch

from .errors import CaptureError
from .gradients import SeesGradients

GROUPS = "torch.distributed.fsdp._fully_shard._fsdp_param_group"  # where the reduce-scatter is called


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


class SeesShardedGradients(SeesGradients):
    """Tells `listener` as SeesGradients does: `gradient` of the rank's whole gradient before the reduce-scatter, and
    `accumulated` when the rank's rows of the sum have been added."""

    def __init__(self, parameters, listener):
        super().__init__({}, listener)
        self.names = {id(parameter): name for name, parameter in parameters.items()}
        self.groups, self.reduce = sys.modules[GROUPS], sys.modules[GROUPS].foreach_reduce
        self.groups.foreach_reduce = self.reduced

    def backward(self, tensors, *args, **kwargs):
        self.scattered = 0
        super().backward(tensors, *args, **kwargs)
        if not self.scattered and self.listener.losses.arrived and self.depth == 0:
            self.listener.report.problem("a backward pass of the model", "no reduce-scatter in it, as "
                                         "set_requires_gradient_sync(False) leaves it out", "one in every micro-batch",
                                         "record a loop that synchronises every micro-batch")

    def reduced(self, parameters, gradients, *args, **kwargs):
        self.scattered += 1
        names = [self.names.get(id(each.sharded_param)) for each in parameters]
        for name, gradient in zip(names, gradients):
            if name is not None:
                self.listener.gradient(name, gradient.detach())
        result = self.reduce(parameters, gradients, *args, **kwargs)
        for name in names:
            if name is not None:
                self.listener.accumulated(name)
        return result

    def remove(self):
        super().remove()
        self.groups.foreach_reduce = self.reduce


class SeesGathered:
    """Tells `gathered(name, value)` of every parameter as a forward pass reads it, put together from all ranks' rows."""

    def __init__(self, model, name_of, gathered, guard):
        self.gathered, self.handles = gathered, []
        for prefix, module in model.named_modules():
            names = {own: name_of(f"{prefix}.{own}" if prefix else own) for own, _ in module.named_parameters(recurse=False)}
            if names:
                self.handles.append(module.register_forward_pre_hook(guard.of_module(self.reads(names))))

    def reads(self, names):
        def before(module, _):
            for own, name in names.items():
                value = getattr(module, own)
                if torch.is_grad_enabled() and not hasattr(value, "to_local"):
                    self.gathered(name, value.detach())
        return before

    def remove(self):
        for handle in self.handles:
            handle.remove()
