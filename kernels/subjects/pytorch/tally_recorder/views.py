"""What is kept of the loop's tensors, by the name of their parameter."""
from .sharded import local


def dense(value):
    return value.to_dense() if value.is_sparse else value


class Views:
    """`turned` names the weights that the network holds as [in, out]; a case has them as [out, in]."""

    def __init__(self, parameters, reads, samples, turned=frozenset()):
        self.parameters, self.reads, self.samples, self.turned = parameters, reads, samples, turned
        self.shared = any(hasattr(parameter, "to_local") for parameter in parameters.values())

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
        return None if gradient is None else self.own(self.part(name, local(gradient.detach())))

    def sum_of_squares(self):
        """Of every .grad, sampled or not."""
        gradients = (parameter.grad for parameter in self.parameters.values())
        return self.samples.sum_of_squares(dense(each) for each in gradients if each is not None)

    def given(self, name):
        """What a case is given of it: of ranks that share it the rank's own rows."""
        return self.as_stated(name, local(self.parameters[name].detach()))

    def given_state(self, name):
        return {key: self.as_stated(name, local(value)) for key, value in self.reads.state(self.parameters[name]).items()}

    def value(self, name):
        return self.own(self.given(name))

    def state(self, name):
        """Of the optimizer's state."""
        return {key: self.own(value) for key, value in self.given_state(name).items()}

    def own(self, value):
        """A tap of what ranks share holds the rank's elements in a row."""
        return value.reshape(-1) if self.shared else value
