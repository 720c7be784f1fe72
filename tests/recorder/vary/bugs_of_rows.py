"""Bugs of losses and layers in which rows see each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accumulating import RIGHT, Bug, adam, each, rows_of, total


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


# Where each was seen: a repository with the number of an issue or a pull request.
BUGS = [
    Bug("vector-quantize-pytorch#221: a codebook that follows every forward pass", RIGHT, None, "kept beside",
        make=of_codes),
    Bug("Automodel#1412: the balance of experts by the micro-batch's rows", routed(lambda b, k: len(b[k]["x"])), routed(lambda b, k: rows_of(b)),
        "1/n_k", make=of_router),
    Bug("SimCLR#13: a row against those of its micro-batch", each(contrasted), cached, "rows see each other"),
    Bug("alf#1642: advantages normalised by the micro-batch", advantages(False), advantages(True), "rows see each other"),
    Bug("a recurrent state that goes on with every micro-batch", RIGHT, None, "rows see each other", make=of_carried),
    Bug("BatchNorm's own rows", RIGHT, None, "batch_norm", make=lambda: {
        "model": (model := nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))), "optimizer": adam(model.parameters())}),
]
