"""The case that a stretch of windows is held against, and the taps under the names that this case gives them."""
import re

import torch

from .capture.accumulation import same
from .capture.dropout import constants_of, turned
from .capture.losses import FactorOnly
from .capture.optimizers import KNOWN
from .report import counted
from .user_code import CaptureError

STATE = tuple(sorted({f"{ours}." for row in KNOWN.values() for ours in row[3].values()}))
FORMATS = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
BEFORE_A_PARAMETER = ("", "d.", "buffer.", *STATE)


def formats_no_case_has(parameters):
    """Why no case has parameters of these formats, in words; None where one does."""
    dtypes = sorted({str(parameter.dtype).rpartition(".")[2] for parameter in parameters})
    stated = {str(dtype).rpartition(".")[2] for dtype in FORMATS}
    if len(dtypes) < 2 and stated.issuperset(dtypes):
        return None
    return f"parameters are {' and '.join(dtypes)}, and a case has one format for all: fp32, fp16 or bf16"


def format_of_all(parameters):
    return FORMATS[next(iter(parameters.values())).dtype]


def names_can_be_stated(parameters):
    """Refuses a name that a case would not read."""
    bad = [name for name in parameters if not re.fullmatch(r"[A-Za-z0-9_.\-]+", name)]
    if bad:
        raise CaptureError(f"parameters: found the name {bad[0]!r}, expected letters, digits, _, - and .; rename the "
                           "module that holds it")


def one_loss(segment, capture, storage, lines):
    """The section `loss`, and whether the losses' taps are kept: all micro-batches must state it alike."""
    if is_factor_alone(segment) and not segment.why_opaque:
        segment.loss_is_stated = True
        lines.append(f"not judged: the loss beside its factor ({segment.losses[0]})")
        return {"kind": "opaque"}, False
    unknown = [seen for seen in segment.losses if isinstance(seen, str)] if segment.losses else ["none was seen"]
    segment.unweighed |= bool(capture.sums)
    if segment.why_opaque:
        unknown.insert(0, segment.why_opaque)
    if storage != "fp32":
        unknown.append(f"the model is in {storage}, the loss is not")
    if unknown:
        return opaque(segment, unknown[0], lines)
    stated = [section_of(seen, capture.scratch, seen.options) for seen in segment.losses]
    if any(other != stated[0] for other in stated[1:]):
        return opaque(segment, "micro-batches call different ones", lines)
    chosen = {name: value for name, value in stated[0].items() if name in ("label_smoothing", "weight")}
    if chosen:
        lines.append(f"assumed: loss has {', '.join(f'{name} {value}' for name, value in chosen.items())}, as the loop "
                     "calls it")
    segment.loss_is_stated = True
    return stated[0], True


def opaque(segment, why, lines):
    """A loss that no case states; what its items weigh is judged where its terms were seen."""
    segment.why_no_loss = why
    what = "the loss and its normalisation" if segment.unweighed else "the loss beside its factor"
    lines.append(f"not judged: {what} ({why})")
    return {"kind": "opaque"}, False


def is_factor_alone(segment):
    """Whether the factors alone are kept, of all losses: then the windows count items."""
    return bool(segment.losses) and all(isinstance(seen, FactorOnly) for seen in segment.losses)


def section_of(seen, scratch, options):
    if seen.kind != "cross_entropy":
        return {"kind": seen.kind}
    section = {"kind": "cross_entropy"}
    if seen.labels:
        section["shift"] = True
    if options["ignore_index"] != -100:
        section["ignore_index"] = options["ignore_index"]
    if options["label_smoothing"]:
        section["label_smoothing"] = options["label_smoothing"]
    if options["weight"] is not None:
        section["weight"] = options["weight"].tolist()
    return section


def factor_claim(segment, ranks):
    """How a mean's factor rounds: by the micro-batches first, in the loop, and by the rows in the loss. A number of ranks
    that rounds is multiplied in anywhere."""
    if ranks & (ranks - 1):
        return "fp32_twice"
    seen = [loss for loss in segment.losses if not isinstance(loss, str)]
    means = [loss for loss in seen if loss.options["reduction"] == "mean" or loss.averaged]
    factors = [loss for loss in segment.losses if isinstance(loss, FactorOnly)]
    return "fp32_twice" if means or any(loss.mean for loss in factors) else "fp32"


