"""Wraps the optimizer's step and the GradScaler's methods, and tells the capture when they begin and end."""
import functools
import types

import torch


class SeesSteps:
    """Tells `listener` of `step_begins()` and `step_ends()`. A closure runs first: Lightning runs the last micro-batch
    of a window there. Where it is evaluated once more within a step, `step_ends()` is told as well, or `evaluated()` if
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
