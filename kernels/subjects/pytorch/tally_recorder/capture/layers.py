"""Layers that Tally knows: how a case states them, and the taps of what each leaves and of the gradients that arrive there."""
import math

import torch
import torch.nn as nn

from ..user_code import CaptureError, Hooked

WITH_TENSORS = ("linear", "embedding", "position_embedding", "layer_norm", "rms_norm")


def layer_named(module):
    """What a case calls a module: names of layers have no dots."""
    return module.replace(".", "_")


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


def input_words(layer):
    """What a case calls each input of a layer."""
    count = len(layer.get("inputs", [None]))
    return {"attention": ["q", "k", "v"], "gated": ["gate", "up"]}.get(
        layer["kind"], ["x"] if count == 1 else [f"x{i}" for i in range(count)])


def labels(layers):
    """What a case calls each layer: its name, or its kind and place."""
    return [layer.get("name", f"{layer['kind']}#{i}") for i, layer in enumerate(layers)]


def readers(layers):
    """Those that read what each layer leaves, with their kinds and the word for that input."""
    found, before = {}, "input"
    for label, layer in zip(labels(layers), layers):
        for word, name in zip(input_words(layer), layer.get("inputs", [before])):
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


class LayerTaps(Hooked):
    """Keeps the taps of the forward pass that ran last until its backward pass has said which micro-batch it was. Where
    several layers read an output, each reads a view of its own, so that their gradients arrive apart."""

    def __init__(self, capture, described):
        self.capture, self.modules, self.leave = capture, described.modules, described.leave
        self.attentions, self.scaled_tables = described.attentions, described.scaled_tables
        self.reads = {label: layer.get("inputs") for label, layer in zip(labels(described.layers), described.layers)}
        self.readers, self.reached = readers(described.layers), reached(described.layers)
        self.slices = {label: layer for label, layer in zip(labels(described.layers), described.layers)
                       if layer["kind"] == "slice"}
        self.uses = described.uses  # a weight that several layers read, by its id: its name, and those layers
        self.scaled = {layer["inputs"][0]: label for label, layer in zip(labels(described.layers), described.layers)
                       if layer["kind"] == "scale"}
        self.to_be_scaled = {}  # what a layer left, by its id, and the layer that is to scale it
        self.rows, self.pending, self.handles = None, {}, []

    def attach(self):
        hook = self.capture.guard.of_module
        for name, module in self.modules.items():
            if getattr(module, "inplace", False):
                continue
            self.handles += [module.register_forward_pre_hook(hook(self.before(name))),
                             module.register_forward_hook(hook(self.after(name)))]
        self.handles += [module.register_forward_hook(hook(self.after(name))) for name, module in self.leave.items()]

    def hears_of_functions(self):
        """Whether it is to hear of weights that are read and of products."""
        return bool(self.uses or self.scaled)

    def begin(self, rows, _):
        """A forward pass: taps of one whose backward pass never came are let go."""
        self.rows, self.pending, self.to_be_scaled = rows, {}, {}

    def state(self):
        return self.rows, self.pending, self.to_be_scaled

    def resume(self, state):
        """What comes belongs to an earlier forward pass."""
        self.rows, self.pending, self.to_be_scaled = state

    def listens(self):
        return self.rows is not None

    def end(self, segment, prefix):
        """The micro-batch's backward pass is over."""
        for name, kept in self.pending.items():
            segment.tap(f"{prefix}/{name}", kept)
        self.rows, self.pending = None, {}

    def keep(self, name, value):
        self.pending[name] = self.capture.scratch.put(self.rows.of(value))

    def left(self, name, value, as_rows=None):
        """What the layer `name` leaves, [batch, tokens, features] once `as_rows` has laid it so."""
        as_rows = as_rows or (lambda tensor: tensor)
        if f"forward/{name}.y" not in self.pending:
            self.keep(f"forward/{name}.y", as_rows(value.detach()))
        if not value.requires_grad or name not in self.reached:
            return
        place = self.place_of_gradient(name)
        if place:
            self.when_it_arrives(value, place, as_rows)
        if name in self.slices:
            self.when_it_arrives(value, f"backward/d.{name}.x", lambda tensor: self.around(name, as_rows(tensor)))

    def around(self, name, gradient):
        """What a slice gives for what it reads: nothing outside of its features."""
        layer, width = self.slices[name], self.pending[f"forward/{self.reads[name][0]}.y"].shape[-1]
        return torch.nn.functional.pad(gradient, (layer["begin"], width - layer["end"]))

    def weight_read(self, weight, looked_up):
        """A weight that several layers read: each gets a view of its own, whose gradient is what it gives."""
        name, by_look_up, by_product = self.uses.get(id(weight), (None, None, None))
        if name is None or not self.listens() or not torch.is_grad_enabled() or not weight.requires_grad:
            return weight
        own = weight.view_as(weight)

        def arrives(gradient):
            if self.listens():
                self.pending[f"backward/d.{name}@{by_look_up if looked_up else by_product}"] = \
                    self.capture.scratch.put(gradient)
        own.register_hook(self.capture.guard.hook(arrives))
        return own

    def looked_up(self, weight, rows):
        """Rows of a table whose module multiplies them before it leaves them."""
        for name, module in self.scaled_tables.items():
            if module.weight is weight and self.listens() and torch.is_grad_enabled():
                self.left(name, rows)

    def place_of_gradient(self, name):
        """What a case calls the gradient of what a layer leaves; None for what an `add` hands on and for the logits."""
        read_by = self.readers.get(name, [])
        if len(read_by) > 1:
            return f"fork/d.{name}.y"
        if not read_by or read_by[0][1] == "add":
            return None
        return f"backward/d.{read_by[0][0]}.{read_by[0][2]}"

    def when_it_arrives(self, value, place, as_rows):
        def arrives(gradient):
            if self.listens():
                self.keep(place, as_rows(gradient))
        value.register_hook(self.capture.guard.hook(arrives))

    def before(self, name):
        """A hook that sees what the layer reads."""
        def reads(_, inputs):
            read = (self.reads[name] or [None])[0]
            if not self.listens() or not torch.is_grad_enabled() or read not in self.readers or not inputs:
                return None
            x = inputs[0]
            if not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.dim() < 2:
                return None
            if read not in self.modules and read not in self.leave and read != "input":
                self.left(read, x)
            if len(self.readers[read]) == 1 or not x.requires_grad or read not in self.reached:
                return None
            own = x.view_as(x)
            self.when_it_arrives(own, f"backward/d.{name}.x", lambda tensor: tensor)
            return (own, *inputs[1:])
        return reads

    def after(self, name):
        def leaves(_, __, y):
            if self.listens() and torch.is_grad_enabled() and isinstance(y, torch.Tensor):
                self.left(name, y)
                if name in self.scaled:
                    self.to_be_scaled[id(y)] = y, self.scaled[name]
        return leaves

    def multiplied(self, tensor, product):
        """A product of a tensor that a layer is to scale is what that layer leaves."""
        _, name = self.to_be_scaled.pop(id(tensor), (None, None))
        if name and self.listens() and torch.is_grad_enabled():
            self.left(name, product)

    def watched(self, function):
        """The attention `function`, of which is kept what it reads and leaves."""
        def attends(module, query, key, value, *rest, **options):
            name = self.attentions.get(module)
            if name is None or not self.listens() or not torch.is_grad_enabled():
                return function(module, query, key, value, *rest, **options)
            tried = self.capture.guard.tried
            for source, heads in zip(self.reads[name], (query, key, value)):
                if source not in self.modules and source not in self.leave:
                    tried(self.left, source, heads, lambda tensor: tensor.transpose(1, 2).flatten(2))
            result = function(module, query, key, value, *rest, **options)
            tried(self.left, name, result[0], lambda tensor: tensor.flatten(2))
            return result
        return attends
