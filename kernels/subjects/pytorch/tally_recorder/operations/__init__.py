"""Recordings of every ATen operation that runs: what each was given, what it returned, and where in the program it stands."""
from .recording import Operations

__all__ = ["Operations"]
