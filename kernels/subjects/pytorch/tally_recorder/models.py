"""How a case describes the model: as one opaque layer, or as the layers that Tally knows."""
import torch.nn as nn

from .errors import CaptureError


class OpaqueModel:
    """The network is one layer whose forward and backward are not stated; its gradients are inputs of the case."""
    prefix, last, wants_input = "model.", "model", False

    def section(self, segment, capture, loss):
        tensors = {name[len(self.prefix):]: capture.samples.shape(name, parameter) for name, parameter in capture.parameters.items()
                   if name in segment.touched}
        layer = {"kind": "opaque", "name": "model", "tensors": tensors}
        known = next((seen for seen in segment.losses if not isinstance(seen, str)), None)
        if known is not None and loss["kind"] != "opaque":
            layer["out"] = known.y.shape[-1]
        return {"input": 0, "layers": [layer], "loss": loss}

    def lines(self):
        return ["not judged: forward and backward (the model is opaque; its micro-batches' gradients are inputs)"]


def layer_of(name, module):
    """A layer of a case for a module that is known."""
    kind = type(module)
    if kind is nn.Linear:
        return {"kind": "linear", "name": name, "out": module.out_features, "bias": module.bias is not None}
    if kind in (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.SiLU):
        return {"kind": kind.__name__.lower()}
    if kind is nn.GELU:
        return {"kind": "gelu", "approximate": getattr(module, "approximate", "none")}
    if kind is nn.LayerNorm and len(module.normalized_shape) == 1:
        return {"kind": "layer_norm", "name": name, "eps": module.eps, "affine": module.elementwise_affine}
    raise CaptureError(f"layer {name}: found {kind.__name__}, expected linear, layer_norm or an activation that Tally "
                       "knows; record the model as opaque")


class KnownLayers:
    """A `torch.nn.Sequential` of layers that Tally knows: forward and backward are judged as well."""
    prefix, wants_input = "", True

    def __init__(self, model):
        if not isinstance(model, nn.Sequential):
            raise CaptureError(f"model: found {type(model).__name__}, expected a torch.nn.Sequential; record it as "
                               "opaque")
        children = list(model.named_children())
        self.layers = [layer_of(name, module) for name, module in children]
        last = self.layers[-1]
        self.last = last.get("name", f"{last['kind']}#{len(self.layers) - 1}")

    def section(self, segment, capture, loss):
        if None in segment.tensors.get("x", [None]) or loss["kind"] == "opaque":
            raise CaptureError("model: found a loss that no case states, expected one for known layers; record the "
                               "model as opaque")
        return {"input": segment.tensors["x"][0].shape[-1], "layers": self.layers, "loss": loss}

    def lines(self):
        return []
