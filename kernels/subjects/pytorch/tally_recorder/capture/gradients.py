"""Gradients: hooks that hear of each before and after it is accumulated, and the clips and other writes that change one."""
import functools
import weakref
from collections.abc import Iterator

import torch

from ..user_code import Guard, Hooked, place_of_call, put_everywhere, unseen
from .parameters import dense

VIEWS = {"__getitem__", "detach", "view", "reshape", "flatten", "narrow", "select", "t"}
IN_PLACE = {"__setitem__", "__imul__", "__iadd__", "__isub__", "__itruediv__"}
ALL_ALIKE = {"requires_grad_", "zero_", "_foreach_zero_"}  # leave the elements as they are, or clear them
NORMS = (1, 2, "inf")  # a case states clips by these


class SeesGradients(Hooked):
    """Tells `listener` of backward passes: `backward_begins(roots)`, `gradient(name, value)`, `accumulated(name)` and
    `backward_ends()`; and of `grad_begins()` and `grad_ends()` around `torch.autograd.grad`, which accumulates nothing."""

    def __init__(self, parameters, listener):
        self.listener, self.depth, self.inside, self.unannounced = listener, 0, 0, False
        self.nodes, self.handles = {}, []
        for name, parameter in parameters.items():
            with torch.enable_grad():
                node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            self.nodes[node] = name  # the node dies, and its hooks with it, when nothing holds it
            self.handles.append(parameter.register_hook(self.before(name)))
            self.handles.append(node.register_hook(self.after(name)))
        self.original = torch.autograd.backward
        torch.autograd.backward = self.backward
        self.grads = torch.autograd.grad, self.around(torch.autograd.grad)
        put_everywhere([self.grads])

    def around(self, original):
        @functools.wraps(original)
        def grad(*args, **kwargs):
            self.inside += 1
            self.listener.grad_begins()
            try:
                return original(*args, **kwargs)
            finally:
                self.inside -= 1
                self.listener.grad_ends()
        return grad

    def before(self, name):
        def arrives(gradient):
            if self.inside:
                return
            if not self.depth and not self.unannounced:  # a backward pass by a name that was taken before this one
                self.unannounced = True
                torch.autograd.Variable._execution_engine.queue_callback(self.unannounced_ends)
            self.listener.gradient(name, gradient.detach())
        return arrives

    def unannounced_ends(self):
        self.unannounced = False
        self.listener.backward_ends()

    def after(self, name):
        return lambda *_: self.listener.accumulated(name)

    def backward(self, tensors, *args, **kwargs):
        """Stands in for `torch.autograd.backward`, through which `Tensor.backward` goes as well."""
        self.depth += 1
        try:
            if self.depth == 1:
                self.listener.backward_begins((tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors))
            self.original(tensors, *args, **kwargs)
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.listener.backward_ends()

    def remove(self):
        torch.autograd.backward = self.original
        put_everywhere([self.grads[::-1]])
        super().remove()


class Followed(dict):
    """Tensors by their ids, each for as long as it lives."""

    def add(self, tensor):
        if isinstance(tensor, torch.Tensor):
            key = id(tensor)
            self[key] = weakref.ref(tensor, lambda _: self.pop(key, None))

    def __contains__(self, tensor):
        found = self.get(id(tensor))
        return found is not None and found() is tensor


class GradientWrites:
    """Follows the gradients of parameters, and views of them, as the program takes them in its hands; `last` is where it
    wrote to one, `late` where it first did so while `is_late()`, and left anything."""

    def __init__(self, parameters, is_late):
        self.parameters, self.held, self.last = {id(parameter) for parameter in parameters}, Followed(), None
        self.is_late, self.late = is_late, None

    def called(self, function, arguments, result):
        name = getattr(function, "__name__", "")
        if name in ("__get__", "__set__"):
            of, owner = getattr(function, "__self__", None), arguments[0] if arguments else None
            if of is torch.Tensor.grad and id(owner) in self.parameters:
                if name == "__get__":
                    self.held.add(result)
                elif arguments[1] is not None:
                    self.last = place_of_call()
            elif of is torch.Tensor.data and name == "__get__" and owner in self.held:
                self.held.add(result)
            return
        if not self.held or not arguments:
            return
        if name in IN_PLACE or name.endswith("_") and not name.endswith("__"):
            first = arguments[0]
            first = first if isinstance(first, (list, tuple)) else [first]
            if any(each in self.held for each in first):
                self.last = place_of_call()
                if self.late is None and name not in ALL_ALIKE and self.is_late() and any(bool(each.any()) for each in first):
                    self.late = self.last
        elif name in VIEWS and arguments[0] in self.held:
            self.held.add(result)

    def lines(self):
        return [] if self.late is None else [f"look at a change after the step: gradients are changed at {self.late}, where no step "
                                             "reads them; move it before optimizer.step()"]


def clip_in_words(section):
    """A clip as its call would read."""
    if section["kind"] == "value":
        return f"clip_grad_value_({section['max_value']!r})"
    return f"clip_grad_norm_({section['max_norm']!r}, norm_type={section['norm']})"


