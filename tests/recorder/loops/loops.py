"""Training loops with gradient accumulation, right ones and wrong ones, as a user writes them."""
import contextlib
import functools
import io
import re
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

import tally_recorder
from cpu_scaler import scaler as cpu_scaler
from networks import Convolution, Language, of_ones_own, of_tokens, perceptron, smooth

K = 4
EQUAL = [[4] * K] * 3
UNEQUAL = [[4, 2, 3, 1], [1, 5, 2, 2], [3, 3, 4, 2]]
TAIL = [[4] * K, [4] * K, [4, 4]]
CAUSES = {  # what stands on top of what each wrong loop looks like
    "mean of means": "mean-of-means",
    "no zero_grad": "missing-zero-between-windows",
    "clip per micro-batch": "clip-per-microbatch",
    "clip before unscale": "clip-before-unscale",
    "step per micro-batch": "step-at-every-microbatch",
    "not divided": "own-items",
    "tail by the configured K": "last-window-wrong-divisor",
    "decay in the loss": "decay-in-the-loss",
    "schedule per micro-batch": "sched-per-microbatch",
    "schedule per micro-batch, stated": "sched-per-microbatch",
    "L2 for decoupled": "adamw-vs-adam-decay",
}


def sgd(**options):
    return lambda parameters: torch.optim.SGD(parameters, lr=0.125, **options)


def adam(**options):
    return lambda parameters: torch.optim.Adam(parameters, lr=0.01, **options)


def adamw(**options):
    return lambda parameters: torch.optim.AdamW(parameters, lr=0.01, **options)


def rmsprop(**options):
    return lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, **options)


class Loop:
    """One loop. What it does wrong, if anything, is named by `wrong`."""

    def __init__(self, optimizer=sgd(), model=perceptron, windows=EQUAL, divide="K", loss=F.cross_entropy, clip=None,
                 scale=None, schedule=None, closure=False, groups=None, wrong=None, overflow=None, autocast=False,
                 unfinished=0, recorded_loss=True, said_divide="micro_batch", data_format=torch.float32, **meaning):
        self.optimizer, self.model, self.windows, self.divide, self.loss = optimizer, model, windows, divide, loss
        self.clip, self.scale, self.schedule, self.closure = clip, scale, schedule, closure
        self.groups, self.wrong, self.overflow, self.autocast = groups, wrong, overflow, autocast
        self.recorded_loss, self.said_divide, self.data_format = recorded_loss, said_divide, data_format
        self.unfinished, self.meaning = unfinished, meaning

    def record(self, level, layers="opaque", **options):
        """The recorder after the loop."""
        torch.manual_seed(1)
        self.net = self.model()
        self.opt = self.optimizer(self.groups(self.net) if self.groups else self.net.parameters())
        self.rates = self.schedule(self.opt) if self.schedule else None
        self.scaler = cpu_scaler(init_scale=self.scale, growth_interval=2) if self.scale else None
        counts = sorted({len(window) for window in self.windows})
        said = {"micro_batches": counts[0] if len(counts) == 1 else [len(window) for window in self.windows],
                "loss": self.recorded_loss, "divide": self.said_divide, **self.meaning, **options}
        with tally_recorder.Recorder(self.net, self.opt, level=level, layers=layers, **said) as recorder:
            for w, window in enumerate(self.windows):
                self.window(w, window)
            self.opt.zero_grad()
            for k in range(self.unfinished):
                self.micro_batch(len(self.windows), k, 4, [4] * K)
        return recorder

    def window(self, w, sizes):
        if self.wrong != "no zero_grad" or w == 0:
            self.opt.zero_grad()
        for k, rows in enumerate(sizes[:-1] if self.closure else sizes):
            self.micro_batch(w, k, rows, sizes)
        if self.closure:
            self.opt.step(lambda: self.micro_batch(w, len(sizes) - 1, sizes[-1], sizes))
        elif self.wrong != "step per micro-batch":
            self.step()
        if self.rates and self.wrong != "schedule per micro-batch":
            self.rates.step()

    def data(self, rows):
        x = torch.randn(rows, 6, dtype=self.data_format)
        if self.loss is F.mse_loss:
            return x, torch.randn(rows, 4)
        target = torch.randint(0, 4, (rows,))
        if self.divide == "counted" and rows > 1:
            target[0] = -100
        return x, target

    def micro_batch(self, w, k, rows, sizes):
        x, target = self.data(rows)
        if self.overflow == w and k == 0:
            x = x * 2.0**20  # whose gradients, scaled, leave the range
        with torch.autocast("cpu", dtype=torch.bfloat16) if self.autocast else contextlib.nullcontext():
            y = self.net(x)
            loss = self.divided(y, target, sizes)
        if self.wrong == "decay in the loss":
            loss = loss + 0.05 * sum(parameter.square().sum() for parameter in self.net.parameters())
        (self.scaler.scale(loss) if self.scaler else loss).backward()
        if self.wrong == "clip per micro-batch":
            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        if self.wrong == "step per micro-batch":
            self.opt.step()
            self.opt.zero_grad()
        if self.rates and self.wrong == "schedule per micro-batch":
            self.rates.step()

    def divided(self, y, target, sizes):
        """The loss of a micro-batch, divided for its window."""
        if self.divide == "items":
            features = y.shape[1] if self.loss is F.mse_loss else 1
            return self.loss(y, target, reduction="sum") / (sum(sizes) * features)
        if self.divide == "at the end":
            self.items = sum(sizes)
            return self.loss(y, target, reduction="sum")
        if self.divide == "each row":
            return self.loss(y, target, reduction="none").mean() / len(sizes)
        if self.divide == "counted":
            return self.loss(y, target, reduction="sum") / sum(rows - (rows > 1) for rows in sizes)
        if self.divide == "times and over":
            return self.loss(y, target) * len(target) / sum(sizes)
        if self.divide == "share":
            return self.loss(y, target) * (len(target) / sum(sizes))
        mean = self.loss(y, target)
        if self.wrong == "not divided":
            return mean
        return mean / (K if self.wrong == "tail by the configured K" else len(sizes))

    def step(self):
        if self.divide == "at the end":
            for parameter in self.net.parameters():
                parameter.grad.div_(self.items)
        if self.wrong == "clip before unscale":
            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        if self.scaler and self.clip:
            self.scaler.unscale_(self.opt)
        if self.clip and self.wrong not in ("clip before unscale", "clip per micro-batch"):
            if isinstance(self.clip, dict):
                nn.utils.clip_grad_value_(self.net.parameters(), self.clip["value"])
            else:
                nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        if self.scaler:
            self.scaler.step(self.opt)
            self.scaler.update()
        else:
            self.opt.step()


