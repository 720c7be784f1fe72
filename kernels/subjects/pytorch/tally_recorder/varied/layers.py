"""Layers that see the batch, found by type: what they leave depends on how the rows were dealt."""
import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils.spectral_norm import SpectralNorm

try:
    from torch.nn.utils.parametrizations import _SpectralNorm
except ImportError:
    _SpectralNorm = SpectralNorm


def sees_the_batch(module):
    """BatchNorm; InstanceNorm that follows the statistics; a spectral norm, which goes a step on in every forward pass."""
    if isinstance(module, _NormBase):
        return isinstance(module, nn.modules.batchnorm._BatchNorm) or module.track_running_stats
    return isinstance(module, _SpectralNorm) or any(isinstance(hook, SpectralNorm) for hook in module._forward_pre_hooks.values())


def layers_of(modules):
    """(name, layer) of those that see the batch, of (name, module)."""
    return [(".".join(filter(None, (name, own))), layer) for name, module in modules for own, layer in module.named_modules()
            if sees_the_batch(layer)]


def label(name, layer):
    """As vary.json lists it."""
    return f"{type(layer).__name__ if isinstance(layer, _NormBase) else 'SpectralNorm'} {name}"


def hold(layer, dtype=None):
    """It stays out of training, by statistics that stand still."""
    if isinstance(layer, _NormBase) and layer.running_mean is None:
        device = next((parameter.device for parameter in layer.parameters()), None)
        layer.running_mean, layer.running_var = (fill(layer.num_features, dtype=dtype, device=device) for fill in (torch.zeros, torch.ones))
    layer.train(False)
    layer.train = lambda mode=True: layer
