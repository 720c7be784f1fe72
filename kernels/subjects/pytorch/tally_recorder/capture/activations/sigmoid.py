"""The logistic function."""
import torch
import torch.nn as nn

from . import Activation

ACTIVATION = Activation("sigmoid", (nn.Sigmoid,), (torch.sigmoid,), ("sigmoid",))