def without_decay_of_biases(net):
    named = dict(net.named_parameters())
    return [{"params": [p for name, p in named.items() if not name.endswith("bias")], "weight_decay": 0.1},
            {"params": [p for name, p in named.items() if name.endswith("bias")], "weight_decay": 0.0}]


def halved(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)


STEP = {"kind": "step", "base": 0.125, "every": 1, "factor": 0.5}


def fused_loops():
    """Those of a PyTorch whose fused optimizers run on the CPU."""
    try:
        adam(fused=True)([nn.Parameter(torch.zeros(1))])
    except RuntimeError:
        return {}
    return {
        "SGD, fused": Loop(sgd(momentum=0.9, fused=True)),
        "Adam, fused": Loop(adam(fused=True)),
        "GradScaler, fused": Loop(adam(fused=True), scale=1024.0),
        "GradScaler, fused, clip": Loop(adam(fused=True), scale=1024.0, clip=0.3),
        "GradScaler, fused, skipped step": Loop(sgd(momentum=0.9, fused=True), scale=2.0**120, overflow=1),
    }


def right_loops():
    return {
        "SGD": Loop(),
        "SGD, smooth model": Loop(model=smooth),
        "SGD, momentum": Loop(sgd(momentum=0.9)),
        "SGD, nesterov": Loop(sgd(momentum=0.9, nesterov=True)),
        "SGD, dampening": Loop(sgd(momentum=0.9, dampening=0.3)),
        "SGD, L2": Loop(sgd(momentum=0.9, weight_decay=0.1)),
        "SGD, foreach": Loop(sgd(momentum=0.9, foreach=True)),
        "SGD, mean squares": Loop(loss=F.mse_loss),
        "SGD, mean squares by items": Loop(loss=F.mse_loss, windows=UNEQUAL, divide="items"),
        "class weights": Loop(loss=functools.partial(F.cross_entropy, weight=torch.tensor([1.0, 2.0, 0.5, 3.0])),
                              windows=UNEQUAL, normalisation="mean_of_means"),
        "label smoothing": Loop(loss=functools.partial(F.cross_entropy, label_smoothing=0.1)),
        "Adam": Loop(adam()),
        "Adam, L2": Loop(adam(weight_decay=0.1)),
        "Adam, foreach": Loop(adam(foreach=True)),
        "AdamW": Loop(adamw(weight_decay=0.1)),
        "AdamW, groups": Loop(adamw(), groups=without_decay_of_biases),
        "RMSprop": Loop(rmsprop()),
        "RMSprop, momentum": Loop(rmsprop(momentum=0.9)),
        "clip by norm": Loop(sgd(momentum=0.9), clip=0.3),
        "clip by value": Loop(sgd(momentum=0.9), clip={"value": 0.05}),
        "schedule, stated": Loop(sgd(momentum=0.9), schedule=halved, learning_rate=STEP),
        "schedule, assumed": Loop(sgd(momentum=0.9), schedule=halved),
        "unequal, by items": Loop(windows=UNEQUAL, divide="items"),
        "unequal, by share": Loop(windows=UNEQUAL, divide="share"),
        "unequal, times and over": Loop(windows=UNEQUAL, divide="times and over"),
        "a loss of each row": Loop(divide="each row"),
        "divided at the end": Loop(windows=UNEQUAL, divide="at the end", said_divide="window"),
        "divided at the end, clip": Loop(adam(), windows=UNEQUAL, divide="at the end", said_divide="window", clip=0.3),
        "ignored targets": Loop(windows=UNEQUAL, divide="counted"),
        "short last window": Loop(windows=TAIL),
        "unfinished last window": Loop(unfinished=2),
        "step with a closure": Loop(sgd(momentum=0.9), closure=True),
        "GradScaler": Loop(sgd(momentum=0.9), scale=1024.0),
        "GradScaler, clip": Loop(sgd(momentum=0.9), scale=1024.0, clip=0.3),
        "GradScaler, skipped step, schedule": Loop(sgd(momentum=0.9), scale=2.0**120, overflow=1, schedule=halved),
        "GradScaler, skipped step": Loop(sgd(momentum=0.9), scale=2.0**120, overflow=1),
        **fused_loops(),
        "autocast bf16": Loop(sgd(momentum=0.9), autocast=True),
    }


