"""Softplus with the standard beta and threshold."""
import torch.nn as nn
import torch.nn.functional as F

from . import Activation

ACTIVATION = Activation("softplus", (nn.Softplus,), (F.softplus,), fixed={"beta": 1, "threshold": 20})
