"""What a verdict does not cover: parameters that no group of the optimizer holds."""


def counted(first, others):
    """A name, and how many there are besides it."""
    return first + (f" (and {others} more)" if others else "")


class Outside:
    """Parameters of the model that require a gradient and are in no group when the recorder is made."""

    def __init__(self, parameters, optimizer):
        self.parameters, self.optimizer, self.reached, self.handles = parameters, optimizer, set(), []

    def attach(self):
        self.handles = [parameter.register_hook(lambda _, name=name: self.reached.add(name))
                        for name, parameter in self.parameters.items()]

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def lines(self):
        """One line for those that no group holds, one for those that a group was given later."""
        held = {id(parameter) for group in self.optimizer.param_groups for parameter in group["params"]}
        late = [name for name, parameter in self.parameters.items() if id(parameter) in held]
        never = [name for name in self.parameters if name not in late]
        reached = [name for name in never if name in self.reached]
        found = []
        if reached:
            found.append(f"not judged: {counted(reached[0], len(reached) - 1)} is in no group of the optimizer and "
                         "receives gradients that no step uses")
        still = [name for name in never if name not in self.reached]
        if still:
            found.append(f"not judged: {counted(still[0], len(still) - 1)} is in no group of the optimizer")
        if late:
            found.append(f"not judged: {counted(late[0], len(late) - 1)} was added to the optimizer after the "
                         "recording began")
        return found
