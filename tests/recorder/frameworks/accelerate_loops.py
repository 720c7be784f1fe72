"""Loops of Accelerate: `accumulate` as its guide writes it."""
import torch.nn.functional as F
from accelerate import Accelerator

import data

LIMIT = 0.3


def accumulate(record, count, clip=None, divided=False):
    """`clip` says when the gradients are clipped: once a window, or after every micro-batch."""
    accelerator = Accelerator(gradient_accumulation_steps=data.K, cpu=True)
    net = data.net()
    inner = data.optimizer(net) if clip is None else data.sgd(net)
    model, opt, batches = accelerator.prepare(net, inner, data.loader(count))
    with record(net, inner, data.windows_of(count)) as recorder:
        for x, target in batches:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), target)
                accelerator.backward(loss / data.K if divided else loss)
                if clip == "window" and accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), LIMIT)
                elif clip == "micro-batch":
                    accelerator.clip_grad_norm_(model.parameters(), LIMIT)
                opt.step()
                opt.zero_grad()
    return recorder


def clipped(record, count):
    return accumulate(record, count, clip="window")


def clipped_each(record, count):
    """The famous bug: the clip stands outside of `if accelerator.sync_gradients`."""
    return accumulate(record, count, clip="micro-batch")


def divided_twice(record, count):
    """The famous bug: the loop divides by K, and `accelerator.backward` does so as well."""
    return accumulate(record, count, divided=True)
