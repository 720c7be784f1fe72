"""Taps of losses: what each read and got back, given to the micro-batch whose backward pass it came with."""
import inspect

import torch

from ..report import Reductions
from ..user_code import CaptureError
from .item_weights import labels_given, token_lines
from .language_models import ALL_ROWS, FusedLoss, makes_no_logits
from .losses import FactorOnly, Seen, autocast_is_on, cut_of, rows_of, unit_of
from .terms import Declared, TermTaps

MOST_PENDING = 32  # calls whose gradient never came, as in an evaluation without no_grad, are let go


class ForwardPasses:
    """Which forward pass a backward pass belongs to: the one that its loss was called in, not the one that ran last.
    `taps` are those that keep what a forward pass leaves until its backward pass has said which micro-batch it was;
    None among them is passed over."""

    def __init__(self, *taps):
        self.taps = [each for each in taps if each]

    def begin(self, rows, model):
        for each in self.taps:
            each.begin(rows, model)

    def now(self):
        """What has been kept of the pass that runs."""
        return [each.state() for each in self.taps]

    def go_back(self, seen):
        """The backward pass of a loss begins: what comes belongs to the pass that it was called in. A second backward
        pass through it is none of a micro-batch."""
        if seen.result is not None:
            for each, state in zip(self.taps, seen.passes):
                each.resume(state)

    def end(self, segment, prefix):
        for each in self.taps:
            each.end(segment, prefix)


