"""Notes the calls of PyTorch's clips, by whichever name a loop calls them. What they do is seen by the gradients."""
import functools
from collections.abc import Iterator

import torch

from .guard import Guard
from .namespaces import put_everywhere
from .places import place_of_call
from .views import dense

NORMS = (1, 2, "inf")  # of which a case states the clip by norm


def words(section):
    """A clip as its call would read."""
    if section["kind"] == "value":
        return f"clip_grad_value_({section['max_value']!r})"
    return f"clip_grad_norm_({section['max_norm']!r}, norm_type={section['norm']})"


class SeesClips:
    """`called` holds the clips as sections of a recipe, each once; `over` the parameters of each one's calls. Calls
    count while `wanted()` says so."""

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
        """Before the call; the section of the clip."""
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
        place, changed = self.late.get(words(section), (place_of_call(), False))
        self.late[words(section)] = place, changed or most > section.get("max_norm", section.get("max_value"))

    def lines(self):
        return [f"look at a clip: {said} at {place} comes behind the step that it is to limit; call it before optimizer.step()"
                for said, (place, changed) in self.late.items() if not changed]

    def wrongs(self):
        """A clip behind the step, or one that saw no parameter, clips nothing, whatever it was meant to."""
        found = [f"{said} at {place} comes behind the step, and clips what no step reads; call it before optimizer.step()"
                 for said, (place, changed) in self.late.items() if changed]
        if self.over_nothing is None or self.called:
            return found
        return found + [f"{words(self.over_nothing)} was given no parameter, so that nothing is clipped; give it a list, as an iterator "
                "(filter, model.parameters()) is used up once the optimizer has read it"]

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
            why = "its norm was also that of gradients that are not recorded"
        if len(found) > 1 and why is None:
            why = "a case states one clip"
        return ([], f"{' and '.join(map(words, found))}: {why}") if why else (found, None)

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
        """Also takes the wrapper from modules that were loaded in between."""
        put_everywhere(self.restore)