def claims_of(segment, parameters, divide, optimizer_kind, layers, ranks=1):
    device = next(iter(parameters.values())).device.type
    return {"subject": f"PyTorch {torch.__version__} on {device}", "constants": constants_of(layers), "divide": divide,
            "factor": factor_claim(segment, ranks), "flushes_subnormals": False, "tensor_cores": device == "cuda",
            "kernels": kernels_of(optimizer_kind)}


def kernels_of(optimizer_kind):
    """What is known of PyTorch's kernels: since version 2 Adam's first moment moves by an interpolation."""
    if optimizer_kind != "adam" or int(torch.__version__.partition(".")[0]) < 2:
        return {}
    return {"adam": {"variant": "lerp", "repeats": "bitwise", "height": 0, "algorithm": "interpolated",
                     "global_float_atomics": False, "result": "fp32"}}


def case_of(segment, capture, model, recipe, lines, name, own_inputs=False):
    """The case as JSON. `model` describes the layers; `own_inputs` is for the local lens."""
    format_of = format_of_all(capture.parameters)
    loss, keep = one_loss(segment, capture, format_of, lines)
    normalisation = capture.meaning.normalisation
    if normalisation is None:
        normalisation = "window_items"
        if segment.loss_is_stated or segment.calls and any(segment.calls):
            lines.append("assumed: normalisation is window_items, as every item of a window weighs the same in the "
                         "full batch (argument normalisation)")
    if segment.without_update is not None:
        standing(segment, capture.parameters)
    taps = settled(segment, capture, recipe, keep, model, own_inputs)
    together = capture.sums.section(segment, lines)
    taps = capture.sums.settled(segment, taps, together)
    tensors = {key: parts for key, parts in segment.tensors.items() if keep or key not in ("x", "target")}
    taps, tensors = leave_out_unused(segment, capture, taps, tensors, lines, recipe["clip"]["kind"], model.wants_input)
    stated = model.section(segment, capture, loss)
    tensors.update(turned(tensors, stated["layers"], capture.scratch))
    if isinstance(stated["input"], dict):
        tensors = {"tokens" if key == "x" else key: parts for key, parts in tensors.items()}
    case = {
        "tally_case": version_of(stated), "name": name,
        "model": stated,
        "windows": segment.windows, "normalisation": normalisation,
        "precision": {"storage": format_of, "compute": "fp32", "accumulate": format_of, "master": format_of,
                      "tf32": False},
        "recipe": recipe, "tensors": {"file": "case.safetensors"}}
    if together:
        case["tally_case"], case["execution"] = 3, {"ranks": together}
    if all(getattr(seen, "lengths", None) for seen in segment.losses):
        case["sequences"] = [length for seen in segment.losses for length in seen.lengths]
        tensors.update(positions_of(segment.losses, capture.scratch))
    return case, tensors, taps


def positions_of(losses, scratch):
    """The tensor `positions`, where a micro-batch states its own: the others count from each sequence's start."""
    if not any(seen.positions for seen in losses):
        return {}
    return {"positions": [seen.positions or scratch.put(torch.cat([torch.arange(n) for n in seen.lengths]))
                          for seen in losses]}


def version_of(model):
    """The version of a case file: 2 where layers say what they read or that they stand still, or the model reads
    tokens."""
    says_more = any("inputs" in layer or "trainable" in layer for layer in model["layers"])
    return 2 if isinstance(model["input"], dict) or says_more else 1


def what_was_left(segment, capture, window, parameter, clips, reader, own_inputs):
    """The tap of a gradient that the step read, as an output of the stage before: a decay that was not meant to be there
    may have followed. A clip before the division by the scale left its gradient there. The lens that judges each stage
    from its own inputs needs it under the reader's name as well."""
    def held(name):
        return segment.taps.get(f"{window}/{name}.{parameter}")

    read, unscaled = held("@read"), held("unscale/d")
    left = held("@left") or read
    unchanged = unscaled is not None and same(*(capture.scratch.tensor(parts[0]) for parts in (read, unscaled)))
    as_read = {f"{window}/{reader}/in.d.{parameter}": read}
    if clips:
        found = {f"{window}/clip/d.{parameter}": held("@clipped") or left if unchanged else left}
    elif unscaled is None or unchanged:
        found = {f"{window}/unscale/d.{parameter}": left}
    else:
        return as_read
    return {**found, **as_read} if own_inputs else found


