#!/usr/bin/env python3
"""Kinds of bugs that accumulating loops had in public, written anew, wrong and right: python3 tests/vary_public_bugs_test.py"""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import needs_torch  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tally_recorder  # noqa: E402

ROWS, TOKENS, WORDS = 8, 6, 9
IGNORED = -100


def data(_):
    mask = torch.arange(TOKENS)[None] < torch.tensor([6, 1, 4, 2, 5, 3, 1, 6])[:, None]
    words = torch.randint(0, WORDS, (ROWS, TOKENS))
    return {"x": torch.randn(ROWS, 6), "y": torch.tensor([0, 1, 2, 3, 0, 0, 2, 1]), "words": words, "mask": mask,
            "labels": words.masked_fill(~mask, IGNORED), "boxes": torch.rand(ROWS, 4)}


def made(optimizer=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)):
    def make():
        model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
        return {"model": model, "optimizer": optimizer(model.parameters())}
    return make


def adam(p):
    return torch.optim.AdamW(p, lr=0.01)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.cell, self.head = nn.Embedding(WORDS, 8), nn.GRU(8, 8, batch_first=True), nn.Linear(8, WORDS)

    def forward(self, batch):
        return self.head(self.cell(self.embedding(batch["words"]))[0])


def of_words():
    model = Words()
    return {"model": model, "optimizer": adam(model.parameters())}


def rows_of(batches):
    return sum(len(batch["x"]) for batch in batches)


def tokens_of(batches):
    return sum(int(batch["mask"].sum()) for batch in batches)


def total(state, batch):
    return F.cross_entropy(state["model"](batch["x"]), batch["y"], reduction="sum")


def mean(state, batch):
    return total(state, batch) / len(batch["x"])


def of_tokens(state, batch):
    return F.cross_entropy(state["model"](batch).transpose(1, 2), batch["labels"], reduction="sum", ignore_index=IGNORED)


def each(loss, behind=lambda state, k, batches: None, before=lambda state, batches: None, after=lambda state, batches: None):
    """A window whose k-th loss is `loss(state, batches, k)`."""
    def step(state, batches):
        state["optimizer"].zero_grad()
        for k in range(len(batches)):
            loss(state, batches, k).backward()
            behind(state, k, batches)
        before(state, batches)
        state["optimizer"].step()
        after(state, batches)
    return step


def right(state, batches, k):
    return total(state, batches[k]) / rows_of(batches)


RIGHT, MAX_NORM = each(right), 0.05


def clip(state, *_):
    nn.utils.clip_grad_norm_(state["model"].parameters(), MAX_NORM)


def gradients(state):
    return [parameter.grad for parameter in state["model"].parameters() if parameter.grad is not None]


def window_of_four(flush):
    """Steps behind every fourth micro-batch of an epoch, and, where it is to `flush`, behind its last one."""
    def step(state, batches):
        for k, batch in enumerate(batches):
            (total(state, batch) / ROWS).backward()
            if (k + 1) % 4 == 0 or k + 1 == len(batches) == 1 or flush and k + 1 == len(batches):
                state["optimizer"].step()
                state["optimizer"].zero_grad()
    return step


def counted_from_one(state, batches):
    """Steps one micro-batch too early, as where steps are counted from 1 and looked for at step + 1."""
    for step, batch in enumerate(batches, start=1):
        (total(state, batch) / rows_of(batches)).backward()
        if len(batches) == 1 or (step + 1) % len(batches) == 0:
            state["optimizer"].step()
            state["optimizer"].zero_grad()


def stepped_at_zero(state, batches):
    for k, batch in enumerate(batches):
        (total(state, batch) / rows_of(batches)).backward()
        if k % len(batches) == 0:
            state["optimizer"].step()
            state["optimizer"].zero_grad()


def scheduled():
    state = made()()
    state["schedule"] = torch.optim.lr_scheduler.StepLR(state["optimizer"], 1, gamma=0.5)
    return state


def averaged():
    state = made(adam)()
    state["average"] = [parameter.detach().clone() for parameter in state["model"].parameters()]
    return state


def average(state, *_):
    with torch.no_grad():
        for kept, parameter in zip(state["average"], state["model"].parameters()):
            kept.lerp_(parameter, 0.1)


class Codes(nn.Module):
    """A codebook that follows what is assigned to it, in every forward pass."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(6, 4), nn.Linear(4, 4)
        self.register_buffer("codes", torch.randn(5, 4))

    def forward(self, x):
        h = self.enter(x)
        code = torch.cdist(h.detach(), self.codes).argmin(1)
        quantised = h + (self.codes[code] - h).detach()
        if self.training:
            chosen = F.one_hot(code, 5).to(h)
            self.codes.lerp_((chosen.t() @ h.detach() + self.codes) / (chosen.sum(0) + 1)[:, None], 0.2)
        return self.leave(quantised)


def of_codes():
    model = Codes()
    return {"model": model, "optimizer": adam(model.parameters())}


class Router(nn.Module):
    """Two experts; `balance` is the auxiliary loss of the last forward pass."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts, self.balance = nn.Linear(6, 2), nn.ModuleList([nn.Linear(6, 4), nn.Linear(6, 4)]), None

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        self.balance = (shares ** 2).sum()
        return sum(shares[:, i:i + 1] * expert(x) for i, expert in enumerate(self.experts))


