"""Steps of the optimizer, the GradScaler and the schedules: wrapped, told to the capture and tapped."""
import functools
import types

import torch
from torch.optim import lr_scheduler

from ..user_code import place_of_call
from .accumulation import Change

BASES = getattr(lr_scheduler, "LRScheduler", lr_scheduler._LRScheduler), lr_scheduler.ReduceLROnPlateau


class SeesSteps:
    """Tells `listener` of `step_begins()` and `step_ends()`. A closure runs first: Lightning runs the last micro-batch
    of a window there. `step_ends()` is told as well where it is evaluated once more within a step, or `evaluated()` if
    the listener has that."""

    def __init__(self, optimizer, listener):
        self.optimizer, self.listener = optimizer, listener
        self.own = optimizer.__dict__.get("step")
        original = optimizer.step

        @functools.wraps(original)
        def step(_, *args, **kwargs):
            if self.listener is None:  # removed, while a schedule that was made inside still holds it
                return original(*args, **kwargs)
            args = list(args)
            closure = args[0] if args else kwargs.get("closure")
            if closure is None:
                listener.step_begins()
            elif args:
                args[0] = self.around(closure)
            else:
                kwargs["closure"] = self.around(closure)
            result = original(*args, **kwargs)
            listener.step_ends()
            return result

        self.step = optimizer.step = types.MethodType(step, optimizer)  # a schedule looks for its owner

    def around(self, closure):
        """What is evaluated once more within a step reads what came of it until then: as if a step were over."""
        evaluated = False

        def closed():
            nonlocal evaluated
            if evaluated and self.listener is not None:
                getattr(self.listener, "evaluated", self.listener.step_ends)()
            evaluated, result = True, closure()
            if self.listener is not None:
                self.listener.step_begins()
            return result
        return closed

    def remove(self):
        self.listener = None
        if self.optimizer.__dict__.get("step") is not self.step:
            return
        if self.own is None:
            del self.optimizer.step
        else:
            self.optimizer.step = self.own


def scaler_classes():
    """GradScaler under each name that this PyTorch has for it."""
    found = [torch.cuda.amp.GradScaler]
    if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
        found.insert(0, torch.amp.GradScaler)
    return found


class SeesScaler:
    """Tells `listener` of `unscale_begins(scaler)`, `unscale_ends(scaler, optimizer)` or in its place `checked(found)`, of each device,
    `scaler_updates(scaler)` and `scaler_updated(scaler)`, where the scaler is enabled and unscales this optimizer."""

    def __init__(self, optimizer, listener):
        self.optimizer, self.listener, self.restore = optimizer, listener, []
        for kind in scaler_classes():
            for name in ("unscale_", "_check_inf_per_device", "update"):
                if name in kind.__dict__:
                    self.restore.append((kind, name, kind.__dict__[name]))
                    setattr(kind, name, getattr(self, name)(kind.__dict__[name]))

    def unscale_(self, original):
        @functools.wraps(original)
        def unscale_(scaler, optimizer):
            mine = optimizer is self.optimizer and scaler.is_enabled()
            if mine:
                self.listener.unscale_begins(scaler)
            original(scaler, optimizer)
            if mine:
                self.listener.unscale_ends(scaler, optimizer)
        return unscale_

    def _check_inf_per_device(self, original):
        """A fused optimizer divides by the scale itself: the scaler looks for overflow and no more."""
        @functools.wraps(original)
        def check(scaler, optimizer):
            mine = optimizer is self.optimizer and scaler.is_enabled()
            if mine:
                self.listener.unscale_begins(scaler)
            result = original(scaler, optimizer)
            if mine:
                self.listener.checked(result)
            return result
        return check

    def update(self, original):
        @functools.wraps(original)
        def update(scaler, *args, **kwargs):
            if scaler.is_enabled():
                self.listener.scaler_updates(scaler)
            original(scaler, *args, **kwargs)
            if scaler.is_enabled():
                self.listener.scaler_updated(scaler)
        return update

    def remove(self):
        for kind, name, original in self.restore:
            setattr(kind, name, original)


def any_of(found):
    """Whether the scaler found what is not finite on any device."""
    return any(bool(value.item()) for value in found.values())


