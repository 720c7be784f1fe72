"""Parameters that stand still: a case has their values, and no window may change them."""
from .changes import same


class Frozen:
    def __init__(self, parameters, views):
        self.parameters, self.views, self.segment, self.kept = parameters, views, None, {}

    def look(self, segment, report, window):
        """At the beginning of a window: gives them to a stretch that begins with it, else holds them to what it has."""
        if segment is not self.segment:
            self.segment = segment
            for name, parameter in self.parameters.items():
                value = self.views.turn(name, parameter)
                segment.give(name, value)
                self.kept[name] = segment.tensors[name][0]
            return
        for name, parameter in self.parameters.items():
            if not same(segment.scratch.tensor(self.kept[name]), self.views.turn(name, parameter.detach())):
                report.problem(f"window {window}, {name}", "other values than when the recording began",
                               "the same, as the optimizer does not train it", "record it among the optimizer's "
                               "parameters, or the model as opaque")
