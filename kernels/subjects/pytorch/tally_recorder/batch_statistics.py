"""Layers of an opaque model that normalise each micro-batch by its own rows, as no full batch would."""
import torch
from torch.nn.modules.batchnorm import _BatchNorm

from .unjudged import counted


class SeesBatchStatistics:
    """Hears of each BatchNorm that takes the statistics of a micro-batch while `recording()` says so."""

    def __init__(self, model, recording, guard):
        self.recording, self.seen, self.handles = recording, [], []
        for name, module in model.named_modules():
            if isinstance(module, _BatchNorm):
                self.handles.append(module.register_forward_pre_hook(guard.of_module(self.called(name))))

    def called(self, name):
        def hook(module, _):
            own = module.training or module.running_mean is None
            if own and torch.is_grad_enabled() and name not in self.seen and self.recording():
                self.seen.append(name)
        return hook

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def lines(self):
        if not self.seen:
            return []
        return [f"not judged: the batch statistics of {counted(self.seen[0], len(self.seen) - 1)}: each micro-batch "
                "was normalised by its own rows, the full batch would be by all"]
