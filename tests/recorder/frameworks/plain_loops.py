"""Loops in plain PyTorch, and what GradScaler adds."""
import torch
import torch.nn.functional as F

import data


def windows(count):
    """The micro-batches of each window."""
    batches = list(data.loader(count))
    return [batches[first:first + data.K] for first in range(0, len(batches), data.K)]


def mean_of_micro_batches(record, count):
    """Right where all micro-batches have as many rows, and the famous bug where they have not."""
    model = data.net()
    opt = data.optimizer(model)
    with record(model, opt, data.windows_of(count)) as recorder:
        for window in windows(count):
            for x, target in window:
                (F.cross_entropy(model(x), target) / len(window)).backward()
            opt.step()
            opt.zero_grad()
    return recorder


def items_weighted(record, count):
    model = data.net()
    opt = data.optimizer(model)
    with record(model, opt, data.windows_of(count)) as recorder:
        for window in windows(count):
            items = sum(len(target) for _, target in window)
            for x, target in window:
                (F.cross_entropy(model(x), target, reduction="sum") / items).backward()
            opt.step()
            opt.zero_grad()
    return recorder


def scaled(record, count, clip_first=False):
    """A GradScaler: what is clipped must be unscaled."""
    model = data.net()
    opt, scaler = data.sgd(model), torch.amp.GradScaler("cpu", init_scale=1024.0)
    with record(model, opt, data.windows_of(count)) as recorder:
        for window in windows(count):
            for x, target in window:
                scaler.scale(F.cross_entropy(model(x), target) / len(window)).backward()
            if not clip_first:
                scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
    return recorder


def scaled_clip_first(record, count):
    return scaled(record, count, clip_first=True)


def language_model(record, count, weighted=False):
    """A Llama whose micro-batches have unequal numbers of tokens: the mean of their means is the famous bug."""
    model = data.llama()
    opt = data.optimizer(model)
    rows = data.sentences(count)
    batches = [{name: torch.stack([row[name] for row in rows[at:at + data.ROWS]]) for name in rows[0]}
               for at in range(0, count, data.ROWS)]
    with record(model, opt, data.windows_of(count)) as recorder:
        for first in range(0, len(batches), data.K):
            window = batches[first:first + data.K]
            tokens = sum((batch["labels"][:, 1:] != -100).sum() for batch in window)
            for batch in window:
                if weighted:
                    model(**batch, num_items_in_batch=tokens).loss.backward()
                else:
                    (model(**batch).loss / len(window)).backward()
            opt.step()
            opt.zero_grad()
    return recorder


def language_model_weighted(record, count):
    return language_model(record, count, weighted=True)
