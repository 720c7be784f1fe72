"""What is kept of the loop's tensors, by the name of their parameter."""


def dense(value):
    return value.to_dense() if value.is_sparse else value


class Views:
    def __init__(self, parameters, reads, samples):
        self.parameters, self.reads, self.samples = parameters, reads, samples

    def part(self, name, value):
        """Of a gradient that belongs to this parameter."""
        return self.samples.of(name, dense(value))

    def gradient(self, name):
        """Of .grad; None where there is none."""
        gradient = self.parameters[name].grad
        return None if gradient is None else self.part(name, gradient.detach())

    def sum_of_squares(self):
        """Of every .grad, sampled or not."""
        gradients = (parameter.grad for parameter in self.parameters.values())
        return self.samples.sum_of_squares(dense(each) for each in gradients if each is not None)

    def value(self, name):
        return self.samples.of(name, self.parameters[name])

    def state(self, name):
        """Of the optimizer's state."""
        return {key: self.samples.of(name, value) for key, value in self.reads.state(self.parameters[name]).items()}
