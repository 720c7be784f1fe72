"""The cause without a recipe: how much each micro-batch weighs in the gradient that a step was handed."""
import contextlib
import inspect

import torch

from ..steps import SeesSteps
from .places import frames_of, here, place_of
from .rows import spans_of
from .terms import only, terms_of

STAGES = "accumulated", "handed"
MOST_TERMS = 8  # of a loss, each of which is run by itself
ELEMENTS = 1 << 16  # of which the weights are solved for; what they leave over is of all
HALF_OF_64 = 2.0**-26.5  # half of the digits that float64 has
NO_CHECKS = (False,) if "check_nan" in inspect.signature(torch.autograd.set_detect_anomaly.__init__).parameters else ()


class Seen:
    """What was seen of one optimizer in one window: gradients as the last backward pass before its first step left them, and as that
    step was handed them, flat and by name; parameters and the optimizer's state there; the places of both calls; the terms of the
    losses, {key: (name, place)}; and `after`, the parameters that its last step left."""

    def __init__(self):
        self.accumulated, self.handed, self.parameters, self.moments, self.places = None, None, {}, {}, {}
        self.terms, self.after = {}, {}


class Watch:
    """Sees the gradients of a run, of each window a Seen for each optimizer; all of it, or of the last of `count` windows the gradients
    alone. There `others`, the Seens of a run of the whole batch but of the one optimizer that is asked for, say what steps leave:
    that one's gradients are sums over rows only where all else stands still. `term` is the key of what alone is sent back there."""

    def __init__(self, all_of_it, count=0, others=(), term=None):
        self.all_of_it, self.count, self.others, self.term = all_of_it, count, others, term
        self.windows, self.names, self.tensors, self.optimizers = [], {}, {}, 0
        self.inside = self.stepped = False

    def begins(self, tensors, optimizers):
        self.tensors = {name: tensor for name, tensor in tensors.items() if tensor.is_leaf}
        self.names = {id(tensor): name for name, tensor in tensors.items()}
        self.optimizers = max(len(optimizers), 1)  # where there is none, all that the loop has is of one
        for i, optimizer in enumerate(optimizers):
            SeesSteps(optimizer, OfOptimizer(self, optimizer, i))

    def window(self):
        if self.windows and not self.all_of_it:
            self.windows[-1] = []
        self.windows.append([Seen() for _ in range(self.optimizers)])

    def gradients(self):
        return {name: flat_of(tensor.grad) for name, tensor in self.tensors.items() if tensor.grad is not None}

    @contextlib.contextmanager
    def running(self):
        """Backward passes are seen inside of it, and each operation knows where it was called."""
        original, before = torch.autograd.backward, torch.is_anomaly_enabled()

        def backward(tensors, *args, **options):
            if self.inside or not self.windows:  # a checkpoint's own, within another; `make` may train as well
                return original(tensors, *args, **options)
            waiting = [seen for seen in self.windows[-1] if seen.handed is None]
            terms = terms_of([root.grad_fn for root in roots_of(tensors) if root.grad_fn is not None])
            for seen in waiting:
                if self.stepped:  # those before were another optimizer's
                    seen.terms.clear()
                seen.terms.update((key, (name, place)) for key, (name, place, _) in terms.items())
            self.inside, self.stepped = True, False
            try:
                with only(terms if self.term and len(self.windows) == self.count else {}, self.term):
                    result = original(tensors, *args, **options)
            finally:
                self.inside = False
            gradients, places = (self.gradients(), {"backward": here(), "scaled": scaled_at(tensors)}) if waiting else (None, {})
            for seen in waiting:
                seen.accumulated = gradients
                seen.places.update(places)
            return result
        torch.autograd.backward = backward
        torch.autograd.set_detect_anomaly(True, *NO_CHECKS)
        try:
            yield
        finally:
            torch.autograd.backward = original
            torch.autograd.set_detect_anomaly(before)


class OfOptimizer:
    """Told of the steps of one optimizer; the first of a window is kept."""

    def __init__(self, watch, optimizer, number):
        self.watch, self.optimizer, self.number = watch, optimizer, number

    def held(self):
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"] if id(parameter) in self.watch.names]

    def step_begins(self):
        seen = self.watch.windows[-1][self.number]
        if seen.handed is not None:
            return
        held = [parameter for parameter in self.held() if parameter.grad is not None]
        seen.places["step"], seen.handed = here(), {}
        own = {self.watch.names[id(parameter)] for parameter in held}
        seen.accumulated = {name: value for name, value in (seen.accumulated or {}).items() if name in own}
        for parameter in held:
            name = self.watch.names[id(parameter)]
            seen.handed[name] = flat_of(parameter.grad)
            if not self.watch.all_of_it:
                continue
            seen.parameters[name] = flat_of(parameter)
            for key, value in self.optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
                    seen.moments.setdefault(key, {})[name] = flat_of(value)

    def step_ends(self):
        watch, named = self.watch, {self.watch.names[id(parameter)]: parameter for parameter in self.held()}
        watch.stepped = True
        if watch.all_of_it:
            watch.windows[-1][self.number].after = {name: parameter.detach().clone() for name, parameter in named.items()}
        elif len(watch.windows) == watch.count and watch.others and watch.others[self.number]:
            with torch.no_grad():
                for name, value in watch.others[self.number].after.items():
                    named[name].copy_(value)


