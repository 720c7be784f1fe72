"""Records a PyTorch training loop that accumulates micro-batches, for `tally check` to judge."""
from .errors import CaptureError
from .recorder import Recorder

__all__ = ["CaptureError", "Recorder"]
