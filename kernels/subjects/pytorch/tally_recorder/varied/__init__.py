"""The loop as its own oracle: the same rows, cut into other micro-batches."""
from .verdict import Verdict, VaryFailed, vary

__all__ = ["Verdict", "VaryFailed", "vary"]
