"""What loops of DeepSpeed and of Megatron-core share: a process that is one of one, and its rows."""
import importlib
import os
import sys

import torch

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
JOINS_AT = "tcp://127.0.0.1:0?rank=0&world_size=1"


def rows_of(count):
    return {"x": torch.randn(count, 100), "y": torch.randint(0, 10, (count,))}


def imported(loops, framework):
    """The module of loops; where the framework is not to be had the test is skipped."""
    try:
        return importlib.import_module(loops)
    except ImportError as problem:
        print(f"skipped: no {framework} here: {problem}")
        sys.exit(77)
