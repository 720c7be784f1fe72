"""Models as a case describes them: one opaque layer, or the layers that Tally knows, of which torch.fx says which reads which."""
import operator

import torch
import torch.fx
import torch.nn as nn

from ..user_code import CaptureError
from .activations import OF_FUNCTION, OF_METHOD, OF_MODULE, OF_TRANSFORMERS
from .dropout import without_dropout
from .language_models import ALL_ROWS, family_of, layers_of, rows_of_batch
from .layers import labels, layer_named

SUMS = (operator.add, operator.iadd, torch.add)
CALLS = {"call_function": OF_FUNCTION, "call_method": OF_METHOD}


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
                refuse_node(node, "a second input of the model")
            self.names[node] = "input"
        elif node.op == "output":
            if not self.layers or self.names.get(node.args[0]) != self.layers[-1]["name"]:
                refuse_node(node, "an output that is not what the last layer leaves")
        else:
            self.add_layer(node, self.layer_at(node))

    def layer_at(self, node):
        if node.op == "call_module":
            name = layer_named(node.target)
            if any(name == other["name"] for other in self.layers):
                refuse_node(node, f"two calls of {node.target}, or of modules of one name but for dots")
            return {**self.layer_of(name, self.modules[node.target]), "name": name}
        sums = SUMS if node.op == "call_function" else ("add", "add_") if node.op == "call_method" else ()
        if node.target in sums and len(node.args) == 2 and not node.kwargs:
            return {"kind": "add"}
        activation = CALLS.get(node.op, {}).get(node.target)
        layer = activation and activation.of_call(node)
        if not layer:
            refuse_node(node, f"{node.target} ({node.op})")
        return layer

    def is_in_place(self, node):
        """Whether it overwrites its first operand."""
        module = self.modules[node.target] if node.op == "call_module" else None
        return (node.target is operator.iadd or getattr(module, "inplace", False) or node.kwargs.get("inplace", False)
                or node.op == "call_method" and node.target.endswith("_"))

    def add_layer(self, node, layer):
        changed = node.args[0] if self.is_in_place(node) else None
        if isinstance(changed, torch.fx.Node) and comes_before_a_reader(node, changed):
            refuse_node(node, f"{changed.name} changed in place and read again")
        inputs = []
        for argument in node.args[:1] if node.target in CALLS.get(node.op, {}) else node.args:
            if not isinstance(argument, torch.fx.Node) or argument not in self.names:
                refuse_node(node, f"an operand that no layer leaves ({argument})")
            inputs.append(self.names[argument])
        layer.setdefault("name", f"f_{node.name}")
        layer["inputs"] = inputs
        self.names[node] = layer["name"]
        self.layers.append(layer)


def comes_before_a_reader(node, value):
    """Whether `value` is read behind the node."""
    order = list(node.graph.nodes)
    return any(order.index(reader) > order.index(node) for reader in value.users)


def refuse_node(node, found):
    raise CaptureError(f"model, at {node.name}: found {found}, expected layers that Tally knows and sums of what they "
                       "leave; record the model as opaque")


class OpaqueModel:
    """The network is one layer whose forward and backward are not stated; its gradients are inputs of the case."""
    prefix, last, wants_input, shared, turned, frozen, modules = "model.", "model", False, frozenset(), frozenset(), {}, {}

    def name_of(self, parameter):
        return self.prefix + parameter

    def section(self, segment, capture, loss):
        tensors = {name[len(self.prefix):]: capture.samples.shape(name, parameter) for name, parameter in capture.parameters.items()
                   if name in segment.touched}
        layer = {"kind": "opaque", "name": "model", "tensors": tensors}
        known = next((seen for seen in segment.losses if not isinstance(seen, str)), None)
        if known is not None and loss["kind"] != "opaque":
            layer["out"] = known.y.shape[-1]
        return {"input": 0, "layers": [layer], "loss": loss}

    def drops(self):
        return False

    def lines(self, trains):
        return ["not judged: forward and backward (the model is opaque; its micro-batches' gradients are inputs)"]