def in_16_bits(optimizer, dtype=torch.bfloat16, **options):
    return Loop(optimizer, model=lambda: perceptron().to(dtype), data_format=dtype, **options)


def opaque_loops():
    """Right loops whose models Tally knows nothing of."""
    return {
        "convolution, attention": Loop(adamw(weight_decay=0.1), model=Convolution, clip=0.3),
        "language model": Loop(adamw(weight_decay=0.1), model=Language, loss=of_tokens, clip=0.3),
        "a loss of one's own": Loop(adam(), loss=of_ones_own),
        "no loss recorded": Loop(adam(), recorded_loss=False),
        "bf16 throughout": in_16_bits(sgd()),
        "bf16 throughout, schedule": in_16_bits(sgd(), schedule=halved),
    }


def wrong_loops():
    momentum = sgd(momentum=0.9)
    return {
        "mean of means": Loop(momentum, windows=UNEQUAL, wrong="mean of means"),
        "no zero_grad": Loop(momentum, wrong="no zero_grad"),
        "clip per micro-batch": Loop(momentum, clip=0.1, wrong="clip per micro-batch"),
        "clip before unscale": Loop(momentum, clip=0.3, scale=1024.0, wrong="clip before unscale"),
        "step per micro-batch": Loop(momentum, wrong="step per micro-batch"),
        "not divided": Loop(momentum, wrong="not divided"),
        "tail by the configured K": Loop(momentum, windows=TAIL, wrong="tail by the configured K"),
        "decay in the loss": Loop(momentum, wrong="decay in the loss",
                                  weight_decay={"kind": "l2", "lambda": 0.1}),
        "schedule per micro-batch": Loop(momentum, schedule=halved, wrong="schedule per micro-batch"),
        "schedule per micro-batch, stated": Loop(momentum, schedule=halved, wrong="schedule per micro-batch",
                                                 learning_rate=STEP),
        "L2 for decoupled": Loop(adam(weight_decay=0.1), wrong="L2 for decoupled",
                                 weight_decay={"kind": "decoupled", "lambda": 0.1}),
    }


def cause(said):
    """The name that stands on top of what a failure looks like; nothing where none does."""
    found = re.search(r"^  looks like (\S+)", said, re.MULTILINE)
    return found.group(1) if found else ""


def judged(loop, level, layers="opaque", **options):
    """The exit code of the loop's check, and all that it printed."""
    recorder = loop.record(level, layers, **options)
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        code = recorder.check(folder, show=lambda line: print(line, file=said))
    return code, said.getvalue()
