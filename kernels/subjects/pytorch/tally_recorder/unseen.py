"""The recorder's own arithmetic is nobody's loss: it runs outside of the mode that looks for losses."""
import functools

import torch


def unseen(method):
    @functools.wraps(method)
    def run(*args, **kwargs):
        with torch._C.DisableTorchFunction():
            return method(*args, **kwargs)
    return run
