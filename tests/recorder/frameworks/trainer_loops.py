"""Loops of Transformers' Trainer: by the model's own loss, and by `num_items_in_batch`."""
import tempfile
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import LlamaForCausalLM, PrinterCallback, Trainer, TrainingArguments
from transformers.utils import logging

import data


class OwnLoss(nn.Module):
    """A model that knows nothing of a window: Trainer divides its loss."""

    def __init__(self):
        super().__init__()
        self.net = data.net()

    def forward(self, x, labels=None):
        y = self.net(x)
        return {"loss": F.cross_entropy(y, labels), "logits": y}


class CountsItems(OwnLoss):
    """A model that is told the items of its window."""

    def forward(self, x, labels=None, num_items_in_batch=None, **_):
        y = self.net(x)
        return {"loss": F.cross_entropy(y, labels, reduction="sum") / num_items_in_batch, "logits": y}


class IgnoresItems(OwnLoss):
    """The famous bug: a forward pass that takes any argument is told the items and not divided, and does not look."""

    def forward(self, x, labels=None, **_):
        return super().forward(x, labels)


class Rows(torch.utils.data.Dataset):
    def __init__(self, count):
        self.rows = data.rows_of(count)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x, target = self.rows[i]
        return {"x": x, "labels": target}


class InOrder(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def train_with(model, rows, optimizers=(None, None), callbacks=(), **options):
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, per_device_train_batch_size=data.ROWS, num_train_epochs=1, use_cpu=True,
                                      gradient_accumulation_steps=data.K, report_to=[], save_strategy="no",
                                      logging_strategy="no", disable_tqdm=True, **options)
        trainer = InOrder(model, arguments, train_dataset=rows, optimizers=optimizers, callbacks=list(callbacks))
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return trainer


def train(record, count, model, rows, **options):
    opt = data.optimizer(model)
    rate = torch.optim.lr_scheduler.LambdaLR(opt, lambda _: 1.0)
    with record(model, opt, data.windows_of(count)) as recorder:
        train_with(model, rows, (opt, rate), **options)
    return recorder


def own_loss(record, count):
    return train(record, count, OwnLoss(), Rows(count))


def counted_items(record, count):
    return train(record, count, CountsItems(), Rows(count))


def ignored_items(record, count):
    return train(record, count, IgnoresItems(), Rows(count), max_grad_norm=0.0)


def language_model(record, count):
    """A Llama as it is shipped, whose loss is divided by the tokens of the window."""
    return train(record, count, data.llama(), data.sentences(count))


def gpt2_as_shipped(record, count):
    import language_models
    return train(record, count, language_models.gpt2(), data.sentences(count))


class ForgetsItems(LlamaForCausalLM):
    """Takes the window's items, and hands them to nobody."""

    def forward(self, *inputs, num_items_in_batch=None, **named):
        return super().forward(*inputs, **named)


def language_model_that_forgets(record, count):
    return train(record, count, data.llama(ForgetsItems), data.sentences(count), max_grad_norm=0.0,
                 remove_unused_columns=False)
