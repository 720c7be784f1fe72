"""GELU, by erf or by tanh."""
import torch.nn as nn
import torch.nn.functional as F

from . import Activation

BY_ERF, BY_TANH = {"approximate": "none"}, {"approximate": "tanh"}
ACTIVATION = Activation("gelu", (nn.GELU,), (F.gelu,), options=BY_ERF,
                        of_transformers={"GELUActivation": BY_ERF, "GELUTanh": BY_TANH, "NewGELUActivation": BY_TANH},
                        configured={"gelu": BY_ERF, "gelu_new": BY_TANH, "gelu_pytorch_tanh": BY_TANH})
