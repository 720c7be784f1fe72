"""Sums over ranks: the taps of each rank's buffers before and behind one, and the hooks on parameters that fully_shard (FSDP2)
has cut, where each rank keeps rows of its own."""
import sys

import torch

from ..user_code import Hooked, unseen
from .accumulation import same
from .gradients import SeesGradients

GROUPS = "torch.distributed.fsdp._fully_shard._fsdp_param_group"  # where the reduce-scatter is called


class SeesShardedGradients(SeesGradients):
    """Tells `listener` as SeesGradients does: `gradient` of the rank's whole gradient before the reduce-scatter, and
    `accumulated` when the rank's rows of the sum have been added."""

    def __init__(self, parameters, listener):
        super().__init__({}, listener)
        self.names = {id(parameter): name for name, parameter in parameters.items()}
        self.groups, self.reduce = sys.modules[GROUPS], sys.modules[GROUPS].foreach_reduce
        self.groups.foreach_reduce = self.reduced

    def backward(self, tensors, *args, **kwargs):
        self.scattered = 0
        super().backward(tensors, *args, **kwargs)
        if not self.scattered and self.listener.losses.arrived and self.depth == 0:
            self.listener.report.problem("a backward pass of the model", "no reduce-scatter in it, as "
                                         "set_requires_gradient_sync(False) leaves it out", "one in every micro-batch",
                                         "record a loop that synchronises every micro-batch")

    def reduced(self, parameters, gradients, *args, **kwargs):
        self.scattered += 1
        names = [self.names.get(id(each.sharded_param)) for each in parameters]
        for name, gradient in zip(names, gradients):
            if name is not None:
                self.listener.gradient(name, gradient.detach())
        result = self.reduce(parameters, gradients, *args, **kwargs)
        for name in names:
            if name is not None:
                self.listener.accumulated(name)
        return result

    def remove(self):
        super().remove()
        self.groups.foreach_reduce = self.reduce


class SeesGathered(Hooked):
    """Tells `gathered(name, value)` of every parameter as a forward pass reads it, put together from all ranks' rows."""

    def __init__(self, model, name_of, gathered, guard):
        self.gathered, self.handles = gathered, []
        for prefix, module in model.named_modules():
            names = {own: name_of(f"{prefix}.{own}" if prefix else own) for own, _ in module.named_parameters(recurse=False)}
            if names:
                self.handles.append(module.register_forward_pre_hook(guard.of_module(self.reads(names))))

    def reads(self, names):
        def before(module, _):
            for own, name in names.items():
                value = getattr(module, own)
                if torch.is_grad_enabled() and not hasattr(value, "to_local"):
                    self.gathered(name, value.detach())
        return before


def taps_of(ranks, capture):
    if ranks is None:
        return OneRank()
    return ShardTaps(capture, ranks) if ranks.sharded else RankTaps(capture, ranks)


class OneRank:
    """There is nothing to add up over."""
    moved, marks = False, 0

    def __bool__(self):
        return False

    def begins(self, segment):
        pass

    def backward_ends(self, prefix):
        pass

    def finish(self):
        pass

    def remove(self):
        pass

    def look(self, at, between=False):
        pass

    def marked(self):
        pass

    def section(self, segment, lines):
        return {}

    def settled(self, segment, taps, section):
        return taps


