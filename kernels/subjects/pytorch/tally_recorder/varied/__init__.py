"""The loop as its own oracle: the same rows, cut into other micro-batches."""
from .verdict import Verdict, VaryFailed, equivalence, vary

__all__ = ["Verdict", "VaryFailed", "equivalence", "vary"]