def flat_of(tensor):
    tensor = tensor.detach()
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return (tensor.to_dense() if tensor.is_sparse else tensor).double().flatten().clone().cpu()


def roots_of(tensors):
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def scaled_at(tensors):
    """Where a loss was multiplied or divided last, if that was the last that was done to it."""
    node = roots_of(tensors)[0].grad_fn
    if node is None or type(node).__name__.rstrip("0123456789") not in ("MulBackward", "DivBackward"):
        return None
    return place_of(frames_of(node.metadata.get("traceback_", [])))


def watched(function, spans, frozen, all_of_it, others=(), term=None):
    """What was seen of each window of a run; None of one that ended early."""
    watch = Watch(all_of_it, len(spans), others, term)
    with watch.running():
        ended = function.trained(getattr(torch, function.precisions[0]), spans, frozen=frozen, watch=watch)
    return None if ended.error else watch.windows


def solved(columns, target):
    """The weights by least squares, of the elements where the columns are largest, and the norm of what they leave over,
    relative to the target's."""
    matrix = torch.stack(columns, 1)
    norms = matrix.norm(dim=0)
    norms[norms == 0] = 1
    matrix = matrix / norms
    kept = slice(None)
    if len(target) > ELEMENTS:
        kept = matrix.abs().amax(1).topk(ELEMENTS).indices
    weights = torch.linalg.lstsq(matrix[kept], target[kept].unsqueeze(1), driver="gelsd").solution.squeeze(1)
    rest = (matrix @ weights - target).norm() / target.norm() if bool(target.any()) else 0.0
    return (weights / norms).tolist(), float(rest)


def flat(gradients, names):
    return torch.cat([gradients[name] for name in names])


def unlike(one, other):
    """Whether two gradients differ by more than half of float64's digits."""
    if not one or not other or one.keys() != other.keys():
        return False
    names = sorted(one)
    a, b = flat(one, names), flat(other, names)
    return not bool((a - b).norm() <= HALF_OF_64 * b.norm())


def terms_beside(cut, window, stage):
    """What else may have been added: (name, gradient-like tensors)."""
    seen = cut[window]
    terms = [(f"window {earlier}'s gradient", getattr(cut[earlier], stage)) for earlier in reversed(range(window))]
    terms += [("the parameters", seen.parameters),
              ("the signs of the parameters", {name: value.sign() for name, value in seen.parameters.items()})]
    return terms + [(f"the moments ({key})", moments) for key, moments in seen.moments.items()]


def with_terms(sums, target, terms, names):
    """([{name, weight}], rest) of the first term that explains what is left over, or of all of them."""
    terms = [(name, flat(tensors, names)) for name, tensors in terms if tensors and tensors.keys() >= set(names)]
    terms = [(name, column) for name, column in terms if bool(column.any())]
    for chosen in [*([term] for term in terms), terms]:
        weights, rest = solved(sums + [column for _, column in chosen], target)
        if rest <= HALF_OF_64:
            break
    return [{"name": name, "weight": weight} for (name, _), weight in zip(chosen, weights[len(sums):])], rest


def is_last_alone(weights):
    """Whether no micro-batch but the last counts."""
    return len(weights) > 1 and all(abs(weight) <= HALF_OF_64 * abs(weights[-1]) for weight in weights[:-1])


def first_unlike(cut, whole):
    """The first optimizer whose gradients differ; where none does, the first that steps."""
    found = [i for i, pair in enumerate(zip(cut, whole)) if any(unlike(*(getattr(seen, stage) for seen in pair)) for stage in STAGES)]
    return found[0] if found else next((i for i, seen in enumerate(cut) if seen.handed is not None), 0)


def part_of(alone, cut, whole, sizes):
    """What a term of the loss weighs. One that reads no row is the same in every micro-batch, and has one weight."""
    no_row = not any(unlike({"": each}, {"": alone[0]}) for each in alone)
    columns = alone[:1] if no_row else [each * size for each, size in zip(alone, sizes)]
    (found, rest), (meant, meant_rest) = solved(columns, cut), solved(columns, whole)
    many = len(sizes) if no_row else 1
    return {"found": found * many, "rest": rest, "meant": meant * many, "meant_rest": meant_rest, "no_row": no_row}


