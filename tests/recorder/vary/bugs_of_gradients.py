"""Bugs in what is done to gradients between two micro-batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accumulating import Bug, RIGHT, clip, each, gradients, right, rows_of, total


def kept_in_list(state, batches):
    """All losses are kept, and only what the name holds in the end is sent back."""
    state["optimizer"].zero_grad()
    for batch in batches:
        loss = total(state, batch) / rows_of(batches)
    loss.backward()
    state["optimizer"].step()


def summed_and_sent_each_time(state, batches):
    """What has been added up so far is sent back behind every micro-batch."""
    state["optimizer"].zero_grad()
    loss = 0
    for batch in batches:
        loss = loss + total(state, batch) / rows_of(batches)
        loss.backward(retain_graph=True)
    state["optimizer"].step()


def summed_and_sent_once(state, batches):
    state["optimizer"].zero_grad()
    sum(total(state, batch) for batch in batches).div(rows_of(batches)).backward()
    state["optimizer"].step()


def running_mean(state, k, batches):
    """Behind every micro-batch the gradients are divided by the number so far."""
    for gradient in gradients(state):
        gradient /= k + 1


def own_buffer(weigh):
    """A user's own accumulation, `total = weigh(total, gradient, k)`."""
    def step(state, batches):
        parameters, held = list(state["model"].parameters()), None
        for k, batch in enumerate(batches):
            found = torch.autograd.grad(total(state, batch) / rows_of(batches), parameters)
            held = list(found) if held is None else [weigh(one, two, k) for one, two in zip(held, found)]
        for parameter, gradient in zip(parameters, held):
            parameter.grad = gradient
        state["optimizer"].step()
    return step


class Buffered(torch.autograd.Function):
    """A linear layer whose backward pass writes to one buffer, and hands out that or a copy."""
    buffers, shared = {}, True

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        found = gradient.t() @ x
        held = Buffered.buffers.setdefault((id(weight), found.dtype), torch.empty_like(found))
        held.copy_(found)
        return gradient @ weight, held.detach() if Buffered.shared else held.clone()


class Graphed(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Parameter(torch.randn(8, 6)), nn.Parameter(torch.randn(4, 8))

    def forward(self, x):
        return Buffered.apply(torch.tanh(Buffered.apply(x, self.one)), self.two)


def of_buffers():
    model = Graphed()
    return {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}


def buffered(shared):
    def step(state, batches):
        Buffered.shared = shared
        Buffered.buffers.clear()
        for parameter in state["model"].parameters():
            parameter.grad = None
        for batch in batches:
            (total(state, batch) / rows_of(batches)).backward()
        state["optimizer"].step()
    return step


def penalised(scale):
    return each(lambda state, b, k: right(state, b, k) + 0.01 * sum((p ** 2).sum() for p in state["model"].parameters()) / scale(b))


def unscaled(often):
    """Scaled losses, whose scale is taken out of the gradients behind every micro-batch or once."""
    def unscale(state, *_):
        for gradient in gradients(state):
            gradient /= 1024
    return each(lambda state, b, k: 1024 * right(state, b, k), **{"behind" if often else "before": unscale})


class SamplesClipped:
    """Gradients of single rows, clipped and added up; `also` is sent back as well."""

    def __init__(self, also=None, by=lambda batch, batches: rows_of(batches)):
        self.also, self.by = also, by

    def __call__(self, state, batches):
        state["optimizer"].zero_grad()
        parameters = list(state["model"].parameters())
        for batch in batches:
            losses = F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="none")
            if self.also:
                self.also(losses, batches).backward(retain_graph=True)
            for loss in losses:
                found = torch.autograd.grad(loss, parameters, retain_graph=True)
                scale = (0.3 / torch.stack([part.norm() for part in found]).norm()).clamp(max=1)
                for parameter, part in zip(parameters, found):
                    part = part * scale / self.by(batch, batches)
                    parameter.grad = part if parameter.grad is None else parameter.grad + part
        state["optimizer"].step()


def noisy(once):
    """Noise for privacy, added once a window or once a micro-batch."""
    def add(state, *_):
        for gradient in gradients(state):
            gradient += 0.01 * torch.randn_like(gradient)
    return each(right, **{"before" if once else "behind": add})


# Where each was seen: a repository with the number of an issue or a pull request.
BUGS = [
    Bug("transformers#1563: a clip behind every backward pass", each(right, behind=clip), each(right, before=clip), "each later counts more"),
    Bug("nano-world-model#22: a clip before every backward pass", each(lambda s, b, k: (k and clip(s), right(s, b, k))[1]), RIGHT,
        "each later counts more"),
    Bug("a penalty with every micro-batch", penalised(lambda b: 1), penalised(len), "parameters added"),
    Bug("DP#7: the plain mean stays beside the clipped rows", SamplesClipped(lambda losses, batches: losses.mean() / len(batches)),
        SamplesClipped(), "another term"),
    Bug("clipped rows divided by their micro-batch", SamplesClipped(by=lambda batch, batches: len(batch["x"]) * len(batches)),
        SamplesClipped(), "1/(K n_k)"),
    Bug("noise with every micro-batch", noisy(False), noisy(True), "another term"),
    Bug("the loss of the last micro-batch alone is sent back", kept_in_list, RIGHT, "the last alone"),
    Bug("what is added up is sent back every time", summed_and_sent_each_time, summed_and_sent_once, "each earlier counts more"),
    Bug("gradients divided by the number so far", each(right, behind=running_mean), RIGHT, "1/K", "each later counts more"),
    Bug("a running mean of gradients by halves", own_buffer(lambda held, found, k: (held + found) / 2), own_buffer(lambda held, found, k: held + found),
        "each later counts more", "1/K"),
    Bug("pytorch#181723: one buffer that .grad shares", buffered(True), buffered(False), "the last alone", make=of_buffers),
    Bug("the scale taken out behind every micro-batch", unscaled(True), unscaled(False), "each later counts more"),
]
