"""Dispatch modes of a run: one floating format throughout, and numbers that are drawn once for all rows of a window, of which
each micro-batch gets its own."""
import functools

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .state import tensors_of

FORMATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
PROBABILITIES = ("dropout_p", "dropout", "p")
DRAWS_LIKE = {"rand": "uniform_", "rand_like": "uniform_", "randn": "normal_", "randn_like": "normal_"}
DRAWS_IN_PLACE = ("uniform_", "normal_", "bernoulli_", "exponential_", "random_", "geometric_", "cauchy_", "log_normal_")


def name_of(func):
    return func._schema.name.rpartition("::")[2]


def unscaled(gradients, found, factor):
    """_amp_foreach_non_finite_check_and_unscale_, in any format."""
    for gradient in gradients:
        if not bool(gradient.isfinite().all()):
            found.fill_(1.0)
        gradient.mul_(factor.to(gradient))


def rescaled(scale, steps, found, growth, backoff, interval):
    """_amp_update_scale_, in any format."""
    if bool(found):
        steps.zero_()
        return scale.mul_(backoff)
    if int(steps.add_(1)) == interval:
        steps.zero_()
        scale.mul_(growth)
    return scale


SCALER = {"_amp_foreach_non_finite_check_and_unscale_": unscaled, "_amp_update_scale_": rescaled}


class Lifts(TorchDispatchMode):
    """Formats that an operation is asked for, and those of what it is given, are float64, or `dtype`, in place of a lower one. What an
    operation writes to, or hands out as it is, keeps its own."""

    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.dtype, self.low = dtype, FORMATS[FORMATS.index(dtype) + 1:]
        self.found = False  # something to lift

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("dtype") in self.low:
            self.found, kwargs = True, {**kwargs, "dtype": self.dtype}
        if name_of(func) in SCALER:  # which has kernels for float32 alone
            return SCALER[name_of(func)](*args)
        if not shares(func):
            args = tuple(self.lifted(arg) for arg in args)
            kwargs = {key: self.lifted(value) for key, value in kwargs.items()}
        return func(*args, **kwargs)

    def lifted(self, value):
        if isinstance(value, torch.Tensor) and value.dtype in self.low:
            self.found = True
            return value.to(self.dtype)
        return type(value)(self.lifted(each) for each in value) if type(value) in (list, tuple) else value


@functools.lru_cache(maxsize=None)
def shares(func):
    """Whether what it returns is, or is part of, what it was given."""
    return any(result.alias_info is not None for result in func._schema.returns)


def draws(func, args, kwargs):
    """Whether it draws numbers: a dropout of 0, or outside of training, draws none."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    arguments = func._schema.arguments
    given = {each.name: each.default_value for each in arguments if each.has_default_value()}
    given.update({each.name: value for each, value in zip(arguments, args)}, **kwargs)
    trains = given.get("train", given.get("training", True)) is not False
    p = next((given[name] for name in PROBABILITIES if name in given), None)
    return trains and not (isinstance(p, (int, float)) and p == 0 and "drop" in func._schema.name + " ".join(given))


@functools.lru_cache(maxsize=None)
def writes(func):
    """Whether it changes what it returns, which it was given."""
    return any(result.alias_info is not None and result.alias_info.is_write for result in func._schema.returns)


class Plan:
    """What the whole batch draws, and what micro-batches draw that it cannot be dealt to. `dropout` says whether what is
    drawn by Bernoulli's law, such as the masks of a dropout, has its mean in place of it, and `mean` whether that was so."""

    def __init__(self, dropout=True):
        self.dropout, self.drawn, self.dealt, self.undealt, self.mean = dropout, {}, set(), set(), False


class MicroBatches(list):
    """Says which of them is at hand."""

    def __init__(self, cut, draws):
        super().__init__(cut)
        self.draws = draws

    def __iter__(self):
        for k, batch in enumerate(super().__iter__()):
            self.draws.at = k
            yield batch

    def __getitem__(self, k):
        if isinstance(k, int):
            self.draws.at = range(len(self))[k]
        return super().__getitem__(k)


