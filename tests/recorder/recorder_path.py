"""Where the recorder lies, and what the tests share; without PyTorch a test ends with the status of one that is skipped."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "kernels", "subjects", "pytorch")
sys.path[1:1] = [PACKAGE, *(os.path.join(HERE, folder) for folder in ("loops", "ranks", "frameworks"))]

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: no PyTorch here")
    sys.exit(77)
