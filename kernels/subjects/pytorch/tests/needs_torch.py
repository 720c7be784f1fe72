"""Ends a test with the status of one that is skipped where there is no PyTorch."""
import sys

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: no PyTorch here")
    sys.exit(77)
