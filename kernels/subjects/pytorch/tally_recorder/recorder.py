"""The recorder: sees what a loop does while it is entered, and has it judged afterwards."""
import os

import torch

from . import case_file, verdict
from .capture import Capture
from .capture.dropout import DropoutMasks, SeesAttention, SeesBatchStatistics
from .capture.gradients import SeesClips, SeesGradients
from .capture.item_weights import labels_before_shift
from .capture.layers import LayerTaps
from .capture.loss_taps import LossTaps
from .capture.losses import SeesLosses
from .capture.models import KnownLayers, OpaqueModel
from .capture.optimizers import ReadsOptimizer, listed
from .capture.parameters import Members, Samples
from .capture.rank_taps import SeesGathered, SeesShardedGradients
from .capture.segment import Scratch
from .capture.steps import ScalerTaps, SeesScaler, SeesSchedules, SeesSteps
from .capture.terms import SilentTerms, judge_terms
from .capture.windows import Plan
from .other_recorders import Several, StepsAlone, are_copies
from .ranks import can_be_dealt, checked_together, inner, ranks_of
from .recipe import Meaning, recipe_of
from .report import Outside, not_finite, stepped_into
from .user_code import CaptureError, held_by, in_one_line, place_of_call
from .verdict import concluded, worst

ENTERED = []  # the recorders whose loops run


def items(per_item, mask=None, *, name="the loss", weight=1.0):
    """Calls `Recorder.items` of every recorder whose loop runs; does nothing where none does."""
    for recorder in ENTERED:
        recorder.items(per_item, mask, name=name, weight=weight)


