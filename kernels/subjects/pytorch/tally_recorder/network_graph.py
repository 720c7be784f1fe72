"""The layers of a network that is no Sequential, read from its forward by torch.fx: which layer reads which."""
import operator

import torch
import torch.fx
import torch.nn.functional as F

from .errors import CaptureError

SUMS = (operator.add, operator.iadd, torch.add)
FUNCTIONS = {torch.relu: "relu", F.relu: "relu", torch.tanh: "tanh", torch.sigmoid: "sigmoid", F.silu: "silu",
             F.gelu: "gelu"}
METHODS = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid"}


def layer_named(module):
    """What a case calls a module: names of layers have no dots."""
    return module.replace(".", "_")


def layers_of_network(model, layer_of):
    """The layers in the order in which they run, each with the names of what it reads."""
    try:
        graph = torch.fx.symbolic_trace(model).graph
    except Exception as problem:  # whatever a forward may raise
        raise CaptureError(f"model: found a {type(model).__name__} whose forward torch.fx cannot follow ({problem}), "
                           "expected calls of modules and sums of what they leave; record it as opaque") from problem
    graph.eliminate_dead_code()
    reads = Reads(model, layer_of)
    for node in graph.nodes:
        reads.add(node)
    return reads.layers


class Reads:
    """The graph's nodes become layers one by one."""

    def __init__(self, model, layer_of):
        self.modules, self.layer_of = dict(model.named_modules()), layer_of
        self.layers, self.names = [], {}  # by node: what a case calls its value

    def add(self, node):
        if node.op == "placeholder":
            if self.names:
                refuse(node, "a second input of the model")
            self.names[node] = "input"
        elif node.op == "output":
            if not self.layers or self.names.get(node.args[0]) != self.layers[-1]["name"]:
                refuse(node, "an output that is not what the last layer leaves")
        else:
            self.add_layer(node, self.layer_at(node))

    def layer_at(self, node):
        if node.op == "call_module":
            name = layer_named(node.target)
            if any(name == other["name"] for other in self.layers):
                refuse(node, f"two calls of {node.target}, or of modules of one name but for dots")
            return {**self.layer_of(name, self.modules[node.target]), "name": name}
        sums = SUMS if node.op == "call_function" else ("add", "add_") if node.op == "call_method" else ()
        if node.target in sums and len(node.args) == 2 and not node.kwargs:
            return {"kind": "add"}
        functions = FUNCTIONS if node.op == "call_function" else METHODS if node.op == "call_method" else {}
        kind = functions.get(node.target)
        options = {name: value for name, value in node.kwargs.items() if name != "inplace"}
        if kind is None or len(node.args) != 1 or options and (kind != "gelu" or set(options) != {"approximate"}):
            refuse(node, f"{node.target} ({node.op})")
        return {"kind": kind, **options}

    def is_in_place(self, node):
        """Whether it overwrites its first operand."""
        module = self.modules[node.target] if node.op == "call_module" else None
        return (node.target is operator.iadd or getattr(module, "inplace", False) or node.kwargs.get("inplace", False)
                or node.op == "call_method" and node.target.endswith("_"))

    def add_layer(self, node, layer):
        changed = node.args[0] if self.is_in_place(node) else None
        if isinstance(changed, torch.fx.Node) and comes_before_a_reader(node, changed):
            refuse(node, f"{changed.name} changed in place and read again")
        inputs = []
        for argument in node.args:
            if not isinstance(argument, torch.fx.Node) or argument not in self.names:
                refuse(node, f"an operand that no layer leaves ({argument})")
            inputs.append(self.names[argument])
        layer.setdefault("name", f"f_{node.name}")
        layer["inputs"] = inputs
        self.names[node] = layer["name"]
        self.layers.append(layer)


def comes_before_a_reader(node, value):
    """Whether `value` is read behind the node."""
    order = list(node.graph.nodes)
    return any(order.index(reader) > order.index(node) for reader in value.users)


def refuse(node, found):
    raise CaptureError(f"model, at {node.name}: found {found}, expected layers that Tally knows and sums of what they "
                       "leave; record the model as opaque")
