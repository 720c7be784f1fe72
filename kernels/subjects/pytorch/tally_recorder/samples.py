"""Elements of large tensors, drawn once and the same at every stage: what is judged element by element needs no others."""
import torch

from .errors import CaptureError

SEED = 1
AT_ONCE = 1 << 20  # elements that are added up in one go


class Samples:
    """`count` elements of each tensor that has more, places drawn with a seed (one drawn twice counts once); None: all
    elements of all tensors."""

    def __init__(self, parameters, count, seed=SEED):
        if count is not None and (type(count) is not int or count < 1):
            raise CaptureError(f"samples: found {count!r}, expected a whole number of at least 1; pass how many elements "
                               "of each tensor are recorded")
        self.count, self.seed, self.places = count, seed, {}
        self.elements = sum(parameter.numel() for parameter in parameters.values())
        for name, parameter in parameters.items():
            if count is not None and parameter.numel() > count:
                drawn = torch.Generator().manual_seed(seed + len(self.places))
                places = torch.randint(parameter.numel(), (count,), generator=drawn).unique()
                self.places[name] = places.to(parameter.device)

    def of(self, name, value):
        """The drawn elements of a tensor that belongs to the parameter of this name; None stays None."""
        if value is None or name not in self.places:
            return value
        return value.detach().reshape(-1)[self.places[name]]

    def shape(self, name, parameter):
        return [len(self.places[name])] if name in self.places else list(parameter.shape)

    def kept(self, parameters):
        """How many elements are recorded."""
        return sum(len(self.places[name]) if name in self.places else parameter.numel()
                   for name, parameter in parameters.items())

    def sum_of_squares(self, gradients):
        """Of all elements, in binary64; what a norm or a search for overflow reads beside the sample."""
        total = 0.0
        for gradient in gradients:
            for part in gradient.detach().reshape(-1).split(AT_ONCE):
                part = part.double()
                total += float(torch.dot(part, part))
        return total

    def lines(self, parameters):
        if not self.places:
            return []
        return [f"judged by samples: {self.kept(parameters)} of {self.elements} elements, at most {self.count} of each "
                f"tensor (seed {self.seed}); an error in a share f of a tensor's elements is missed with probability "
                f"(1 - f)^{self.count}"]
