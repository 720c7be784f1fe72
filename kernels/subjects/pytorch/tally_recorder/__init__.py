"""Records a PyTorch training loop that accumulates micro-batches, for `tally check` to judge; or runs it on other ones."""
from .callbacks import AccelerateCallback, Callback, LightningCallback
from .recorder import Recorder, items
from .user_code import CaptureError
from .varied import equivalence, vary

__all__ = ["AccelerateCallback", "Callback", "CaptureError", "LightningCallback", "Recorder", "equivalence", "items", "vary"]