def of_router():
    model = Router()
    return {"model": model, "optimizer": adam(model.parameters())}


def routed(scale):
    return each(lambda state, b, k: total(state, b[k]) / rows_of(b) + 0.1 * state["model"].balance / scale(b, k))


class Carried(nn.Module):
    """A recurrent state that goes on from one forward pass to the next."""

    def __init__(self):
        super().__init__()
        self.inner, self.out, self.held = nn.Linear(6, 6), nn.Linear(6, 4), None

    def forward(self, x):
        past = torch.zeros(6).to(x) if self.held is None else self.held
        h = torch.tanh(self.inner(x) + past)
        self.held = h.detach().mean(0)
        return self.out(h)


def of_carried():
    model = Carried()
    return {"model": model, "optimizer": adam(model.parameters())}


def letting_go(step):
    def own(state, batches):
        state["model"].held = None
        step(state, batches)
    return own


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.label, self.box = nn.Linear(6, 12), nn.Linear(12, 4), nn.Linear(12, 4)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.label(h), self.box(h).sigmoid()


def of_boxes():
    model = Boxes()
    return {"model": model, "optimizer": adam(model.parameters())}


def boxed(per_label, per_box):
    def loss(state, batches, k):
        batch = batches[k]
        label, box = state["model"](batch["x"])
        has = batch["y"] != 0
        return (F.cross_entropy(label, batch["y"], reduction="sum") / per_label(batches, k)
                + 5 * F.l1_loss(box[has], batch["boxes"][has], reduction="sum") / per_box(batches, k))
    return each(loss)


def boxes_in(batches):
    return sum(int((batch["y"] != 0).sum()) for batch in batches)


def advantages(whole):
    """A policy gradient whose rewards are normalised by the window's or by the micro-batch's."""
    def loss(state, batches, k):
        own = batches[k]["x"][:, 0]
        of = torch.cat([batch["x"][:, 0] for batch in batches]) if whole else own
        advantage = (own - of.mean()) / (of.std(unbiased=False) + 1e-4)
        chosen = state["model"](batches[k]["x"]).log_softmax(-1).gather(1, batches[k]["y"][:, None])[:, 0]
        return -(advantage * chosen).sum() / rows_of(batches)
    return each(loss)


def contrasted(state, batches, k):
    """Every row against those of its own micro-batch."""
    z = F.normalize(state["model"](batches[k]["x"]), dim=-1)
    return F.cross_entropy(z @ F.normalize(batches[k]["boxes"], dim=-1).t() / 0.1, torch.arange(len(z)), reduction="sum") / rows_of(batches)


def cached(state, batches):
    """The same over the whole window, by gradients of the embeddings that are kept."""
    state["optimizer"].zero_grad()
    with torch.no_grad():
        kept = torch.cat([state["model"](batch["x"]) for batch in batches])
    kept.requires_grad_()
    z, other = F.normalize(kept, dim=-1), F.normalize(torch.cat([batch["boxes"] for batch in batches]), dim=-1)
    F.cross_entropy(z @ other.t() / 0.1, torch.arange(len(z))).backward()
    for batch, gradient in zip(batches, kept.grad.split([len(batch["x"]) for batch in batches])):
        state["model"](batch["x"]).backward(gradient)
    state["optimizer"].step()


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


def sharpness_aware(second):
    def step(state, batches):
        parameters = list(state["model"].parameters())

        def passed(own):
            state["optimizer"].zero_grad()
            for batch in own:
                (total(state, batch) / rows_of(own)).backward()
        passed(batches)
        with torch.no_grad():
            norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
            moves = [0.05 * parameter.grad / norm for parameter in parameters]
            for parameter, move in zip(parameters, moves):
                parameter += move
        passed(second(batches))
        with torch.no_grad():
            for parameter, move in zip(parameters, moves):
                parameter -= move
        state["optimizer"].step()
    return step