class ScalerTaps:
    """Hears of the scaler's calls and taps them in the capture's window."""

    def __init__(self, capture):
        self.capture = capture

    def unscale_begins(self, scaler):
        capture = self.capture
        if not capture.recording_step():
            return
        capture.places.saw("unscale")
        capture.sums.look("the scaler's unscale_")
        segment, w, change = capture.segment, capture.window_prefix(), Change()
        if segment.scale is None:
            segment.scale = {
                "kind": "dynamic", "initial": float(scaler.get_scale()),
                "growth_factor": float(scaler.get_growth_factor()),
                "backoff_factor": float(scaler.get_backoff_factor()),
                "growth_interval": int(scaler.get_growth_interval()),
                "growth_counter": int(scaler._growth_tracker.item())}
        read, segment.scales[len(segment.windows) - 1] = {}, float(scaler.get_scale())
        for name in capture.parameters:
            gradient = capture.views.gradient(name)
            if name in capture.latest:
                change.offer(name, capture.scratch.tensor(capture.latest[name]), gradient)
            read[name] = gradient
        if capture.keeps_gradients():
            for name, gradient in read.items():
                if gradient is not None:
                    tap = "overflow_check/in.buffer" if change.kind == "none" else "@clipped"
                    segment.tap_first(f"{w}/{tap}.{name}", gradient)
        window = capture.meaning.place(capture.count - 1)[0]
        if change.kind == "unexplained" and capture.stands_alone():
            capture.put_in_place(f"before unscale_ of window {window}")
        elif change.kind == "unexplained":
            capture.report.unexplained(f"window {window}, before unscale_", change)
        elif change.kind != "none":
            capture.report.noted(f"window {window}, all gradients",
                                 "were changed before unscale_, as a clip before unscaling does")
        capture.buffers_are_final()
        capture.unscaled = True

    def checked(self, found):
        """The check alone is over; the optimizer that follows reads the same buffers."""
        capture = self.capture
        if not capture.recording_step():
            return
        self.found(any_of(found))
        for name, parameter in capture.parameters.items():
            if name not in capture.latest and parameter.grad is not None:
                capture.latest[name] = capture.scratch.put(capture.views.gradient(name))

    def found(self, found):
        capture = self.capture
        capture.skips += found
        if found:
            capture.waits, capture.count_at_step = False, capture.count
        stages = ("overflow_check/", "agree/in.", "agree/") if capture.sums else ("overflow_check/",)
        for stage in stages:
            capture.segment.tap_number(f"{capture.window_prefix()}/{stage}found", int(found), torch.uint8)

    def unscale_ends(self, scaler, optimizer):
        capture = self.capture
        if not capture.recording_step():
            return
        segment, w = capture.segment, capture.window_prefix()
        found = any_of(scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"])
        self.found(found)
        for name, parameter in capture.parameters.items():
            if parameter.grad is None or found:
                continue
            if capture.keeps_gradients():
                segment.tap_first(f"{w}/unscale/d.{name}", capture.views.gradient(name).float())
            capture.latest[name] = capture.scratch.put(capture.views.gradient(name))
        if not found:
            segment.tap_number(f"{w}/unscale/in.inverse_scale", 1 / float(scaler.get_scale()), torch.float32)

    def scaler_updates(self, scaler):
        self.capture.take_back()  # an update closes what all optimizers that share the scaler did
        self.tap(scaler, "in.", False)

    def scaler_updated(self, scaler):
        self.tap(scaler, "", True)

    def tap(self, scaler, prefix, last):
        capture = self.capture
        if not capture.recording_step() or capture.segment.scale is None:
            return
        segment, w = capture.segment, capture.window_prefix()
        segment.tap_number(f"{w}/scaler/{prefix}scale", float(scaler.get_scale()), torch.float32, last)
        segment.tap_number(f"{w}/scaler/{prefix}growth_counter", int(scaler._growth_tracker.item()), torch.int64, last)
        if prefix:
            segment.tap_number(f"{w}/scaler/in.found", int(bool(capture.skips)), torch.uint8)


def kinds_below(kind):
    yield kind
    for further in kind.__subclasses__():
        yield from kinds_below(further)


class SeesSchedules:
    """Tells `moved(schedule, place)` of every call that gave the optimizer other rates. A schedule that moves others
    counts as one, and the call that makes a schedule as none."""

    def __init__(self, optimizer, moved, guard):
        self.optimizer, self.moved, self.guard, self.depth, self.restore = optimizer, moved, guard, 0, []
        for kind in {each for base in BASES for each in kinds_below(base) if "step" in vars(each)}:
            self.restore.append((kind, kind.step))
            kind.step = self.around(kind.step)

    def rates(self):
        return [float(group["lr"]) for group in self.optimizer.param_groups if "lr" in group]

    def around(self, original):
        @functools.wraps(original)
        def step(schedule, *args, **kwargs):
            outer, before = not self.depth and getattr(schedule, "optimizer", None) is self.optimizer, self.guard.tried(self.rates)
            self.depth += 1
            try:
                result = original(schedule, *args, **kwargs)
            finally:
                self.depth -= 1
            if outer and getattr(schedule, "_step_count", None) != 1 and self.guard.tried(self.rates, otherwise=before) != before:
                self.guard.tried(self.moved, schedule, place_of_call())
            return result
        return step

    def remove(self):
        for kind, original in self.restore:
            kind.step = original


class Moves:
    """The part of a capture that counts, for each schedule, the backward passes behind which it moved since the
    optimizer's last step."""

    def schedule_moved(self, schedule, place):
        name, places, _ = self.moves.setdefault(id(schedule), (type(schedule).__name__, set(), place))
        places.add(self.count)

    def look_at_schedules(self, moves, window, size):
        """Accuses a schedule that moved with every micro-batch, before the step of a window of `size`."""
        inside = {self.count - k for k in range(1, size)}
        for name, places, place in moves.values():
            if inside and inside <= places and len(places) > 1:
                self.report.add(self.report.wrong_lines, "schedule", (
                    f"{name} moved lr {len(places)} times before the step of window {window}, with every micro-batch, at {place}: the "
                    "whole batch's loop moves it once; call its step() only after optimizer.step(); looks like sched-per-microbatch"))