def layer_of(name, module):
    """A layer of a case for a module that is known."""
    kind = type(module)
    of_transformers = kind.__name__ if kind.__module__.startswith("transformers.") else ""
    if kind is nn.Linear:
        return {"kind": "linear", "name": name, "out": module.out_features, "bias": module.bias is not None}
    if of_transformers == "Conv1D":
        return {"kind": "linear", "name": name, "out": module.nf, "bias": module.bias is not None}
    if kind is nn.Dropout:
        return {"kind": "dropout", "name": name, "p": module.p}
    if kind in OF_MODULE:
        return OF_MODULE[kind].of_module(name, module)
    if of_transformers in OF_TRANSFORMERS:
        return dict(OF_TRANSFORMERS[of_transformers])
    if kind is nn.Embedding or of_transformers == "GemmaTextScaledWordEmbedding":
        return embedding_of(name, module)
    if kind is nn.LayerNorm and len(module.normalized_shape) == 1:
        return {"kind": "layer_norm", "name": name, "eps": module.eps, "affine": module.elementwise_affine}
    if of_transformers.endswith("RMSNorm") and hasattr(module, "variance_epsilon"):
        return {"kind": "rms_norm", "name": name, "eps": module.variance_epsilon}
    if of_transformers == "GemmaRMSNorm":
        return {"kind": "rms_norm", "name": name, "eps": module.eps, "offset": 1}
    if kind is getattr(nn, "RMSNorm", None) and len(module.normalized_shape) == 1 and module.eps is not None:
        return {"kind": "rms_norm", "name": name, "eps": module.eps, "affine": module.elementwise_affine}
    raise CaptureError(f"layer {name}: found {kind.__name__}, expected linear, embedding, layer_norm, rms_norm, dropout "
                       "or an activation that Tally knows; record the model as opaque")


def embedding_of(name, module):
    """A table whose rows are looked up, and nothing else done to them."""
    if module.max_norm is not None or module.scale_grad_by_freq or module.sparse:
        raise CaptureError(f"layer {name}: found an Embedding with max_norm, scale_grad_by_freq or sparse, expected "
                           "one without; record the model as opaque")
    padding = {} if module.padding_idx is None else {"padding_index": module.padding_idx}
    return {"kind": "embedding", "name": name, "width": module.embedding_dim, **padding}


def tie(layers, modules):
    """Marks linear layers whose weight is an embedding's table as tied to it; returns what their weights are called
    then, by the names that they would have."""
    tables = {id(module.weight): name for name, module in modules.items() if isinstance(module, nn.Embedding)}
    called = {}
    for layer in layers:
        module = modules.get(layer.get("name"))
        if type(module) is nn.Linear and id(module.weight) in tables:
            layer["tied"] = tables[id(module.weight)]
            del layer["out"]
            called[f"{layer['name']}.weight"] = f"{layer['tied']}.weight"
    return called


def uses_of(layers, modules):
    """What a case calls a table to which one linear layer is tied, and the layers that read it, by the table's id."""
    tied = {}
    for layer in layers:
        if "tied" in layer:
            tied.setdefault(layer["tied"], []).append(layer["name"])
    return {id(modules[table].weight): (f"{table}.weight", table, users[0]) for table, users in tied.items()
            if len(users) == 1}


