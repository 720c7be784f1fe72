"""Layers that are no function of a row: masks of dropout, drawn once more from the state that the generators had before it, and
batch statistics."""
import contextlib

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from ..report import counted
from ..user_code import CaptureError, Hooked

INSTEAD = "record the model as opaque, or without this dropout (p = 0)"


def state_of(device):
    """The state of the generators that an operation on this device draws from."""
    own = [] if device.type == "cpu" else [getattr(torch, device.type).get_rng_state(device)]
    return [torch.get_rng_state(), *own]


def restore(state, device):
    torch.set_rng_state(state[0])
    for own in state[1:]:
        getattr(torch, device.type).set_rng_state(own, device)


def are_alike(state, other):
    return all(torch.equal(one, two) for one, two in zip(state, other))


@contextlib.contextmanager
def drawn_again(before, device):
    """All inside of it is drawn as it was from `before` on until now; raises where it was not. What is saved there for
    a backward pass is none of a checkpoint's."""
    now = state_of(device)
    restore(before, device)
    try:
        with torch._C.DisableTorchFunction(), torch.autograd.graph.saved_tensors_hooks(lambda kept: kept,
                                                                                       lambda kept: kept):
            yield
        drawn = state_of(device)
    finally:
        restore(now, device)
    if not are_alike(drawn, now):
        raise CaptureError("found a dropout that draws other numbers when it is run again, expected the same from the "
                           f"same state of PyTorch's generators; {INSTEAD}")


def like(tensor, value):
    """One of the same kind that is full of `value`, for operations that choose how to draw by what they are given."""
    return torch.full_like(tensor.detach(), value)


def asking(tensor, original):
    return tensor.requires_grad_(original.requires_grad and torch.is_grad_enabled())


def mask_of_module(module, before, x, y):
    """What a module kept of `x` where it left `y`: bool, of their shape. `before` is the generators' state before it.
    What it keeps of ones says it also where x is 0."""
    with drawn_again(before, x.device), torch.no_grad():
        mask = module.forward(like(x, 1)) != 0
    x, y = x.detach(), y.detach()
    told = torch.isfinite(x) & (x != 0)
    if mask.shape != y.shape or not torch.equal((y != 0) & told, mask & told):
        raise CaptureError("found a dropout that drops other elements when it is run again, expected the same from the "
                           f"same state of PyTorch's generators; {INSTEAD}")
    return mask


def mask_of_attention(call, before, query, key, value):
    """Which weights a call of an attention kept: bool [batch, heads, tokens, keys], false also of those that it does
    not see. `call(query, key, value)` leaves [batch, tokens, heads, width]. All weights that are seen are alike without
    queries, and values that are 1 for one key and 0 for all others show its weight; as many keys at a time as a value
    is wide, so that every call has the shapes of the run's."""
    drew = not are_alike(before, state_of(query.device))
    mask = weights_above_0(call, before, query, key, value)
    if not drew and not torch.equal(mask, weights_above_0(call, before, query, key, value)):
        raise CaptureError("found an attention that draws from a generator of its own, expected one of PyTorch's; "
                           f"{INSTEAD}")
    return mask


def weights_above_0(call, before, query, key, value):
    keys, width, parts = key.shape[2], value.shape[-1], []
    for first in range(0, keys, width):
        count = min(width, keys - first)
        shown = like(value, 0)
        shown[:, :, first:first + count, :count] = torch.eye(count, dtype=value.dtype, device=value.device)
        with drawn_again(before, query.device):
            left = call(asking(like(query, 0), query), asking(like(key, 0), key), asking(shown, value)).detach()
        parts.append(left[..., :count] != 0)
    return torch.cat(parts, -1).transpose(1, 2)