class Recorder:
    """`micro_batches` is how many make a window, or a list of such counts that repeats. What else the loop means is
    said by `normalisation`, `learning_rate`, `weight_decay` and `clip`, in the words of a case file; what is left out
    is assumed from the run and printed. `divide` says whether each loss is divided or, once a window, the gradients.
    `level` says how much is kept, `windows`, `start` and `every` of which windows, `samples` how many elements of each
    tensor, `layers="known"` states the layers of a network, where Tally knows all of them, in place of an opaque model.
    Processes that torch.distributed has joined record a rank each; `ranks` says in the words of `execution.ranks` how
    they add up, False that each is recorded alone. Several optimizers, `Recorder([model, …], [optimizer, …], …)`, are
    recorded one by one. The steps alone are judged where parameters have a format that no case has. `watch=N` has one
    window in N judged while the loop goes on: see `watched.py`."""

    def __new__(cls, model, optimizer, micro_batches, *, watch=None, **options):
        if watch is not None:
            from .watched import Watched  # which makes a recorder for each stretch
            return Watched(model, optimizer, micro_batches, watch=watch, **options)
        if isinstance(optimizer, (list, tuple)):
            return Several(cls, model, optimizer, micro_batches, **options)
        if isinstance(model, torch.nn.Module) and isinstance(optimizer, torch.optim.Optimizer):
            held = [parameter for parameter in held_by(optimizer) if parameter.requires_grad]
            ids = set(map(id, held))
            stepped = [parameter for parameter in model.parameters() if id(parameter) in ids]
            why = case_file.formats_no_case_has(model.parameters() if options.get("layers") == "known" else stepped)
            if not stepped and are_copies(held, [each for each in model.parameters() if each.requires_grad]):
                why = "the optimizer steps copies of the model's parameters, whose gradients no backward pass adds up"
            if why is not None:
                return StepsAlone(model, optimizer, why, micro_batches, **options)
        return super().__new__(cls)

    def __init__(self, model, optimizer, micro_batches, *, level="state", normalisation=None, learning_rate=None,
                 weight_decay=None, clip=None, loss=True, divide="micro_batch", windows=None, start=0,
                 every=None, layers="opaque", samples=None, scratch=None, ranks=None, name="a PyTorch loop", watch=None):
        self.meaning = Meaning(micro_batches, level, normalisation, learning_rate, weight_decay, clip, loss,
                               divide)
        if not isinstance(model, torch.nn.Module):
            raise CaptureError(f"model: found {type(model).__name__}, expected a torch.nn.Module; pass "
                               "Recorder(model, optimizer, …)")
        if isinstance(model, torch.jit.ScriptModule):
            raise CaptureError("model: found a TorchScript module, whose calls no hook sees, expected a plain "
                               "torch.nn.Module; record the loop with the module before torch.jit")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise CaptureError(f"optimizer: found {type(optimizer).__name__}, expected a torch.optim.Optimizer; pass "
                               "Recorder(model, optimizer, …)")
        self.ranks = ranks_of(model, optimizer, ranks)
        model = inner(model)
        self.model, self.optimizer, self.name = model, optimizer, name
        self.described = KnownLayers(model) if layers == "known" else OpaqueModel()
        held = set(map(id, held_by(optimizer)))
        parameters = {self.described.name_of(name): parameter for name, parameter in model.named_parameters()
                      if id(parameter) in held and parameter.requires_grad}
        known = {id(parameter) for parameter in parameters.values()}
        strangers = [parameter for parameter in held_by(optimizer) if parameter.requires_grad and id(parameter) not in known]
        if not parameters or strangers and layers == "known":
            raise CaptureError(f"optimizer: found {len(strangers)} parameters that are none of the model's and "
                               f"{len(parameters)} that are, expected the model's alone; pass the model that it trains; a loop whose "
                               "engine trains flat copies (ZeRO) is varied (tally_recorder.vary)")
        own, self.others = dict(parameters), {self.described.name_of(f"other.{i}"): each for i, each in enumerate(strangers)}
        parameters.update(self.others)
        if layers == "known":
            self.described.freeze(parameters, model)
        case_file.names_can_be_stated({**parameters, **self.described.frozen})
        named = {self.described.name_of(name): parameter for name, parameter in model.named_parameters()}
        self.outside = Outside({name: parameter for name, parameter in named.items()
                                if id(parameter) not in held and parameter.requires_grad}, optimizer,
                               {name: parameter for name, parameter in named.items()
                                if id(parameter) in held and not parameter.requires_grad})
        names = {parameter: name for name, parameter in parameters.items()}
        self.scratch = Scratch(scratch)
        self.samples = Samples(parameters, samples)
        if self.samples.places and layers == "known":
            raise CaptureError("samples: found a number beside known layers, whose forward pass needs every element; "
                               "record the model as opaque, or all elements (samples=None)")
        if self.ranks:
            can_be_dealt(self.meaning, self.samples, self.described)
        self.capture = Capture(parameters, ReadsOptimizer(optimizer, names), self.meaning, self.scratch,
                               Plan(windows, start, every), self.samples, self.described, self.ranks)
        self.capture.members = Members(model, optimizer, own, self.described.name_of)
        self.entered = []
        self.finished = False

    def __enter__(self):
        self.attach()
        mode = SeesLosses(*self.listeners())
        mode.__enter__()
        self.entered.insert(0, lambda: mode.__exit__(None, None, None))
        return self

    def listeners(self):
        """What the mode that sees losses tells, once attached."""
        guard, layers = self.capture.guard, self.capture.losses.layers
        layers = layers if layers and layers.hears_of_functions() else None
        return guard.hook(self.capture.losses.called), layers and guard.listener(layers), self.heard

    def heard(self, *call):
        """A function of PyTorch that the loop called, its arguments and its result."""
        for each in self.hear:
            self.capture.guard.tried(each.called, *call)

    def attach(self, clips=None):
        """Everything but the mode that sees losses; `clips` may have been watched from an earlier time on."""
        sees = SeesShardedGradients if self.ranks and self.ranks.sharded else SeesGradients
        guard = self.capture.guard
        gradients = sees(self.capture.parameters, guard.listener(self.capture))
        taps_layers = self.described.wants_input and self.meaning.at("all")
        layers = LayerTaps(self.capture, self.described) if taps_layers else None
        masks = DropoutMasks(self.capture, self.described) if self.described.drops() else None
        losses = LossTaps(self.capture, gradients.nodes, self.described, layers, masks)
        self.capture.losses = losses
        self.hear = SilentTerms(self.capture.report.silent_term), self.capture.writes, losses.reductions
        ENTERED.append(self)
        self.clips = clips or SeesClips()
        self.clips.guard = guard
        self.clips.wanted, self.clips.normed = self.capture.recording_step, self.capture.norms.seen
        self.clips.begins, self.clips.is_late = self.capture.clip_begins, self.capture.is_late
        self.clips.recorded = {id(parameter) for parameter in self.capture.parameters.values()}
        hook = losses.watch_model(self.model)
        fused = self.model.register_forward_hook(guard.of_module(losses.model_left)) if self.described.wants_input else None
        if layers:
            layers.attach()
        if masks:
            masks.attach(self.model)
        watched = [taps.watched for taps in (masks, layers) if taps]
        attention = [SeesAttention(watched).remove] if watched and self.described.attentions else []
        last = self.described.modules.get(self.described.last)
        logits = [last.register_forward_hook(guard.of_module(losses.last_layer_left)).remove] if last is not None else []
        self.statistics = SeesBatchStatistics(self.model, self.capture.recording_next, guard)
        steps = SeesSteps(self.optimizer, guard.listener(self.capture))
        scaler = SeesScaler(self.optimizer, guard.listener(ScalerTaps(self.capture)))
        schedules = SeesSchedules(self.optimizer, self.capture.schedule_moved, guard)
        gathered = [SeesGathered(self.model, self.described.name_of, self.capture.sums.gathered, guard).remove] \
            if self.ranks and self.ranks.sharded else []
        self.outside.attach()
        self.entered = [each.remove for each in (self.outside, hook, self.capture.sums, self.statistics, scaler, schedules, steps,
                                                 self.clips, gradients)]
        self.entered += logits + [each.remove for each in (layers, masks) if each] + attention + \
            ([fused.remove] if fused else []) + gathered

    def __exit__(self, kind, *_):
        for leave in self.entered:
            leave()
        ENTERED[:] = [each for each in ENTERED if each is not self]
        self.entered, guard = [], self.capture.guard
        if kind is None:
            guard.tried(self.capture.finish)
            guard.tried(self.capture.sums.finish)
        else:
            guard.tried(self.capture.interrupted, kind)
        if guard.problem is not None:
            self.capture.broke()
        self.finished = True

    def items(self, per_item, mask=None, *, name="the loss", weight=1.0):
        """Says what counts of a term of the loss: `per_item` holds a loss for each item, before it is summed up, `mask`
        which of them count. Each is to weigh `weight` over the window's items (as `normalisation` says), and the
        gradient that arrives at `per_item` is what it weighs. Terms of different names are judged apart."""
        self.capture.guard.tried(self.capture.losses.declare, per_item, mask, name, weight, place_of_call())

    def added_up(self):
        """Says that a loop which adds up over ranks by calls of its own has done so: called on every rank in every
        window, where the sum stands in .grad, divided as `ranks` says, and nothing else has touched it. What changes
        gradients from there on is the loop's clip, or its division with divide="window"."""
        self.capture.sums.marked()

    def check(self, folder, tally=None, show=print, options=()):
        """Writes the capture to `folder`, has `tally check` judge it and shows its verdict. Returns its exit code, the
        worst of several stretches of windows, or 2 where there is no capture to judge. Ranks call it together, and rank
        0 judges what they recorded."""
        if self.ranks:
            return checked_together(self, folder, tally, show, options)
        try:
            program = verdict.command(tally)
            verdict.can_be_written(folder)
            codes = [self.judged(segment, self.stated(segment, options), self.folder_of(folder, segment), program, show,
                                 options) for segment in self.whole()]
        except OSError as problem:
            show(f"error: {problem}")
            return 2
        except Exception as problem:  # pylint: disable=broad-except
            show(f"error: {in_one_line(problem)}")
            return 2
        return worst(codes)

    def whole(self):
        """The stretches to judge; an error where the capture is none."""
        if not self.finished:
            raise CaptureError("the recorder: found a loop that has not ended well, expected the end of its `with`; "
                               "call check after it")
        if not self.capture.segments and self.capture.guard.problem is not None:
            raise CaptureError(in_one_line(self.capture.guard.problem))
        if not self.capture.segments and self.capture.left_out:
            raise CaptureError(f"the loop: found no step in any of {self.capture.left_out} windows, expected one in each; pass micro_batches "
                               "as the loop is meant; if another optimizer took the step, record both: Recorder([model, …], [optimizer, …], …)")
        if not self.capture.segments:
            raise CaptureError(f"the loop: found {self.capture.count} backward passes and no whole window to record, "
                               "expected one; record a longer loop, or fewer micro_batches")
        return self.capture.segments

    def folder_of(self, folder, segment):
        several = self.capture.plan.every is not None or len(self.capture.segments) > 1
        return os.path.join(folder, f"{segment.first:06d}") if several else folder

    def stated(self, segment, options):
        """The case, its tensors, the taps and their claims, with all that is said of them: notes, and problems."""
        lines = []
        recipe = recipe_of(segment, self.capture, self.clips, lines)
        case, tensors, taps = case_file.case_of(segment, self.capture, self.described, recipe, lines, self.name,
                                                "local" in options)
        report = self.capture.report
        if self.others:
            lines.append(f"assumed: {listed(list(self.others))} are the optimizer's parameters that the model does not have")
        segment.wrongs = judge_terms(segment, self.meaning, self.ranks, lines)
        if self.meaning.normalisation in (None, "window_items"):
            segment.wrongs += labels_before_shift(segment)
        lines = self.described.lines(segment.trains) + self.samples.lines(self.capture.parameters) + lines + segment.lines() + self.outside.lines() \
            + self.statistics.lines() + not_finite(segment) + self.capture.reads.replaced(self.capture.numbers_at_steps) \
            + ([] if self.meaning.weight_decay else self.capture.reads.decays_unevenly()) + self.late()
        segment.wrongs = stepped_into(segment, self.capture.parameters, self.capture.places.found.get("loss")) or segment.wrongs
        claims = case_file.claims_of(segment, self.capture.parameters, self.meaning.divide, recipe["optimizer"]["kind"],
                                     case["model"]["layers"], self.ranks.size if self.ranks else 1)
        seen = "decay-in-the-loss" if segment.term_beside_loss else ""
        return case, tensors, taps, claims, seen, lines, report.notes(), report.problems()

    def judged(self, segment, stated, folder, program, show, options, before=()):
        """The exit code of one stretch, whose capture is written and handed to the program."""
        case, tensors, taps, claims, seen, lines, notes, problems = stated
        if len(self.capture.segments) > 1:
            show(f"windows {segment.first} to {segment.first + len(segment.windows) - 1}, in {folder}:")
        for line in lines + notes:
            show(line)
        for line in problems:
            show(f"error: {line}")
        if problems:
            return 2
        if case["model"]["layers"][0].get("tensors") == {}:
            return concluded(4, "not judged: nothing is left that a case states", lines + notes, self.wrongs() + segment.wrongs, show)
        verdict.is_free(folder)
        verdict.write(folder, program, self.scratch, case, tensors, taps, claims, seen=seen, assumptions="\n".join(lines + notes),
                      places=self.capture.places.text(), sums_of_squares=segment.sums_of_squares(self.samples.elements))
        code, said = verdict.check(folder, program, options, before)
        return concluded(code, said, lines + notes, self.wrongs() + segment.wrongs, show)

    def late(self):
        """Lines for what changes gradients behind the step: a clip by its name."""
        return self.clips.lines() if self.clips.late else self.capture.writes.lines()

    def wrongs(self):
        """What it found to be wrong by itself."""
        return self.clips.wrongs() + self.capture.report.wrongs()
