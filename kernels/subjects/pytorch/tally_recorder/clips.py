"""Notes the calls of PyTorch's clips, by whichever name a loop calls them. What they do is seen by the gradients."""
import functools
import sys

import torch


def put_everywhere(old, new):
    """Replaces an object in the namespaces of all modules that are loaded, also where they imported it by name."""
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if isinstance(space, dict):
            for name in [name for name, value in list(space.items()) if value is old]:
                space[name] = new


class SeesClips:
    """`called` holds the clips as sections of a recipe, each once."""

    def __init__(self):
        self.called, self.restore = [], []
        for name, section in (("clip_grad_norm_", self.by_norm), ("clip_grad_value_", self.by_value)):
            original = getattr(torch.nn.utils.clip_grad, name)
            self.restore.append((self.around(original, section), original))
            put_everywhere(original, self.restore[-1][0])

    def around(self, original, section):
        @functools.wraps(original)
        def clip(parameters, *args, **kwargs):
            limit = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
            found = section(float(limit), *args[1:], **kwargs)
            if found is not None and found not in self.called:
                self.called.append(found)
            return original(parameters, *args, **kwargs)
        return clip

    @staticmethod
    def by_norm(limit, norm_type=2.0, *_, **__):
        if limit == float("inf"):
            return None  # asks for the norm alone, to log it
        return {"kind": "global_norm", "max_norm": limit,
                "norm": "inf" if norm_type in ("inf", float("inf")) else int(norm_type)}

    @staticmethod
    def by_value(limit, *_, **__):
        if limit == float("inf"):
            return None
        return {"kind": "value", "max_value": limit}

    def remove(self):
        """Also takes the wrapper from modules that were loaded in between."""
        for wrapper, original in self.restore:
            put_everywhere(wrapper, original)
