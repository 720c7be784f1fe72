"""Bugs in what a micro-batch's loss is divided by."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accumulating import Bug, IGNORED, RIGHT, adam, each, mean, of_tokens, of_words, right, rows_of, tokens_of


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


def boxes_in(batches):
    return sum(int((batch["y"] != 0).sum()) for batch in batches)


def boxed(per_label, per_box):
    def loss(state, batches, k):
        batch = batches[k]
        label, box = state["model"](batch["x"])
        has = batch["y"] != 0
        return (F.cross_entropy(label, batch["y"], reduction="sum") / per_label(batches, k)
                + 5 * F.l1_loss(box[has], batch["boxes"][has], reduction="sum") / per_box(batches, k))
    return each(loss)


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


# Where each was seen: a repository with the number of an issue or a pull request.
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
        boxed(lambda b, k: rows_of(b), lambda b, k: boxes_in(b)), "1/(K n_k)", make=of_boxes),
    Bug("a mean over no row", each(masked_mean), None, "not finite"),
]