class RankTaps(Hooked):
    """Taps under names with `@` until the recipe is known: `w0/m1/@reduce.in.<p>`, `w0/m1/@reduce.out.<p>`."""

    def __init__(self, capture, ranks):
        self.capture, self.ranks = capture, ranks
        self.waits = False  # for a sum behind the backward pass that ended
        self.moved = False  # whether the ranks added up behind the last micro-batch
        self.passed = False  # whether a forward pass went through the wrapper since the last backward pass
        self.marks = 0  # calls of the loop that say where it has added up, in recorded windows
        self.handles = [ranks.wrapper.register_forward_pre_hook(capture.guard.of_module(self.passes))] if ranks.wrapper is not None else []

    def passes(self, *_):
        self.passed = self.passed or torch.is_grad_enabled()

    def finish(self):
        pass

    def begins(self, segment):
        """What this rank begins with: a case gives all of them the same."""
        for name in self.capture.parameters:
            segment.taps[f"w0/cast/in.{name}"] = [segment.tensors[name][-1]]

    def backward_ends(self, prefix):
        """Taps the buffers behind a backward pass, in which the wrapper has added up or has not."""
        capture, changed, found = self.capture, False, {}
        self.no_sums_inside()
        for name in capture.parameters:
            now, held = capture.views.gradient(name), capture.latest.get(name)
            if now is None:
                continue
            if held is None:
                held = capture.scratch.put(torch.zeros_like(now))
            moved = not same(capture.scratch.tensor(held), now)
            found[name] = held, capture.scratch.put(now) if moved else held
            changed = changed or moved
        self.moved = changed or self.passed and self.ranks.synchronises()
        self.prefix, self.waits, self.passed = prefix, not self.moved, False
        self.tap(found)
        if self.moved:
            capture.segment.added_up[-1][-1] = True

    def tap(self, found):
        segment = self.capture.segment
        for name, (before, after) in found.items():
            segment.taps[f"{self.prefix}/@reduce.in.{name}"] = [before]
            segment.taps[f"{self.prefix}/@reduce.out.{name}"] = [after]
            self.capture.latest[name] = after

    def no_sums_inside(self):
        """Refuses a sum that begins inside of a backward pass where no wrapper makes it, as it is not told from what is
        accumulated there."""
        hooked = [name for name, parameter in self.capture.parameters.items()
                  if getattr(parameter, "_post_accumulate_grad_hooks", None)] if self.ranks.wrapper is None else []
        if hooked:
            self.capture.report.problem(f"{hooked[0]} (and {len(hooked) - 1} more)" if hooked[1:] else hooked[0],
                                        "a hook of register_post_accumulate_grad_hook", "none beside ranks that add up by "
                                        "calls of their own", "add up after the backward pass, or record with "
                                        "DistributedDataParallel")

    def marked(self):
        """Hears from the loop that it has added up."""
        self.marks += self.capture.recording_step()
        self.look("added_up()")

    @unseen
    def look(self, at, between=False):
        """Taps what the loop has added up without a wrapper, before anything else, `at`, touches the gradients. A
        wrapper's loop adds up nothing between two micro-batches."""
        if not self.waits or self.capture.segment is None or between and self.ranks.wrapper is not None:
            return
        self.waits, capture, found = False, self.capture, {}
        for name in capture.parameters:
            now, held = capture.views.gradient(name), capture.latest.get(name)
            if now is not None and held is None:  # the loop has made a gradient that this rank had not
                held = capture.scratch.put(torch.zeros_like(now))
            if now is not None and not same(capture.scratch.tensor(held), now):
                found[name] = held, capture.scratch.put(now)
        self.tap(found)
        if found:
            self.moved = capture.segment.added_up[-1][-1] = True
        if self.ranks.wrapper is None and not between:
            self.note(bool(found), at)

    def note(self, moved, at):
        """What a reader of a failed sum would want to know."""
        report, window = self.capture.report, self.capture.window_prefix()
        if not moved:
            report.noted(f"{window}, {at}", "came when no gradient had changed since the last backward pass, where the sum "
                         "over ranks was expected")
        elif at != "added_up()" and self.marks:
            report.noted(f"{window}, {at}", "came without a call of added_up() before it, as there was one in another window")
        elif at != "added_up()" and self.capture.meaning.divide == "window":
            report.noted(f"{window}, {at}", "came when gradients were summed over ranks and divided: call "
                         "recorder.added_up() between the two")

    def section(self, segment, lines):
        """`execution.ranks` of the case."""
        return self.ranks.section(segment.added_up, lines)

    def settled(self, segment, taps, section):
        """The names of a case. A sum behind another micro-batch than the case has them is none: what it left shows in
        the buffers that follow."""
        found, at_the_end = {}, section["communicate"] == "window"
        for name, parts in taps.items():
            place, mark, rest = name.partition("/@reduce.")
            if not mark:
                found[name] = parts
                continue
            window, _, m = place.partition("/m")
            if at_the_end and int(m) + 1 < len(segment.windows[int(window[1:])]):
                continue
            stage = f"{window if at_the_end else place}/reduce"
            way, _, parameter = rest.partition(".")
            found[f"{stage}/{'in.buffer' if way == 'in' else 'reduced'}.{parameter}"] = parts
            if section["reduce"]["divide"] not in ("loss", "unscale") and f"{stage}/in.divisor" not in found:
                found[f"{stage}/in.divisor"] = [segment.scratch.put(torch.tensor(float(self.ranks.size)))]
        return found


class ShardTaps(RankTaps):
    """Taps of fully_shard: a reduce-scatter behind every micro-batch, whose result is added to the rank's rows."""

    def __init__(self, capture, ranks):
        super().__init__(capture, ranks)
        self.read = {}  # whole parameters, as the last forward pass read them

    def begins(self, segment):
        pass

    def gathered(self, name, value):
        """A whole parameter as a forward pass reads it. The first one of a window shows what was gathered behind the step
        before."""
        capture = self.capture
        if name not in capture.parameters or capture.open is not None or capture.meaning.place(capture.count)[1]:
            return
        kept = capture.scratch.put(value)
        if capture.segment is not None and capture.segment.windows:
            capture.segment.taps.setdefault(f"{capture.window_prefix()}/gather_updated/{name}", [kept])
        self.read[name] = kept

    def backward_ends(self, prefix):
        segment = self.capture.segment
        if prefix == "w0/m0":
            for name, kept in self.read.items():
                segment.taps[f"w0/cast/in.{name}"] = [kept]
        for name in self.capture.parameters:
            gradient = segment.taps.get(f"{prefix}/backward/d.{name}")
            if gradient is not None:
                segment.taps[f"{prefix}/reduce/in.d.{name}"] = gradient
        segment.tap_number(f"{prefix}/reduce/in.divisor", self.ranks.size, torch.float32)

    def finish(self):
        """Gathers parameters behind the last window, as no forward pass does it any more; all ranks call this."""
        if not self.capture.recording_step():
            return
        for name, parameter in self.capture.parameters.items():
            whole = parameter.detach().full_tensor()
            self.capture.segment.taps.setdefault(f"{self.capture.window_prefix()}/gather_updated/{name}",
                                                 [self.capture.scratch.put(whole)])

    def settled(self, segment, taps, section):
        found = dict(taps)
        for name, parts in taps.items():
            window, stage, rest = (name.split("/", 2) + ["", ""])[:3]
            if stage == "optimizer" and rest in self.capture.parameters:
                found[f"{window}/gather_updated/in.shard.{rest}"] = parts
        return found