class DropoutMasks(Hooked):
    """Keeps the masks of the forward pass that ran last until its backward pass has said which micro-batch it was. What
    a checkpoint's second forward pass drops is compared with them."""

    def __init__(self, capture, described):
        self.capture, self.modules = capture, described.dropouts()
        self.attentions = described.attentions_with_dropout()
        self.rows, self.trains, self.runs, self.masks, self.before, self.handles = None, True, False, {}, {}, []

    def attach(self, model):
        hook = self.capture.guard.of_module
        self.handles = [model.register_forward_hook(hook(self.ends))]
        for name, module in self.modules.items():
            self.handles += [module.register_forward_pre_hook(hook(self.begins(name))),
                             module.register_forward_hook(hook(self.after(name)))]

    def begin(self, rows, model):
        """A forward pass: masks of one whose backward pass never came are let go."""
        self.rows, self.trains, self.runs, self.masks = rows, model.training, True, {}

    def state(self):
        return self.rows, self.trains, self.masks

    def resume(self, state):
        """What is drawn again belongs to an earlier forward pass."""
        self.rows, self.trains, self.masks = state

    def ends(self, *_):
        self.runs = False

    def listens(self):
        """Whether the forward pass runs, or a checkpoint runs it again."""
        return self.rows is not None and (self.runs or torch.is_grad_enabled())

    def end(self, segment, prefix):
        """The micro-batch's backward pass is over."""
        segment.trains.add(self.trains)
        wanted = [*self.modules, *(self.attentions.values() if self.trains else [])]
        for name in wanted:
            if self.masks.get(name):
                segment.tensors.setdefault(f"{name}.mask", []).append(self.masks[name])
            elif name not in self.masks:
                self.capture.report.problem(f"{prefix}, {name}", "no call of its dropout", "one in the model's forward "
                                            "pass", "enter the recorder before that pass, or record a later window "
                                            f"(start=1); else {INSTEAD}")
        if len(segment.trains) > 1:
            self.capture.report.problem(prefix, "the model in training in some micro-batches and not in others",
                                        "one of the two, as a case has the same layers in all; record windows that "
                                        "are alike", "or the model as opaque")
        self.rows, self.runs, self.masks = None, False, {}

    def keep(self, name, told):
        """The mask that `told` gives, u8 with a line for each row of the case, or for each pair of rows."""
        try:
            mask = self.capture.scratch.put(told().to(torch.uint8))
        except CaptureError as problem:
            self.capture.report.say_problem(f"{name}: {problem}")
            mask = None
        if self.runs:
            self.masks.setdefault(name, mask)
        elif None not in (mask, self.masks.get(name)) and not torch.equal(*(
                self.capture.scratch.tensor(kept) for kept in (mask, self.masks[name]))):
            self.capture.report.noted(name, "drops other elements in a checkpoint's second forward pass than in the "
                                      "first", "gradients")

    def begins(self, name):
        def reads(_, inputs):
            if self.listens():
                self.before[name] = state_of(inputs[0].device)
        return reads

    def after(self, name):
        def leaves(module, inputs, y):
            before = self.before.pop(name, None)
            if before is not None and self.listens():
                self.keep(name, lambda: self.rows.of(mask_of_module(module, before, inputs[0], y)))
        return leaves

    def watched(self, function):
        """The attention `function`, whose weights' masks are kept."""
        def attends(module, query, key, value, *rest, **options):
            name = self.attentions.get(module)
            if name is None or not self.listens() or not self.trains or self.rows.lengths is None:
                return function(module, query, key, value, *rest, **options)
            before = state_of(query.device)
            result = function(module, query, key, value, *rest, **options)

            def call(*instead):
                return function(module, *instead, *rest, **options)[0]
            self.capture.guard.tried(
                self.keep, name, lambda: pairs_of(mask_of_attention(call, before, query, key, value), self.rows))
            return result
        return attends


def pairs_of(mask, rows):
    """The pairs of rows of each sequence, [pairs, heads], in a mask [batch, heads, tokens, keys]."""
    lines, heads, tokens, keys = mask.shape
    places = torch.arange(lines * tokens, device=mask.device)
    places = places if rows.kept is None else places[rows.kept]
    if keys != tokens or places.shape[0] != sum(rows.lengths):
        raise CaptureError(f"found an attention over {lines} lines of {tokens} tokens and {keys} keys, expected those "
                           f"of the model's input; {INSTEAD}")
    parts, first = [], 0
    for length in rows.lengths:
        own = places[first:first + length]
        line, columns, first = int(own[0]) // tokens, own % tokens, first + length
        parts.append(mask[line][:, columns][:, :, columns].reshape(heads, length * length))
    return torch.cat(parts, 1).t()


def turned(tensors, layers, scratch):
    """Masks of attention as a case has them, [heads, pairs]."""
    names = [f"{layer['name']}.mask" for layer in layers if layer["kind"] == "attention" and layer.get("p")]
    return {name: [scratch.put(torch.cat([scratch.tensor(part) for part in tensors[name]]).t())]
            for name in names if name in tensors}


def without_dropout(layers):
    """The layers of a model that is not in training."""
    return [{**layer, "p": 0} if "p" in layer else layer for layer in layers]


def constants_of(layers):
    """How 1 / (1 - p) is rounded: PyTorch divides in fp32, which is not always what binary64 comes to, rounded once."""
    for layer in layers:
        p = layer.get("p", 0)
        in_fp32 = 1 / torch.tensor(1 - p, dtype=torch.float32)
        if in_fp32 != torch.tensor(1 / (1 - p), dtype=torch.float32):
            return "fp32"
    return "binary64"


class SeesAttention:
    """Stands in for the attention interface of Transformers: each of `watched` is given the function that a module is
    to call, and gives the one that it calls."""

    def __init__(self, watched):
        from transformers.modeling_utils import AttentionInterface
        self.interface, self.found = AttentionInterface, AttentionInterface.get_interface

        def get_interface(*asked):
            function = self.found(*asked)
            for each in watched:
                function = each(function)
            return function
        AttentionInterface.get_interface = get_interface

    def remove(self):
        """Leaves the attention interface as it was."""
        self.interface.get_interface = self.found


class SeesBatchStatistics(Hooked):
    """Hears of each BatchNorm of an opaque model that takes the statistics of a micro-batch while `recording()` says
    so."""

    def __init__(self, model, recording, guard):
        self.recording, self.seen, self.handles = recording, [], []
        for name, module in model.named_modules():
            if isinstance(module, _BatchNorm):
                self.handles.append(module.register_forward_pre_hook(guard.of_module(self.called(name))))

    def called(self, name):
        def hook(module, _):
            own = module.training or module.running_mean is None
            if own and torch.is_grad_enabled() and name not in self.seen and self.recording():
                self.seen.append(name)
        return hook

    def lines(self):
        if not self.seen:
            return []
        return [f"not judged: the batch statistics of {counted(self.seen[0], len(self.seen) - 1)}: each micro-batch "
                "was normalised by its own rows, the full batch would be by all"]
