"""Hooks on parameters: each micro-batch's gradient before it is accumulated, and the buffer after it."""
import functools

import torch

from .namespaces import put_everywhere


class SeesGradients:
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
        for handle in self.handles:
            handle.remove()