def hooked():
    """One optimizer a parameter, stepped where its gradient has been added up."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    return {"model": model, "optimizers": [torch.optim.AdamW([parameter], lr=0.01) for parameter in model.parameters()]}


def stepped_in_hooks(last_only):
    def step(state, batches):
        for k, batch in enumerate(batches):
            (total(state, batch) / rows_of(batches)).backward()
            for optimizer in state["optimizers"]:
                if not last_only or k + 1 == len(batches):
                    optimizer.step()
                    optimizer.zero_grad()
    return step


def decayed_by_hand(once):
    """Decoupled decay outside of the optimizer."""
    def decay(state, *_):
        with torch.no_grad():
            for parameter in state["model"].parameters():
                parameter.mul_(0.99)
    return each(right, **({"after": decay} if once else {"behind": decay}))


def penalised(scale):
    return each(lambda state, b, k: right(state, b, k) + 0.01 * sum((p ** 2).sum() for p in state["model"].parameters()) / scale(b))


def unscaled(often):
    """Scaled losses, whose scale is taken out of the gradients behind every micro-batch or once."""
    def unscale(state, *_):
        for gradient in gradients(state):
            gradient /= 1024
    return each(lambda state, b, k: 1024 * right(state, b, k), **{"behind" if often else "before": unscale})


def class_weights(own):
    weight = torch.tensor([0.2, 1.0, 3.0, 5.0])

    def loss(state, batches, k):
        by = weight[batches[k]["y"]].sum() * len(batches) if own else sum(weight[batch["y"]].sum() for batch in batches)
        return F.cross_entropy(state["model"](batches[k]["x"]), batches[k]["y"], weight=weight.to(batches[k]["x"]), reduction="sum") / by
    return each(loss)


def masked_mean(state, batches, k):
    """A mean over the rows that count, of which a micro-batch may have none."""
    counts = batches[k]["y"] != 0
    loss = F.cross_entropy(state["model"](batches[k]["x"]), batches[k]["y"], reduction="none")
    return (loss * counts).sum() / counts.sum() * (counts.sum() / boxes_in(batches))


def rate_by_count(state, batches):
    for group in state["optimizer"].param_groups:
        group["lr"] = 0.1 * len(batches)
    RIGHT(state, batches)


def policy(weigh):
    """A masked sum over tokens, weighed."""
    def loss(state, batches, k):
        batch = batches[k]
        chosen = state["model"](batch).log_softmax(-1).gather(-1, batch["words"][..., None])[..., 0]
        return -(batch["x"][:, :1] * chosen * batch["mask"]).sum() * weigh(batches, k)
    return each(loss, before=lambda state, batches: nn.utils.clip_grad_norm_(state["model"].parameters(), 0.5))


def by_sequences(by):
    """The mean over each sequence's tokens, of which the mean."""
    def loss(state, batches, k):
        losses = F.cross_entropy(state["model"](batches[k]).transpose(1, 2), batches[k]["labels"], reduction="none", ignore_index=IGNORED)
        return (losses.sum(1) / batches[k]["mask"].sum(1)).sum() / by(batches, k)
    return each(loss)


class Bug:
    """`causes` are names that are right."""

    def __init__(self, source, wrong, fixed, *causes, make=made()):
        self.source, self.wrong, self.fixed, self.causes, self.make = source, wrong, fixed, causes, make


