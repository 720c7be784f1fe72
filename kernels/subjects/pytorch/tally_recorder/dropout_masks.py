"""Masks of dropout: which elements, and which weights of an attention, each micro-batch kept."""
import torch

from .drawn_again import INSTEAD, mask_of_attention, mask_of_module, state_of
from .errors import CaptureError


class DropoutMasks:
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

    def detach(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

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
    """Of a mask [batch, heads, tokens, keys] the pairs of rows of each sequence, [pairs, heads]."""
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


def without(layers):
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
