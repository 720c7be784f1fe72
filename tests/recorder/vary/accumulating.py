"""Parts of accumulating loops, right and wrong, that bugs_of_*.py are made of."""
import torch
import torch.nn as nn
import torch.nn.functional as F

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


RIGHT = each(right)


def clip(state, *_):
    nn.utils.clip_grad_norm_(state["model"].parameters(), 0.05)


def gradients(state):
    return [parameter.grad for parameter in state["model"].parameters() if parameter.grad is not None]


class Bug:
    """`causes` are names that are right."""

    def __init__(self, source, wrong, fixed, *causes, make=made(), data=data):
        self.source, self.wrong, self.fixed, self.causes, self.make, self.data = source, wrong, fixed, causes, make, data