class LossTaps(TermTaps):
    """`rows` is how many rows the model read last; `accumulators` the parameters' nodes in autograd's graph, `layers`
    what taps known layers, `masks` what keeps the masks of dropout."""

    def __init__(self, capture, accumulators, described, layers=None, masks=None):
        self.capture, self.accumulators, self.described = capture, accumulators, described
        self.wants_input, self.layers = described.wants_input, layers
        self.passes = ForwardPasses(layers, masks)
        self.token_rows, self.logits = ALL_ROWS, None  # those of the batch that the model read last
        self.pending, self.arrived, self.rows, self.x = [], [], None, None
        self.lines = None        # those of an opaque model's tokens, as it was called last
        self.forward = self.backward = self.reached = 0  # passes since the last step, and losses with a gradient
        self.term = None         # beside the loss of the micro-batch that runs
        self.way = None          # from the root of the backward pass down to its losses
        self.declared = []       # calls of `Recorder.items` since the last step
        self.reductions, self.looked = Reductions(), 0  # where a line may be proposed; backward passes in which one was looked for

    def watch_model(self, model):
        """Hooks the model, with its named arguments where this PyTorch hands them to hooks."""
        hook = self.capture.guard.of_module(self.model_called)
        try:
            return model.register_forward_pre_hook(hook, with_kwargs=True)
        except TypeError:
            return model.register_forward_pre_hook(hook)

    def last_layer_left(self, _, __, y):
        """Logits of all tokens, of which a loss may read all but each line's last."""
        if torch.is_grad_enabled() and isinstance(y, torch.Tensor):
            self.logits = y.detach()

    def model_called(self, model, inputs, named=None):
        """The model reads a micro-batch's rows."""
        given = [*inputs, *(named or {}).values()]
        first = next((value for value in given if isinstance(value, torch.Tensor)), None)
        self.capture.stale_casts.look(self.capture.report)
        if first is not None and torch.is_grad_enabled() and self.capture.recording_next():
            self.forward += 1
            self.rows = first.shape[0] if first.dim() else 1
            self.lines = None if self.wants_input else token_lines(named or {}, first)
            if self.wants_input and autocast_is_on(first.device.type):
                self.capture.report.problem("the model", "autocast around known layers",
                                            "one format for all of them", "record the model as opaque")
            if self.wants_input:
                self.read(model, first, inputs, named or {})

    def read(self, model, first, inputs, named):
        """Known layers read a micro-batch's rows."""
        try:
            self.token_rows = self.described.rows_of(by_name(model, inputs, named))
        except CaptureError as problem:
            self.capture.report.say_problem(str(problem))
            self.token_rows = ALL_ROWS
        if self.token_rows.scored_by_padding:
            self.capture.report.say("labels: a padding token is scored against the token after it; ignore the first label "
                                    "of a line that is padded on the left, and labels of padding")
        self.x = self.capture.scratch.put(self.token_rows.of_flat(model_input(first)))
        self.passes.begin(self.token_rows, model)

    def model_left(self, _, __, output):
        """A model whose head is one with its loss leaves no logits, and calls no loss that could be seen."""
        if not (torch.is_grad_enabled() and self.capture.recording_next() and self.capture.meaning.loss
                and makes_no_logits(output, self.token_rows)):
            return
        seen = FusedLoss(output, self.token_rows, self.x, self.capture.scratch)
        self.pending.append(seen)
        del self.pending[:-MOST_PENDING]
        seen.passes = self.passes.now()

        def at_loss(gradient):
            self.passes.go_back(seen)
            seen.arrives(gradient)
            if seen not in self.arrived:
                self.arrived.append(seen)
        output.log_probs.register_hook(self.capture.guard.hook(at_loss))

    def called(self, loss, result):
        capture = self.capture
        if not capture.recording_next():
            return
        capture.places.saw("loss")
        cut = None
        if not capture.meaning.loss or loss.unknown():
            self.pending.append(Seen(loss, None, None, None, self.x))
        elif capture.samples.places and has_one_factor(loss):
            self.pending.append(Seen(loss, None, None, items_of(loss, loss.target), None))
        else:
            y = rows_of(loss.y.detach(), loss.kind == "cross_entropy")
            target = loss.target.detach()
            target = target.reshape(-1) if loss.kind == "cross_entropy" else rows_of(target, False)
            cut = cut_of(y, target, self.logits, loss.options) if self.wants_input else None
            y, target = (cut.y, cut.target) if cut else (y, target)
            y, target = self.token_rows.of_flat(y), self.token_rows.of_flat(target)
            self.pending.append(Seen(loss, capture.scratch.put(y), capture.scratch.put(target), y.shape[0], self.x))
            self.pending[-1].take(self.token_rows, capture.scratch)
        del self.pending[:-MOST_PENDING]
        seen, shape, rows = self.pending[-1], loss.kind == "cross_entropy", self.token_rows
        seen.result, seen.passes, seen.unit = result.detach(), self.passes.now(), unit_of(result.dtype)
        seen.lines = self.lines

        def at_loss(gradient):
            if capture.differentiating:
                return
            self.passes.go_back(seen)
            seen.factor = gradient.detach().clone()
            if seen not in self.arrived:
                self.arrived.append(seen)

        def at_logits(gradient):
            if seen.y is not None and not capture.differentiating:
                whole = rows_of(gradient.detach(), shape)
                seen.d_y = capture.scratch.put(rows.of_flat(cut.whole(whole) if cut else whole))

        result.register_hook(capture.guard.hook(at_loss))
        if loss.y is not None:
            loss.y.register_hook(capture.guard.hook(at_logits))

    def micro_batch_ends(self, segment, prefix):
        """Taps the loss of the micro-batch that ends; returns its rows."""
        self.backward += 1
        self.passes.end(segment, prefix)
        everything, self.arrived = self.arrived, []
        arrived = [each for each in everything if not isinstance(each, Declared)]
        self.pending = [each for each in self.pending if each not in arrived]
        self.weigh(segment, everything)
        self.reached += len(arrived)
        for seen in arrived:
            if seen.result is None:  # kept by the micro-batch that its first backward pass was
                seen.unknown = "a backward pass went through it a second time"
                continue
            seen.node = seen.result = seen.read = None
            seen.averaged = self.way is not None and "MeanBackward0" in self.way.names
            if seen.factor is not None and seen.factor.numel() > 1 and bool((seen.factor != seen.factor.flatten()[0]).any()):
                seen.unknown = "it weighs its rows differently"
        rows, self.rows, self.x, self.way = self.rows, None, None, None
        if len(arrived) != 1 or arrived[0].unknown or not arrived[0].is_kept():
            why = "none was seen" if not arrived else f"{len(arrived)} were seen" if len(arrived) > 1 else (
                arrived[0].unknown or "it was not asked for")
            segment.losses.append(why)
            return rows or (arrived[0].rows if len(arrived) == 1 else None) or 1
        if arrived[0].y is None and not arrived[0].fused:
            return self.tap_factor(segment, prefix, arrived[0])
        if self.term:
            segment.losses.append(self.term)
            segment.term_beside_loss = self.decay_is_said()
            return rows or 1
        seen = arrived[0]
        segment.losses.append(seen)
        if self.wants_input:
            segment.tensors.setdefault("x", []).append(seen.x)
        segment.tensors.setdefault("target", []).append(seen.labels or seen.target)
        self.tap(segment, prefix, seen)
        return seen.rows

    def tap_factor(self, segment, prefix, seen):
        """Taps what each item is multiplied with; returns the items."""
        segment.term_beside_loss |= bool(self.term)
        said = FactorOnly(self.term or "a sample holds no logits")
        said.mean = seen.options["reduction"] == "mean" or seen.averaged
        segment.losses.append(said)
        factor = seen.factor.flatten()[0].float().cpu()
        if seen.options["reduction"] == "mean" and seen.rows:
            factor = (factor / seen.rows).reshape(())
        segment.tap(f"{prefix}/@factor", factor)
        count_labels(segment, seen, seen.counted.size if seen.counted else 0, seen.rows, factor)
        return seen.rows

    def tap(self, segment, prefix, seen):
        """The names are settled when all losses are known: they are tapped only if all can be stated alike."""
        kept = {"loss/loss": seen.losses} if seen.fused else {
            "y": seen.y, "loss/in.y": seen.y, "loss/in.target": seen.target, "loss/d.y": seen.d_y}
        for name, parts in kept.items():
            if name != "y" or self.capture.meaning.at("all"):
                segment.tap(f"{prefix}/@{name}", parts)
        factor = factor_of(seen, self.capture.scratch)
        if factor is not None:
            segment.tap(f"{prefix}/@loss/in.factor", factor)
            count_labels(segment, seen, seen.rows, 0 if seen.fused else items_of(seen, self.capture.scratch.tensor(seen.target)), factor)


