"""SiLU, also called swish."""
import torch.nn as nn
import torch.nn.functional as F

from . import Activation

ACTIVATION = Activation("silu", (nn.SiLU,), (F.silu,), configured={"silu": {}})
