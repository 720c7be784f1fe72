"""The cause without a recipe: how much each micro-batch weighs in the gradient that a step was handed."""
import torch

# By how much the rows of a micro-batch of n weigh more than they should, of N rows in K micro-batches; what that says of
# them, and what to do about it.
FORMULAS = (
    ("1/(K n_k)", lambda n, N, K: N / (K * n), "weighs 1/(K n_k) and should weigh 1/N: each micro-batch's mean is divided by "
     "the number of micro-batches; divide each sum by the window's {N} rows, or weigh each mean by its rows / {N}"),
    ("1/n_k", lambda n, N, K: N / n, "weighs 1/n_k and should weigh 1/N: the means of the micro-batches are added up and "
     "divided by nothing; weigh each mean by its rows / {N}"),
    ("1/K", lambda n, N, K: 1 / K, "weighs 1/K of what it should: all are divided by the number of micro-batches, which what "
     "is divided by the window's rows needs no more; leave that out"),
    ("K", lambda n, N, K: K, "weighs K times what it should: divide by what the window holds"),
)


def solved(columns, target):
    """The weights by least squares, and the norm of what they leave over, relative to the target's."""
    matrix = torch.stack(columns, 1)
    weights = torch.linalg.lstsq(matrix, target.unsqueeze(1), driver="gelsd").solution.squeeze(1)
    rest = (matrix @ weights - target).norm() / target.norm()
    return weights.tolist(), float(rest)


def flat(gradients, names):
    return torch.cat([gradients[name].double().flatten() for name in names])


def told(ratios, sizes, near):
    """The formula that the ratios of found and wanted weights follow, and what it says of a row of micro-batch k; None where
    they follow none. `near` says what is equal."""
    rows, count = sum(sizes), len(sizes)
    for formula, of, said in FORMULAS:
        if all(near(ratio, of(size, rows, count)) for ratio, size in zip(ratios, sizes)):
            return formula, said.format(N=rows)
    silent = [k for k, ratio in enumerate(ratios) if near(1 + ratio, 1)]
    if silent and len(silent) < count:
        return "0", (f"weighs nothing for k = {silent[0]} of {count}: that micro-batch leaves nothing in the gradient; clear "
                     "gradients once a window, and step after its last micro-batch")
    return None
