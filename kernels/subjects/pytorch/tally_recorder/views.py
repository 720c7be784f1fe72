"""What is kept of the loop's tensors, by the name of their parameter."""


def dense(value):
    return value.to_dense() if value.is_sparse else value


class Views:
    """`turned` names the weights that the network holds as [in, out]; a case has them as [out, in]."""

    def __init__(self, parameters, reads, samples, turned=frozenset()):
        self.parameters, self.reads, self.samples, self.turned = parameters, reads, samples, turned

    def turn(self, name, value):
        return value.t() if name in self.turned and value is not None and value.dim() == 2 else value

    def as_stated(self, name, value):
        return self.turn(name, self.samples.of(name, value))

    def part(self, name, value):
        """Of a gradient that belongs to this parameter."""
        return self.as_stated(name, dense(value))

    def gradient(self, name):
        """Of .grad; None where there is none."""
        gradient = self.parameters[name].grad
        return None if gradient is None else self.part(name, gradient.detach())

    def sum_of_squares(self):
        """Of every .grad, sampled or not."""
        gradients = (parameter.grad for parameter in self.parameters.values())
        return self.samples.sum_of_squares(dense(each) for each in gradients if each is not None)

    def value(self, name):
        return self.as_stated(name, self.parameters[name])

    def state(self, name):
        """Of the optimizer's state."""
        return {key: self.as_stated(name, value) for key, value in self.reads.state(self.parameters[name]).items()}