def count_labels(segment, seen, rows, scored, factor):
    """Counts the labels that an opaque model was given."""
    if seen.lines is not None:
        segment.label_counts.append((len(segment.windows) - 1, labels_given(seen.lines, rows, scored), scored, float(factor)))


def by_name(model, inputs, named):
    """What a model is called with, by the names of its arguments."""
    if not inputs:
        return named
    names = [name for name in inspect.signature(model.forward).parameters]
    return {**dict(zip(names, inputs)), **named}


def model_input(value):
    """Rows of features; of whole numbers tokens, each a row."""
    if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
        return value.reshape(-1, value.shape[-1])
    return value.reshape(-1).long()


def has_one_factor(loss):
    """Whether every item is multiplied with the same number."""
    options = loss.options
    return loss.kind == "cross_entropy" and options["weight"] is None and not options["label_smoothing"]


def items_of(loss, target):
    """How many targets count."""
    return int((target != loss.options["ignore_index"]).sum())


def factor_of(seen, scratch):
    """What each row's gradient was multiplied with, where PyTorch has it as one number: what arrived at the loss, over
    the rows of a mean."""
    options = seen.options
    if seen.factor is None or not has_one_factor(seen):
        return None
    if options["reduction"] != "mean":
        return seen.factor.flatten()[0].float().cpu()
    counted = items_of(seen, scratch.tensor(seen.target))
    return (seen.factor.float() / counted).cpu().reshape(()) if counted else None
