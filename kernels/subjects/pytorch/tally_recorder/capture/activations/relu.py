"""ReLU."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from . import Activation

ACTIVATION = Activation("relu", (nn.ReLU,), (torch.relu, F.relu), ("relu",), configured={"relu": {}})
