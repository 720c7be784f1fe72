"""Loops of DeepSpeed's own engine, one process on a CPU: plain, and under ZeRO with the optimizer's state offloaded."""
import copy
import logging
import os
import types

import torch
import torch.nn as nn
import torch.nn.functional as F

from one_of_one import JOINS_AT, rows_of

os.environ["DS_ACCELERATOR"] = "cpu"

import deepspeed  # noqa: E402
from deepspeed.accelerator import get_accelerator  # noqa: E402

deepspeed.utils.logging.logger.setLevel(logging.ERROR)
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # minutes of compiling, for processes that share memory
REDUCED = list(get_accelerator().supported_dtypes())
STAGES = {"plain": None, "ZeRO-1": 1, "ZeRO-3": 3}


def joined():
    """Of a process that is one of one."""
    if not torch.distributed.is_initialized():
        deepspeed.init_distributed(dist_backend="gloo", init_method=JOINS_AT)


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(100, 500), nn.ReLU(), nn.Linear(500, 10))


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=1e-3)


def engine_of(model, optimizer, stage, micro_batches=1):
    joined()
    config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": micro_batches, "steps_per_print": 10**9}
    if stage is not None:
        config.update(zero_optimization={"stage": stage, "offload_optimizer": {"device": "cpu"}},
                      zero_allow_untested_optimizer=True, zero_force_ds_cpu_optimizer=False)
    return deepspeed.initialize(model=model, optimizer=optimizer, config=config)[0]


def trained(engine, micro_batches, weigh):
    """A window. The engine divides each loss by the number of micro-batches."""
    rows = sum(len(batch["y"]) for batch in micro_batches)
    for batch in micro_batches:
        loss = F.cross_entropy(engine(batch["x"]), batch["y"])
        engine.backward(loss * weigh(len(batch["y"]), rows, len(micro_batches)))
        engine.step()


def of_means(n, rows, count):
    """As it is shipped: the mean of each micro-batch counts alike."""
    return 1.0


def of_rows(n, rows, count):
    return count * n / rows


def recorded(record, sizes, weigh=of_means, windows=2):
    """The recorder of a plain engine."""
    model = net()
    optimizer = adam(model)
    engine = engine_of(model, optimizer, None, len(sizes))
    with record(model, optimizer, len(sizes)) as recorder:
        for _ in range(windows):
            trained(engine, [rows_of(count) for count in sizes], weigh)
    return recorder


def make():
    return {"net": net(), "held": types.SimpleNamespace()}


def step_of(stage, weigh):
    """A step for `vary`. The engine is made behind `make`, of a copy that has the run's format; what it trains is copied
    back. An engine counts its micro-batches by the size of the batch."""
    def step(state, micro_batches):
        held = state["held"]
        if not vars(held):
            held.model = copy.deepcopy(state["net"])
            held.engine = engine_of(held.model, adam(held.model), stage)
        held.engine.set_train_batch_size(len(micro_batches))
        trained(held.engine, micro_batches, weigh)
        with deepspeed.zero.GatheredParameters(list(held.model.parameters())), torch.no_grad():
            for own, other in zip(state["net"].parameters(), held.model.parameters()):
                own.copy_(other)
    return step


class ReducesFloat64:
    """The engine adds up in formats that its accelerator names: a CPU's are not float64, though it has it."""

    def __enter__(self):
        get_accelerator().supported_dtypes = lambda: [*REDUCED, torch.float64]

    def __exit__(self, *_):
        get_accelerator().supported_dtypes = lambda: REDUCED
