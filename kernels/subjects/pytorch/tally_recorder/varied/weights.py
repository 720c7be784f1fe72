"""The cause without a recipe: how much each micro-batch weighs in the gradient that a step was handed, and how many of its items
count."""
import contextlib

import torch
import torch.nn.functional as F

from .state import spans_of, tensors_of
from .training_steps import Watch

LOSSES = ("cross_entropy", "nll_loss")
IGNORED = -100
STAGES = "accumulated", "handed"
MOST_TERMS = 8  # a loss may have, each of which is run by itself
ELEMENTS = 1 << 16  # that weights are solved for; what they leave over is taken of all
HALF_OF_64 = 2.0**-26.5  # half of the digits that float64 has


class Items:
    """Counts the labels of each call of a loss inside of it."""

    def __init__(self):
        self.calls, self.places, self.originals = [], [], {}

    def __enter__(self):
        for name in LOSSES:
            self.originals[name] = getattr(F, name)
            setattr(F, name, self.counting(self.originals[name]))
        return self

    def __exit__(self, *_):
        for name, original in self.originals.items():
            setattr(F, name, original)

    def counting(self, original):
        def loss(*args, **options):
            target = args[1] if len(args) > 1 else options.get("target")
            if isinstance(target, torch.Tensor) and not target.is_floating_point():
                ignored = args[4] if len(args) > 4 else options.get("ignore_index", IGNORED)
                weight = args[2] if len(args) > 2 else options.get("weight")
                with contextlib.suppress(RuntimeError):  # a transform of torch.func shows no numbers
                    counted = target[target != ignored]
                    self.calls.append(float(counted.numel() if weight is None else weight.detach()[counted].double().sum()))
                    self.places.append(target.numel())
            return original(*args, **options)
        return loss

    def of(self, rows, spans):
        """A number for each micro-batch, as the losses say it, or a mask among the rows; None where neither does."""
        called = of_round(self.calls, len(spans))
        if called is not None:
            return called
        mask = next((mask for mask in map(mask_of, tensors_of(rows)) if mask is not None and not bool(mask.all())), None)
        return None if mask is None else [int(mask[a:b].sum()) for a, b in spans]


def of_round(calls, count):
    """What one round of so many calls gives, where all rounds give the same; None elsewhere."""
    rounds = [calls[first:first + count] for first in range(0, len(calls), count)]
    return rounds[0] if rounds and all(each == rounds[0] for each in rounds) and len(rounds[0]) == count else None


def mask_of(tensor):
    """Which of its items count, of integers beside ignored labels, or of nothing but 0 and 1 in more than one dimension."""
    if not tensor.is_floating_point() and bool((tensor == IGNORED).any()):
        return tensor != IGNORED
    return tensor != 0 if tensor.dim() > 1 and bool(((tensor == 0) | (tensor == 1)).all()) else None


def watched(function, spans, frozen, all_of_it, others=(), term=None):
    """What was seen of each window of a run; None where it ended early."""
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
    """The weights of one loop. What was seen of a partition's runs is kept until another is asked for."""

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
        """An entry of `weights`: of every row of each micro-batch, found in what the first step of a window was handed
        and meant by the whole batch's, and what else was in it. `stage` is where they differ first. The gradient of a
        window that began with other parameters (`parted`) tells nothing: what differs lies behind the step before."""
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