class Draws(TorchDispatchMode):
    """Deals the draws of one window. The micro-batch at hand is the one that was taken from the list last, or whose
    rows an operation read last. Its k-th draw, counted within the micro-batch, is the k-th of the whole batch: all of
    it where the extents are the same, the micro-batch's rows of it where one extent is in proportion to its rows."""

    def __init__(self, plan, window, rows, spans, count, seed):
        super().__init__()
        self.plan, self.window, self.spans, self.count, self.seed = plan, window, spans, count, seed
        self.learns, self.at, self.calls = spans == [(0, count)], None, {}
        self.places = [(tensor.data_ptr(), tensor.stride(0) * tensor.element_size(), tensor.shape[0])
                       for tensor in tensors_of(rows) if tensor.numel() and tensor.dim()]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.look(args)
        name = name_of(func)
        given = [arg for arg in args if isinstance(arg, torch.Tensor)]
        if name in DRAWS_IN_PLACE or name in DRAWS_LIKE:
            out = args[0] if name in DRAWS_IN_PLACE else func(*args, **kwargs)
            if name == "bernoulli_" and len(given) > 1:
                return out.copy_(self.below(name, given[1].expand_as(out)))
            values = args[1:] if name in DRAWS_IN_PLACE else ()
            return out.copy_(self.draw(name, out.shape, out.dtype, DRAWS_LIKE.get(name, name), values))
        if name == "bernoulli":
            p = kwargs.get("p", args[1] if len(args) > 1 and isinstance(args[1], float) else None)
            return self.below(name, args[0] if p is None else torch.full_like(args[0], p, dtype=torch.double)).to(args[0].dtype)
        if name == "normal":
            out = func(*args, **kwargs)
            mean, std = args[0], args[1] if len(args) > 1 else kwargs.get("std", 1.0)
            return out.copy_(mean + std * self.draw(name, out.shape, out.dtype, "normal_", ()).to(out))
        if name == "native_dropout" and args[2] is not False:
            mask = self.draw(name, args[0].shape, torch.float32, "bernoulli_", (1 - args[1],)).to(args[0])
            return args[0] * mask / (1 - args[1]), mask != 0
        if name == "multinomial" and args[1] == 1:  # the largest of p / an exponential draw
            return (args[0] / self.draw(name, args[0].shape, torch.float32, "exponential_", ()).to(args[0])).argmax(-1, keepdim=True)
        if name.startswith("randint"):
            out = func(*args, **kwargs)
            bounds = [arg for arg in args if isinstance(arg, int)]
            return out.copy_(self.draw(name, out.shape, torch.int64, "random_", tuple([0, *bounds][-2:])))
        if draws(func, args, kwargs):
            return self.other(name, func, args, kwargs)
        return func(*args, **kwargs)

    def look(self, args):
        for arg in args:
            for tensor in arg if isinstance(arg, (list, tuple)) else (arg,):
                if isinstance(tensor, torch.Tensor) and tensor.numel():
                    pointer = tensor.data_ptr()
                    for base, row, rows in self.places:
                        if row and base <= pointer < base + row * rows:
                            first = (pointer - base) // row
                            self.at = next((k for k, (a, b) in enumerate(self.spans) if a <= first < b), self.at)

    def whose(self, name, shape):
        """The number of the draw, the extents of the whole batch's, and which of it is drawn here: (dimension, first,
        count), or None for all of it. Extents are None where it cannot be dealt."""
        number = self.calls[self.at] = self.calls.get(self.at, 0) + 1
        key, shape = (self.window, self.at is None, number), tuple(shape)
        if self.learns:
            self.plan.drawn.setdefault(key, (name, shape))
        of, whole = self.plan.drawn.get(key, (None, None))
        if of == name and shape == whole:
            return number, whole, None
        if of == name and len(shape) == len(whole) and self.at is not None:
            first, last = self.spans[self.at]
            apart = [d for d in range(len(shape)) if shape[d] != whole[d]]
            if len(apart) == 1 and shape[apart[0]] * self.count == whole[apart[0]] * (last - first):
                self.plan.dealt.add(name)
                each = whole[apart[0]] // self.count
                return number, whole, (apart[0], first * each, (last - first) * each)
        self.plan.undealt.add(name)
        return number, None, None

    def seeded(self, number, own):
        """Draws inside of it begin at this draw's own place of the stream."""
        self.seeded_for(self.window + 1, number, 2 + (self.at or 0) if own else 1, self.at is None)

    def seeded_for(self, *key):
        value = 0
        for part in (self.seed + 1, *key):
            value = (value * 1000003 + int(part) + 1) % (2**63 - 1)
        torch.default_generator.manual_seed(value)

    def draw(self, name, shape, dtype, law, values):
        """Numbers that float32 has, whatever the precision, so that the same are drawn in all."""
        if law == "bernoulli_" and not self.plan.dropout:
            self.plan.mean = True
            return torch.full(shape, *(values or (0.5,)), dtype=torch.double)
        number, whole, part = self.whose(name, shape)
        before = torch.get_rng_state()
        self.seeded(number, whole is None)
        drawn = torch.empty(whole or tuple(shape), dtype=torch.float32 if dtype.is_floating_point else dtype)
        drawn = getattr(drawn, law)(*values)
        torch.set_rng_state(before)
        return drawn if part is None else drawn.narrow(*part)

    def below(self, name, p):
        """1 with probability p, for each element."""
        if not self.plan.dropout:
            self.plan.mean = True
            return p
        return (self.draw(name, p.shape, torch.float32, "uniform_", ()).to(p) < p).to(p.dtype)

    def other(self, name, func, args, kwargs):
        """Drawn by an operation of its own, such as Poisson's law of given rates: row by row, where its tensors have rows;
        else the same numbers where the extents are those of the whole batch."""
        by_rows = self.by_rows(name, func, args, kwargs)
        if by_rows is not None:
            return by_rows
        before = torch.get_rng_state()
        self.seeded(self.calls.get(self.at, 0) + 1, False)
        out = func(*args, **kwargs)
        torch.set_rng_state(before)
        first = next((tensor for tensor in (out if isinstance(out, (list, tuple)) else (out,)) if isinstance(tensor, torch.Tensor)), None)
        if self.whose(name, first.shape if first is not None else ())[2] is not None:
            self.plan.undealt.add(name)
        return out

    def by_rows(self, name, func, args, kwargs):
        """Each row is drawn by itself, in float32 and from a stream of its own; None where not all tensors have the
        micro-batch's rows, or the operation writes to one."""
        at = 0 if self.at is None and len(self.spans) == 1 else self.at
        given = [arg for arg in args if isinstance(arg, torch.Tensor)]
        if at is None or not given or any(not tensor.dim() for tensor in given) or any(arg.alias_info for arg in func._schema.arguments):
            return None
        first, rows = self.spans[at][0], self.spans[at][1] - self.spans[at][0]
        each, rest = divmod(given[0].shape[0], rows)
        number = self.calls.get(self.at, 0) + 1
        key = (self.window, "by rows", number)
        if self.learns and not rest:
            self.plan.drawn.setdefault(key, (name, each))
        if rest or self.plan.drawn.get(key) != (name, each) or any(tensor.shape[0] != given[0].shape[0] for tensor in given):
            return None
        self.calls[self.at] = number
        self.plan.dealt.add(name)
        before, drawn = torch.get_rng_state(), []
        for row in range(rows):
            self.seeded_for(self.window + 1, number, first + row)
            own = (arg.narrow(0, row * each, each) if isinstance(arg, torch.Tensor) else arg for arg in args)
            drawn.append(func(*(arg.float() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in own), **kwargs))
        torch.set_rng_state(before)
        drawn = torch.cat(drawn)
        return drawn.to(given[0].dtype) if drawn.is_floating_point() else drawn
