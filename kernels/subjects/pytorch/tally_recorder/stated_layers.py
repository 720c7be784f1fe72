"""The layers of a network as a case states them, and where in the network each is seen at work."""
import math

import torch.nn as nn

from .errors import CaptureError
from .network_graph import layer_named


WITH_TENSORS = ("linear", "embedding", "position_embedding", "layer_norm", "rms_norm")


class StatedLayers:
    """Layers one by one, in the order in which they run. `layer_of` states a module; `modules` gives each layer's
    module by the layer's name, `leave` those that leave what the layer does and read something else, `attentions` each
    attention's layer by the module that calls it, `scaled_tables` each table whose module leaves more than its rows."""

    def __init__(self, model, layer_of):
        self.model, self.paths = model, {module: path for path, module in model.named_modules()}
        self.layer_of, self.layers, self.switched_off = layer_of, [], False
        self.modules, self.leave, self.attentions, self.scaled_tables = {}, {}, {}, {}

    def named(self, module):
        return layer_named(self.paths[module])

    def of_module(self, module, read, **options):
        """A layer that is one module and reads what the layer `read` leaves, with `options` as the model's configuration
        has them, where the module may say otherwise. Returns its name, as all of these do."""
        name = self.named(module)
        if hasattr(module, "lora_A"):
            return self.of_adapter(name, module, read)
        self.modules[name] = module
        layer = {**({} if "kind" in options else self.layer_of(name, module)), **options}
        layer = {key: value for key, value in layer.items() if value is not None}
        return self.add(layer["kind"], name, [read] if read else None,
                        **{key: value for key, value in layer.items() if key not in ("kind", "name")})

    def add(self, kind, name, inputs=None, **options):
        layer = {"kind": kind, "name": name, **options}
        if inputs:
            layer["inputs"] = list(inputs)
        self.layers.append(layer)
        return name

    def of_adapter(self, name, module, read):
        """A layer of PEFT's beside a frozen one: base(x) + scale · B(A(x))."""
        adapters = module.active_adapters
        if len(adapters) != 1 or module.merged or any(module.use_dora.values()):
            raise CaptureError(f"layer {name}: found adapters {', '.join(adapters)}"
                               f"{', merged' if module.merged else ''}{', DoRA' if any(module.use_dora.values()) else ''}, "
                               "expected one that is plain LoRA; record the model as opaque")
        base = self.of_module(module.base_layer, read)
        low = self.dropout(module.lora_dropout[adapters[0]], read, self.model.peft_config[adapters[0]].lora_dropout)
        low = self.of_module(module.lora_A[adapters[0]], low)
        low = self.of_module(module.lora_B[adapters[0]], low)
        low = self.add("scale", f"{name}_scaled", [low], factor=factor_of(module, adapters[0]))
        self.leave[name] = module
        return self.add("add", name, [base, low])

    def scaled_table(self, module, factor):
        """An embedding that multiplies its rows before it leaves them."""
        name = self.named(module)
        self.scaled_tables[name] = module
        layer = self.layer_of(name, module)
        rows = self.add(**layer)
        scaled = self.add("scale", f"{name}_scaled", [rows], factor=factor)
        self.leave[scaled] = module
        return scaled

    def dropout(self, module, read, p):
        """What `module` drops by the configuration; nothing where p is 0."""
        p = self.rate(p)
        return self.of_module(module, read, kind="dropout", p=p) if p else read

    def attention(self, module, name, inputs, p=0, **options):
        """What `module` has the attention interface do; weights are dropped by p."""
        self.attentions[module] = name
        return self.add("attention", name, inputs, **options, **({"p": p} if p else {}))

    def rate(self, p):
        """p of a module that drops; 0 where all were switched off, as TRL's `disable_dropout_in_model` does it."""
        drops = [module.p for module in self.paths if isinstance(module, nn.Dropout)]
        off = bool(drops) and not any(drops)
        self.switched_off |= bool(p) and off
        return 0 if off else p


def words(layer):
    """What a case calls each input of a layer."""
    count = len(layer.get("inputs", [None]))
    return {"attention": ["q", "k", "v"], "gated": ["gate", "up"]}.get(
        layer["kind"], ["x"] if count == 1 else [f"x{i}" for i in range(count)])


def labels(layers):
    """What a case calls each layer: its name, or its kind and place."""
    return [layer.get("name", f"{layer['kind']}#{i}") for i, layer in enumerate(layers)]


def readers(layers):
    """By layer: those that read what it leaves, each with its kind and the word for that input."""
    found, before = {}, "input"
    for label, layer in zip(labels(layers), layers):
        for word, name in zip(words(layer), layer.get("inputs", [before])):
            found.setdefault(name, []).append((label, layer["kind"], word))
        before = label
    return found


def factor_of(module, adapter):
    """What an adapter is scaled by, as its configuration says: alpha over the rank, or over its root."""
    rank = module.r[adapter]
    return module.lora_alpha[adapter] / (math.sqrt(rank) if module.use_rslora.get(adapter) else rank)


def reached(layers):
    """The layers to whose outputs a gradient flows, as they train or read what does; frozen ones are none by themselves."""
    found, before = set(), None
    for label, layer in zip(labels(layers), layers):
        trains = layer["kind"] in WITH_TENSORS and layer.get("trainable", True) and layer.get("affine", True)
        if trains or any(name in found for name in layer.get("inputs", [before])):
            found.add(label)
        before = label
    return found
