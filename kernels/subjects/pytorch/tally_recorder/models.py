"""How a case describes the model: as one opaque layer, or as the layers that Tally knows."""
import torch.nn as nn

from .errors import CaptureError
from .network_graph import layers_of_network, layer_named


class OpaqueModel:
    """The network is one layer whose forward and backward are not stated; its gradients are inputs of the case."""
    prefix, last, wants_input = "model.", "model", False

    def name_of(self, parameter):
        return self.prefix + parameter

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
    """Layers that Tally knows, in a `torch.nn.Sequential` or in a network whose forward calls them and adds what they
    leave: forward and backward are judged as well."""
    wants_input = True

    def __init__(self, model):
        if isinstance(model, nn.Sequential):
            self.layers = [layer_of(name, module) for name, module in model.named_children()]
        else:
            self.layers = layers_of_network(model, layer_of)
        last = self.layers[-1]
        self.last = last.get("name", f"{last['kind']}#{len(self.layers) - 1}")

    def name_of(self, parameter):
        module, _, name = parameter.rpartition(".")
        return f"{layer_named(module)}.{name}"

    def section(self, segment, capture, loss):
        if None in segment.tensors.get("x", [None]) or loss["kind"] == "opaque":
            raise CaptureError("model: found a loss that no case states, expected one for known layers; record the "
                               "model as opaque")
        return {"input": segment.tensors["x"][0].shape[-1], "layers": self.layers, "loss": loss}

    def lines(self):
        return []
