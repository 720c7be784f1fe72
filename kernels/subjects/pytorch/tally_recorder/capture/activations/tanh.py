"""The hyperbolic tangent."""
import torch
import torch.nn as nn

from . import Activation

ACTIVATION = Activation("tanh", (nn.Tanh,), (torch.tanh,), ("tanh",), configured={"tanh": {}})
