"""Taps of known layers: what each leaves in the forward pass, and the gradients that arrive there."""
import torch

from .stated_layers import labels, reached, readers


class LayerTaps:
    """Keeps the taps of the forward pass that ran last until its backward pass has said which micro-batch it was. Where
    several layers read an output, each reads a view of its own, so that their gradients arrive apart."""

    def __init__(self, capture, described):
        self.capture, self.modules, self.leave = capture, described.modules, described.leave
        self.attentions, self.scaled_tables = described.attentions, described.scaled_tables
        self.reads = {label: layer.get("inputs") for label, layer in zip(labels(described.layers), described.layers)}
        self.readers, self.reached = readers(described.layers), reached(described.layers)
        self.slices = {label: layer for label, layer in zip(labels(described.layers), described.layers)
                       if layer["kind"] == "slice"}
        self.uses = described.uses  # by the id of a weight that several layers read: its name, and those layers
        self.scaled = {layer["inputs"][0]: label for label, layer in zip(labels(described.layers), described.layers)
                       if layer["kind"] == "scale"}
        self.to_be_scaled = {}  # by the id of what a layer left: it, and the layer that is to scale it
        self.rows, self.pending, self.handles = None, {}, []

    def attach(self):
        hook = self.capture.guard.of_module
        for name, module in self.modules.items():
            if getattr(module, "inplace", False):
                continue
            self.handles += [module.register_forward_pre_hook(hook(self.before(name))),
                             module.register_forward_hook(hook(self.after(name)))]
        self.handles += [module.register_forward_hook(hook(self.after(name))) for name, module in self.leave.items()]

    def detach(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

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
        """What a case calls the gradient of what a layer leaves; None of what an `add` hands on and of the logits."""
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