class KnownLayers:
    """Layers that Tally knows, in a `torch.nn.Sequential` or in a network whose forward calls them and adds what they
    leave: forward and backward are judged as well."""
    wants_input = True

    def __init__(self, model):
        modules = {layer_named(name): module for name, module in model.named_modules()}
        self.family, self.frozen, self.leave, self.attentions = family_of(model), {}, {}, {}
        self.scaled_tables, self.switched_off = {}, False
        if self.family:
            stated = layers_of(model, self.family, layer_of)
            self.layers, self.modules = stated.layers, stated.modules
            self.leave, self.attentions, self.scaled_tables = stated.leave, stated.attentions, stated.scaled_tables
            self.switched_off = stated.switched_off
        elif isinstance(model, nn.Sequential):
            self.layers = [layer_of(name, module) for name, module in model.named_children()]
            self.modules = dict(zip(labels(self.layers), model.children()))
        else:
            self.layers = layers_of_network(model, layer_of)
            self.modules = {name: modules[name] for name in labels(self.layers) if name in modules}
        all_dropped = next((layer for layer in self.layers if layer.get("p", 0) >= 1), None)
        if all_dropped:
            raise CaptureError(f"layer {all_dropped['name']}: found dropout with p = {all_dropped['p']}, expected less "
                               "than 1, as nothing would be left; record the model as opaque")
        self.turned = {f"{name}.weight" for name, module in self.modules.items() if type(module).__name__ == "Conv1D"}
        self.tied = tie(self.layers, modules)
        self.shared = set(self.tied.values())
        self.uses = uses_of(self.layers, modules)
        self.tables = [modules[layer["name"]].num_embeddings for layer in self.layers if layer["kind"] == "embedding"]
        self.last = labels(self.layers)[-1]

    def rows_of(self, given):
        """Which rows of the case a call of the model reads."""
        noisy = next((name for name, module in self.modules.items() if getattr(module, "neftune_noise_alpha", 0)), None)
        if noisy:
            raise CaptureError(f"layer {noisy}: found noise on its rows (neftune_noise_alpha), expected none, as it is "
                               "not recorded; train without it, or record the model as opaque")
        return rows_of_batch(given.get("input_ids"), given, self.family.turns) if self.family else ALL_ROWS

    def name_of(self, parameter):
        module, _, name = parameter.rpartition(".")
        stated = f"{layer_named(module)}.{name}"
        return self.tied.get(stated, stated)

    def freeze(self, parameters, model):
        """Marks layers that the optimizer does not train as frozen; refuses one that it trains in part."""
        for name, parameter in model.named_parameters():
            if self.name_of(name) not in parameters:
                self.frozen[self.name_of(name)] = parameter
        for layer in self.layers:
            label = layer.get("name")
            still = [name for name in self.frozen if name.rpartition(".")[0] == label]
            moving = [name for name in parameters if name.rpartition(".")[0] == label]
            if still and moving:
                raise CaptureError(f"parameters: found {still[0]}, which the optimizer does not train, beside "
                                   f"{moving[0]}, which it does, expected all or none of a layer; record the model as "
                                   "opaque")
            if still:
                layer["trainable"] = False

    def section(self, segment, capture, loss):
        if loss["kind"] != "opaque" and None in segment.tensors.get("x", []):
            raise CaptureError("model: found a call whose input was not seen, as this PyTorch hands hooks no arguments "
                               "by name, expected model(x); call it so, or record the model as opaque")
        if None in segment.tensors.get("x", [None]) or loss["kind"] == "opaque":
            raise CaptureError(f"model: found a loss that no case states ({segment.why_no_loss}), expected one for known "
                               "layers; record the model as opaque")
        layers = without_dropout(self.layers) if segment.trains == {False} else self.layers
        return {"input": self.input_of(segment, capture), "layers": layers, "loss": loss}

    def dropouts(self):
        """Modules that drop, by the name of their layer."""
        return {layer["name"]: self.modules[layer["name"]] for layer in self.layers if layer["kind"] == "dropout"}

    def drops(self):
        return bool(self.dropouts() or self.attentions_with_dropout())

    def attentions_with_dropout(self):
        """Modules whose attention drops weights, each with the name of its layer."""
        dropping = {layer["name"] for layer in self.layers if layer["kind"] == "attention" and layer.get("p")}
        return {module: name for module, name in self.attentions.items() if name in dropping}

    def input_of(self, segment, capture):
        """The features of x, or the vocabulary of tokens, which then stand in its place."""
        parts = segment.tensors["x"]
        if parts[0].dtype != torch.int64:
            return parts[0].shape[-1]
        if len(set(self.tables)) != 1:
            found = f"Embeddings of {self.tables} rows" if self.tables else "no Embedding"
            raise CaptureError(f"model: found whole numbers as its input and {found}, expected tables of one size that "
                               "look them up; record the model as opaque")
        rows = [(part.shape[0], seen.rows) for part, seen in zip(parts, segment.losses)]
        uneven = next(((tokens, scored) for tokens, scored in rows if tokens != scored), None)
        if uneven:
            raise CaptureError(f"loss: found {uneven[1]} rows of logits for {uneven[0]} tokens, expected one for each; "
                               "give the loss all rows, and ignore_index where a row has no label")
        return {"vocabulary": self.tables[0]}

    def lines(self, trains):
        said = ["assumed: modules drop nothing, as all of them have p = 0, whatever the configuration says"] \
            if self.switched_off else []
        if trains == {False} and self.drops():
            said.append("assumed: no dropout, as the model is in eval() in every micro-batch; model.train() switches "
                        "it on")
        return said
