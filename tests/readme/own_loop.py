#!/usr/bin/env python3
"""Runs the README's lines for a PyTorch user around a loop that averages the means of unequal micro-batches, and holds
the page's output against what is printed: own_loop.py REPOSITORY [TALLY]; without TALLY by the recorder that is installed.
Exits 77 where there is no PyTorch."""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

try:
    import torch
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

REPOSITORY = pathlib.Path(sys.argv[1])
if len(sys.argv) > 2:
    os.environ["TALLY"] = sys.argv[2]
    sys.path.insert(0, str(REPOSITORY / "kernels/subjects/pytorch"))

BLOCKS = re.compile(r"^```python\n(.*?)^```.*?^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
ROWS = (4, 4, 4, 2)  # the last batch of an epoch is short


def train(model, optimizer):
    torch.manual_seed(1)
    for window in range(2):
        optimizer.zero_grad()
        for rows in ROWS:
            x, target = torch.randn(rows, 16), torch.randint(0, 8, (rows,))
            loss = torch.nn.functional.cross_entropy(model(x), target)
            (loss / len(ROWS)).backward()
        optimizer.step()


def main():
    code, shown = BLOCKS.search((REPOSITORY / "README.md").read_text()).groups()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        try:
            exec(code, {"model": model, "optimizer": optimizer, "train": train})
            ended = None
        except SystemExit as end:
            ended = end.code
    if ended != 1:
        print(f"README.md: the lines end with {ended}, expected 1, as the loop is wrong")
    missing = [line for line in shown.splitlines() if line != "…" and line not in printed.getvalue()]
    for line in missing:
        print(f"README.md: found {line!r} among the output, expected what is printed:\n{printed.getvalue()}")
    sys.exit(1 if missing or ended != 1 else 0)


if __name__ == "__main__":
    main()
