"""Loops of Lightning: `accumulate_grad_batches`, and by hand."""
import logging
import warnings

import lightning
import torch.nn.functional as F

import data


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = data.net()
        self.opt = data.optimizer(self.net)

    def configure_optimizers(self):
        return self.opt

    def training_step(self, batch, _):
        x, target = batch
        return F.cross_entropy(self.net(x), target)


class ByHand(Module):
    """The famous bug: in manual optimization nobody divides by K."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, i):
        self.manual_backward(super().training_step(batch, i))
        if (i + 1) % data.K == 0:
            self.optimizers().step()
            self.optimizers().zero_grad()


class ClipsEach(Module):
    """The famous bug: a clip in `on_after_backward`, which runs after every micro-batch."""

    def __init__(self):
        super().__init__()
        self.opt = data.sgd(self.net)

    def on_after_backward(self):
        self.clip_gradients(self.opt, gradient_clip_val=0.1, gradient_clip_algorithm="norm")


def fit(record, count, module=Module, **options):
    warnings.simplefilter("ignore")
    for name in ("lightning.pytorch", "lightning.pytorch.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)
    made = module()
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, **options)
    with record(made, made.opt, data.windows_of(count)) as recorder:
        trainer.fit(made, data.loader(count))
    return recorder


def accumulated(record, count):
    return fit(record, count, accumulate_grad_batches=data.K)


def clipped(record, count):
    return fit(record, count, accumulate_grad_batches=data.K, gradient_clip_val=0.3)


def by_hand(record, count):
    return fit(record, count, ByHand)


def clipped_each(record, count):
    return fit(record, count, ClipsEach, accumulate_grad_batches=data.K)