class SeesClips:
    """Notes the calls of PyTorch's clips, by whichever name a loop calls them. `called` holds the clips as sections of
    a recipe, each once; `over` the parameters of each one's calls. Calls count while `wanted()` says so."""

    def __init__(self):
        self.called, self.over, self.restore = [], [], []
        self.wanted = lambda: True
        self.begins = lambda: None  # is told before a clip changes anything
        self.is_late = lambda: False  # whether no backward pass came since the last step
        self.late = {}  # a clip that came behind the step, by its words: where, and whether it changed anything
        self.normed = lambda norm: None  # is told of each norm of all that a clip found
        self.guard, self.over_nothing = Guard(), None  # the recorder's, once there is one; a clip that saw no parameter
        self.recorded, self.beside = set(), None  # parameters by id, and a clip by the norm of others as well
        for name, section in (("clip_grad_norm_", self.by_norm), ("clip_grad_value_", self.by_value)):
            original = getattr(torch.nn.utils.clip_grad, name)
            self.restore.append((self.around(original, section), original))
        put_everywhere((original, wrapper) for wrapper, original in self.restore)

    def around(self, original, section):
        @functools.wraps(original)
        def clip(parameters, *args, **kwargs):
            if isinstance(parameters, Iterator):
                parameters = list(parameters)
            over = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            found = self.guard.tried(self.clips, section, over, args, kwargs)
            result = original(parameters, *args, **kwargs)
            if found is not None:
                self.guard.tried(self.clipped, found, over, result)
            return result
        return clip

    def clips(self, section, parameters, args, kwargs):
        """The section of the clip that is about to run."""
        if not self.wanted():
            return None
        limit = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
        found = section(float(limit), *args[1:], **kwargs)
        if found is not None and parameters and self.is_late() and not self.recorded.isdisjoint(map(id, parameters)):
            return self.note_late(found, [parameter.grad for parameter in parameters if parameter.grad is not None])
        if found is not None and not parameters:
            self.over_nothing = self.over_nothing or found
        elif found is not None:
            self.note(found, parameters)
        self.begins()
        return found

    def clipped(self, found, parameters, result):
        if found["kind"] == "global_norm" and self.wanted() and self.recorded <= set(map(id, parameters)):
            self.normed(result)

    def note_late(self, section, gradients):
        """A clip of what no step reads any more is no clip of the window."""
        if section["kind"] == "value":
            most = max((float(dense(each).abs().max()) for each in gradients if each.numel()), default=0.0)
        else:
            most = float(torch.stack([torch.norm(dense(each).float(), float(section["norm"])) for each in gradients] or
                                     [torch.zeros(())]).norm(float(section["norm"])))
        place, changed = self.late.get(clip_in_words(section), (place_of_call(), False))
        self.late[clip_in_words(section)] = place, changed or most > section.get("max_norm", section.get("max_value"))

    def lines(self):
        return [f"look at a clip: {said} at {place} comes after the step that it should limit; call it before optimizer.step()"
                for said, (place, changed) in self.late.items() if not changed]

    def wrongs(self):
        """A clip behind the step, or one that saw no parameter, clips nothing, whatever it was meant to."""
        found = [f"{said} at {place} comes after the step, and clips gradients that no step reads; call it before optimizer.step()"
                 for said, (place, changed) in self.late.items() if changed]
        if self.over_nothing is None or self.called:
            return found
        return found + [f"{clip_in_words(self.over_nothing)} got no parameters, so that nothing is clipped; pass a list, as an iterator (filter, "
                        "model.parameters()) is exhausted once the optimizer has read it"]

    def note(self, section, parameters):
        if section not in self.called:
            self.called.append(section)
            self.over.append(set())
        self.over[self.called.index(section)].add(frozenset(map(id, parameters)))
        others = [parameter.grad for parameter in parameters if id(parameter) not in self.recorded]
        if section["kind"] == "global_norm" and any(grad is not None and bool(dense(grad).any()) for grad in others):
            self.beside = section

    def stated(self, parameters):
        """The calls over these parameters, as sections; and why no case states them, where none does."""
        wanted, found, why = {id(parameter) for parameter in parameters}, [], None
        for section, calls in zip(self.called, self.over):
            mine = [call & wanted for call in calls if call & wanted]
            if not mine:
                continue
            if section.get("norm", 2) not in NORMS:
                why = "a case states the norms 1, 2 and inf"
            # Clamping each layer by one limit is clamping all; a norm must be that of all.
            most = max(mine, key=len) if section["kind"] == "global_norm" else frozenset().union(*mine)
            if most != wanted:
                why = f"it was called over at most {len(most)} of {len(wanted)} parameters"
            found.append(section)
        if self.beside in found:
            why = "its norm included gradients that are not recorded"
        if len(found) > 1 and why is None:
            why = "a case states one clip"
        return ([], f"{' and '.join(map(clip_in_words, found))}: {why}") if why else (found, None)

    @staticmethod
    def by_norm(limit, norm_type=2.0, *_, **__):
        if limit == float("inf"):
            return None  # asks for the norm alone, to log it
        if norm_type in (1, 2, "inf", float("inf")):
            norm_type = int(norm_type) if norm_type in (1, 2) else "inf"
        return {"kind": "global_norm", "max_norm": limit, "norm": norm_type}

    @staticmethod
    def by_value(limit, *_, **__):
        if limit == float("inf"):
            return None
        return {"kind": "value", "max_value": limit}

    def remove(self):
        """Puts PyTorch's clips back, also in modules that were loaded in between."""
        put_everywhere(self.restore)


class Norms:
    """The norms that PyTorch's clips give back in the window that is recorded. A clip that a case can state is called
    once, behind the last backward pass."""

    def __init__(self, capture):
        self.capture, self.found = capture, []

    @unseen
    def seen(self, norm):
        _, m, size = self.capture.meaning.place(self.capture.count - 1)
        self.found.append(norm if m + 1 == size and self.capture.open is None else None)

    def tap(self, window):
        if len(self.found) == 1 and self.found[0] is not None:
            if not hasattr(self.found[0], "to_local"):  # else no rank holds the whole of it yet
                self.capture.segment.tap_first(f"{window}/@norm", self.found[0].detach().float().reshape(()))