def standing(segment, parameters):
    """Updates that the case leaves out: in its words the rate is 0, and parameters stay where they were."""
    none, taps = [segment.scratch.put(torch.tensor(0.0))], segment.taps
    for name in list(taps):
        _, _, rest = name.partition("/")
        stage, _, tensor = rest.partition("/")
        if rest in ("optimizer/in.learning_rate", "schedule/learning_rate"):
            taps[name] = none
        elif stage in ("optimizer", "gather_updated") and tensor in parameters:
            taps[name] = taps.get(f"w0/cast/in.{tensor}") if stage == "gather_updated" else segment.tensors[tensor][:1]
        elif stage == "optimizer" and tensor != "in.step" or rest.startswith("@in."):
            del taps[name]
    segment.tensors = {name: parts for name, parts in segment.tensors.items() if not name.startswith(STATE)}


def settled(segment, capture, recipe, keep_loss, model, own_inputs):
    """The taps under their names. The first of several steps in a window tells what was read, the last what was left."""
    decay, clip = recipe["weight_decay"], recipe["clip"]["kind"]
    excluded = decay.get("exclude", [])
    taps = {}
    for name, parts in segment.taps.items():
        window, _, rest = name.partition("/@")
        if not rest:
            stage, _, gradient = name.partition("/backward/d.")
            taps[f"{stage}/fork/d.{gradient}" if gradient in model.shared else name] = parts
            continue
        if rest.startswith("reduce."):
            taps[name] = parts
            continue
        stage, _, parameter = rest.partition(".")
        decays = decay["kind"] != "none" and not left_out(parameter, excluded)
        if rest == "y":
            if keep_loss:
                taps[f"{window}/forward/{model.last}.y"] = parts
        elif rest.startswith("loss/"):
            if keep_loss:
                taps[f"{window}/{rest}"] = parts
        elif rest == "norm":
            if clip == "global_norm":
                taps[f"{window}/norm/norm"] = parts
        elif rest == "factor":
            if segment.loss_is_stated:
                taps[f"{window}/loss/in.factor"] = parts
        elif stage == "read":
            taps.update(what_was_left(segment, capture, window, parameter, clip != "none",
                                      "decay" if decays and decay["kind"] == "l2" else "optimizer", own_inputs))
        elif stage == "in":
            if decays:
                taps[f"{window}/decay/in.{parameter}"] = parts
            if not decays or decay["kind"] == "l2":
                taps[f"{window}/optimizer/in.{parameter}"] = parts
    return taps


def leaves_out_sparse(names, clip, stated):
    if stated or clip == "global_norm":
        raise CaptureError(f"gradient of {names[0]}: found a sparse one beside {'known layers' if stated else 'a clip by the norm of all'}, "
                           "expected a dense one; record with sparse=False" + (", or the model as opaque" if stated else ""))


def leave_out_unused(segment, capture, taps, tensors, lines, clip, stated=False):
    """A parameter that no gradient reaches is none of the case, unless its layer is stated; one that some micro-batches
    do not reach has a gradient of zeros there."""
    for name, place in segment.without.items():
        if name in segment.touched and not capture.members.told:
            capture.report.problem(f"{place}, gradient of {name}", "none at the step", "one, as in other windows",
                                   "record windows in which every parameter takes part: PyTorch skips the others")
    sparse = [name for name in capture.parameters if name in segment.sparse]
    if sparse:
        leaves_out_sparse(sparse, clip, stated)
        segment.touched -= segment.sparse
        lines.append(f"not judged: {counted(sparse[0], len(sparse) - 1)} has sparse gradients, whose order of addition no "
                     "case states")
    if stated:
        segment.touched.update(capture.parameters)  # a layer's parameter without a gradient has one of zeros
    unused = [name for name in capture.parameters if name not in segment.touched]
    without = [name for name in unused if name not in segment.sparse]
    if without:
        lines.append(f"not judged: {without[0]} has no gradient in these windows"
                     + (f" (nor have {len(without) - 1} others)" if without[1:] else ""))
    names = {way + before + name for name in unused for before in BEFORE_A_PARAMETER for way in ("", "in.")}
    taps = {tap: parts for tap, parts in taps.items() if tap.rpartition("/")[2] not in names}
    if capture.meaning.at("gradients"):
        for w, window in enumerate(segment.windows):
            for m in range(len(window)):
                for name in segment.touched:
                    tap = f"w{w}/m{m}/backward/d.{name}"
                    if tap not in taps:
                        taps[tap] = [capture.scratch.put(torch.zeros_like(capture.views.value(name)))]
    return taps, {name: parts for name, parts in tensors.items() if name not in names}


def left_out(parameter, excluded):
    return parameter in excluded or "bias" in excluded and parameter.endswith(".bias")