class Weights:
    """Of one loop. What was seen of a partition's runs is kept until another is asked for."""

    def __init__(self, function):
        self.function, self.kept = function, {}

    def seen(self, spans, frozen):
        key = str((spans, frozen))
        if key not in self.kept:
            self.kept[key] = watched(self.function, spans, frozen, True)
        return self.kept[key]

    def alone(self, spans, frozen, stage, others, term=None):
        """The gradient of the last of these windows, or of one term of its loss, of the optimizer that is None in `others`; those are as
        the whole batch left them."""
        seen = watched(self.function, spans, frozen, False, others, term)
        return seen and getattr(seen[-1][others.index(None)], stage)

    def of(self, ask):
        """An entry of `weights`: of every row of each micro-batch, found in what the first step of a window was handed and
        meant by the whole batch's, and what else was in it. `stage` is where they differ first. Of a window that began with other parameters (`parted`)
        the gradient tells nothing: what differs lies behind the step before."""
        sizes, window, frozen = ask["sizes"], ask.get("window", 0), tuple(ask.get("frozen", ()))
        entry = {**ask, "window": window, "found": [], "meant": [], "terms": [], "terms_rest": None, "rest": None,
                 "meant_rest": None, "place": None}
        all_rows, spans, windows = [(0, self.function.rows)], spans_of(sizes, self.function.rows), self.function.windows
        cut, whole = self.seen([spans] * windows, frozen), self.seen([all_rows] * windows, frozen)
        self.kept = {key: seen for key, seen in self.kept.items() if seen is cut or seen is whole}
        if not cut or not whole or not cut[window]:
            return entry
        at = first_unlike(cut[window], whole[window])
        others = [None if i == at else seen for i, seen in enumerate(whole[window])]
        cut, whole = ([seen[at] for seen in run] for run in (cut, whole))
        stage = next((stage for stage in STAGES
                      if unlike(getattr(cut[window], stage), getattr(whole[window], stage))), "handed")
        fitted = self.fitted({**entry, "stage": stage}, window, spans, cut, whole, others)
        if stage == "accumulated" and is_last_alone(fitted["found"]):  # the loop may add up in a buffer of its own
            handed = self.fitted({**entry, "stage": "handed"}, window, spans, cut, whole, others)
            fitted = fitted if is_last_alone(handed["found"]) else handed
        return fitted

    def fitted(self, entry, window, spans, cut, whole, others):
        """The entry, with the weights of its stage."""
        stage, places, sizes, frozen = entry["stage"], cut[window].places, entry["sizes"], tuple(entry.get("frozen", ()))
        entry.update(places=places, place=places.get("step") if stage == "handed" else places["scaled"] or places["backward"])
        all_rows = [(0, self.function.rows)]
        alone = [self.alone([all_rows] * window + [[span]], frozen, stage, others) for span in spans]
        target, wanted = getattr(cut[window], stage), getattr(whole[window], stage)
        if not target or not wanted or not all(alone):
            return entry
        names = sorted(set(target).intersection(wanted, *alone))
        sums = [flat(each, names) * size for each, size in zip(alone, sizes)] if names else []
        target, wanted = (flat(gradients, names) if names else None for gradients in (target, wanted))
        if not names or not all(bool(column.isfinite().all()) for column in (*sums, target, wanted)) or not bool(wanted.any()):
            return entry
        entry["meant"], entry["meant_rest"] = solved(sums, wanted)
        if window and unlike(cut[window].parameters, whole[window].parameters):
            return {**entry, "found": entry["meant"], "rest": entry["meant_rest"], "parted": True}
        entry["found"], entry["rest"] = solved(sums, target)
        if not entry["rest"] <= HALF_OF_64:
            entry["terms"], entry["terms_rest"] = with_terms(sums, target, terms_beside(cut, window, stage), names)
        explained = entry["meant_rest"] <= HALF_OF_64 and min(entry["rest"], entry["terms_rest"] or entry["rest"]) <= HALF_OF_64
        if not explained and stage == "accumulated" and cut[window].terms.keys() == whole[window].terms.keys():
            entry["parts"] = self.parts(entry, window, spans, cut[window].terms, others)
        return entry

    def parts(self, entry, window, spans, terms, others):
        """Each term of the loss by itself, as vary.json lists them; none where one of them is no sum."""
        found, frozen, all_rows = [], tuple(entry.get("frozen", ())), [(0, self.function.rows)]
        for key, (name, place) in terms.items() if 1 < len(terms) <= MOST_TERMS else ():
            runs = [[all_rows] * window + [[span]] for span in spans] + [[spans] * (window + 1), [all_rows] * (window + 1)]
            gradients = [self.alone(each, frozen, "accumulated", others, key) for each in runs]
            if not all(gradients):
                return []
            names = sorted(set.intersection(*map(set, gradients)))
            *alone, cut, whole = (flat(each, names) for each in gradients)
            part = {"name": name, "place": place, **part_of(alone, cut, whole, entry["sizes"])}
            if not (part["rest"] <= HALF_OF_64 and part["meant_rest"] <= HALF_OF_64):
                return []
            found.append(part)
        return found