# Where each was seen; repositories with the number of an issue or a pull request.
BUGS = [
    Bug("nanoGPT#168: means are added up", each(lambda s, b, k: mean(s, b[k])), RIGHT, "1/n_k"),
    Bug("transformers#34191: means of micro-batches are averaged", each(lambda s, b, k: mean(s, b[k]) / len(b)), RIGHT, "1/(K n_k)"),
    Bug("mlx-lm#1413: means of tokens are averaged", each(lambda s, b, k: of_tokens(s, b[k]) / tokens_of([b[k]]) / len(b)),
        each(lambda s, b, k: of_tokens(s, b[k]) / tokens_of(b)), "1/(K n_k)", make=of_words),
    Bug("gemma3, transformers#37197: means of tokens are added up", each(lambda s, b, k: of_tokens(s, b[k]) / tokens_of([b[k]])),
        each(lambda s, b, k: of_tokens(s, b[k]) / tokens_of(b)), "1/n_k", make=of_words),
    Bug("verl#5625: mean of tokens times share of rows", policy(lambda b, k: 1 / tokens_of([b[k]]) * len(b[k]["x"]) / rows_of(b)),
        policy(lambda b, k: 1 / tokens_of(b)), "n_k/N of t_k", make=of_words),
    Bug("ms-swift#10117: divided by the window's tokens and by K", policy(lambda b, k: 1 / tokens_of(b) / len(b)),
        policy(lambda b, k: 1 / tokens_of(b)), "1/K", make=of_words),
    Bug("trl#3021: means of sequences are averaged", by_sequences(lambda b, k: len(b[k]["x"]) * len(b)), by_sequences(lambda b, k: rows_of(b)),
        "1/(K n_k)", make=of_words),
    Bug("rf-detr#1503: divided by K twice", each(lambda s, b, k: right(s, b, k) / len(b)), RIGHT, "1/K"),
    Bug("pytorch#72047: class weights of a micro-batch", class_weights(True), class_weights(False), "1/(K n_k)"),
    Bug("detr#354: boxes of a micro-batch", boxed(lambda b, k: rows_of(b), lambda b, k: max(boxes_in([b[k]]), 1) * len(b)),
        boxed(lambda b, k: rows_of(b), lambda b, k: boxes_in(b)), "rows see each other", make=of_boxes),
    Bug("transformers#1563: a clip behind every backward pass", each(right, behind=clip), each(right, before=clip), "each later counts more"),
    Bug("nano-world-model#22: a clip before every backward pass", each(lambda s, b, k: (k and clip(s), right(s, b, k))[1]), RIGHT,
        "each later counts more"),
    Bug("accelerate#963: the schedule goes on with every micro-batch", each(right, behind=lambda s, k, b: s["schedule"].step()),
        each(right, after=lambda s, b: s["schedule"].step()), "behind the first step", make=scheduled),
    Bug("F5-TTS#631: the average goes on with every micro-batch", each(right, behind=average), each(right, after=average),
        "behind the first step", make=averaged),
    Bug("LLMs-from-scratch#299: steps at k % K == 0", stepped_at_zero, RIGHT, "0"),
    Bug("dLLM-RL#7: steps one micro-batch too early", counted_from_one, RIGHT, "0"),
    Bug("AnimaLoraStudio#305: what is left of an epoch goes into the next", window_of_four(False), RIGHT, "steps"),
    Bug("openWakeWord#316: cleared before every micro-batch", each(lambda s, b, k: (s["optimizer"].zero_grad(), right(s, b, k))[1]), RIGHT,
        "the last alone"),
    Bug("diffusers#10855 without Accelerate: a step behind every micro-batch", stepped_in_hooks(False), stepped_in_hooks(True), "steps", make=hooked),
    Bug("keras#19990: decay with every micro-batch", decayed_by_hand(False), decayed_by_hand(True), "behind the first step"),
    Bug("a penalty with every micro-batch", penalised(lambda b: 1), penalised(len), "parameters added"),
    Bug("vector-quantize-pytorch#221: a codebook that follows every forward pass", RIGHT, None, "behind the first step",
        make=of_codes),
    Bug("Automodel#1412: the balance of experts by the micro-batch's rows", routed(lambda b, k: len(b[k]["x"])), routed(lambda b, k: rows_of(b)),
        "rows see each other", make=of_router),
    Bug("SimCLR#13: a row against those of its micro-batch", each(contrasted), cached, "rows see each other"),
    Bug("alf#1642: advantages normalised by the micro-batch", advantages(False), advantages(True), "rows see each other"),
    Bug("a recurrent state that goes on with every micro-batch", RIGHT, None, "rows see each other", make=of_carried),
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
    Bug("sam#62: the second pass over the last micro-batch", sharpness_aware(lambda batches: batches[-1:]), sharpness_aware(lambda batches: batches),
        "the last alone", "rows see each other"),
    Bug("the scale taken out behind every micro-batch", unscaled(True), unscaled(False), "each later counts more"),
    Bug("a mean over no row", each(masked_mean), None, "not finite"),
    Bug("a rate times K", rate_by_count, RIGHT, "behind the first step"),
    Bug("BatchNorm's own rows", RIGHT, None, "batch_norm", make=lambda: {
        "model": (model := nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))), "optimizer": adam(model.parameters())}),
]
SILENT = ("no sum of the micro-batches", "weights", "unknown")  # causes that say no more than that the gradient is off
SHARE_NAMED = 0.8  # of them, at least


class PublicBugs(unittest.TestCase):
    def vary(self, bug, step):
        with tempfile.TemporaryDirectory() as folder:
            return tally_recorder.vary(step, make=bug.make, data=data, rows=ROWS, out=folder)

    def test_every_wrong_one_is_caught(self):
        named = 0
        for bug in BUGS:
            with self.subTest(bug.source):
                verdict = self.vary(bug, bug.wrong)
                self.assertFalse(verdict.passed, verdict.sentence)
                named += verdict.cause in bug.causes
                self.assertIn(verdict.cause, (*bug.causes, *SILENT), verdict.sentence)
                if os.environ.get("TALLY_TABLE"):
                    print(f"| {bug.source} | {','.join(map(str, verdict.partition))} | {verdict.cause} |")
        self.assertGreaterEqual(named, SHARE_NAMED * len(BUGS))

    def test_no_right_one_is(self):
        for bug in BUGS:
            if bug.fixed:
                with self.subTest(bug.source):
                    verdict = self.vary(bug, bug.fixed)
                    self.assertTrue(verdict.passed, verdict.sentence)


if __name__ == "__main__":
    unittest.main()
