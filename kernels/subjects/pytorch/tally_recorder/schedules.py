"""Schedules that move with every micro-batch, where the whole batch's loop would move them once a step."""
import functools

from torch.optim import lr_scheduler

from .places import place_of_call

BASES = getattr(lr_scheduler, "LRScheduler", lr_scheduler._LRScheduler), lr_scheduler.ReduceLROnPlateau


def kinds_below(kind):
    yield kind
    for further in kind.__subclasses__():
        yield from kinds_below(further)


class SeesSchedules:
    """Tells `moved(schedule, place)` of every call that gave the optimizer other rates. A schedule that moves others is heard of
    itself; the call by which one is made is none."""

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
    """Of a capture: of each schedule, behind how many backward passes it moved since the optimizer's last step."""

    def schedule_moved(self, schedule, place):
        name, places, _ = self.moves.setdefault(id(schedule), (type(schedule).__name__, set(), place))
        places.add(self.count)

    def look_at_schedules(self, moves, window, size):
        """Before the step of a window of so many micro-batches."""
        inside = {self.count - k for k in range(1, size)}
        for name, places, place in moves.values():
            if inside and inside <= places and len(places) > 1:
                self.report.add(self.report.wrong_lines, "schedule", (
                    f"{name} moved lr {len(places)} times before the step of window {window}, with every micro-batch, at {place}: the "
                    "whole batch's loop moves it once; call its step() behind optimizer.step() alone; looks like sched-per-microbatch"))
