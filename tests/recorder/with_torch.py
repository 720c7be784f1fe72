#!/usr/bin/env python3
"""usage: tests/recorder/with_torch.py TEST: runs TEST, or exits 77 where there is no PyTorch to run it with."""
import os
import sys

try:
    import torch  # noqa: F401
except ImportError as problem:
    print(f"skipped: {problem}; ./tally test --yes installs python3-torch where Debian has it")
    sys.exit(77)
os.environ["OMP_NUM_THREADS"] = "1"
os.execv(sys.executable, [sys.executable, "-B", *sys.argv[1:]])
