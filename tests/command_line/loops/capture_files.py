"""A NumPy loop's case and capture as files."""
import json
import subprocess

import numpy as np

import numpy_loop

DTYPES = {"float32": "F32", "int64": "I64", "uint8": "U8"}
# NumPy adds up in pairs: blocks of 128 by eight sums, then a tree; then the parameters' sums.
NORM = {"variant": "numpy", "repeats": "bitwise", "height": 64, "algorithm": "", "global_float_atomics": False,
        "result": "fp32"}
CLAIMS = {"subject": "a loop in NumPy", "constants": "binary64", "divide": "micro_batch", "flushes_subnormals": False,
          "tensor_cores": False, "kernels": {"norm": NORM}}


def write_tensors(path, tensors, metadata):
    header, at = {"__metadata__": metadata}, 0
    for name, value in tensors.items():
        value = np.asarray(value)
        header[name] = {"dtype": DTYPES[value.dtype.name], "shape": list(value.shape),
                        "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            np.ascontiguousarray(value).tofile(file)


def recipe_json(recipe):
    decay = {"kind": recipe["decay"]} | ({"lambda": recipe["lambda"]} if recipe["decay"] != "none" else {})
    clip = {"kind": "global_norm", "max_norm": recipe["max_norm"]} if recipe["max_norm"] else {"kind": "none"}
    optimizer = {"kind": "sgd", "momentum": numpy_loop.MOMENTUM} if recipe["optimizer"] == "sgd" else {"kind": "adam"}
    scale = {"kind": "static", "scale": recipe["scale"]} if recipe["scale"] != 1 else {"kind": "none"}
    rate = {"kind": "step", "base": recipe["rate"], "every": 2, "factor": 0.5}
    return {"optimizer": optimizer, "learning_rate": rate, "weight_decay": decay, "clip": clip, "loss_scale": scale}


def write_case(folder, loop, tally):
    """The case's hash."""
    write_tensors(folder / "case.safetensors", {**loop.initial, "x": loop.x, "target": loop.target}, {})
    case = {
        "tally_case": 1, "name": "a loop in NumPy",
        "model": {"input": numpy_loop.INPUT,
                  "layers": [{"kind": "linear", "name": "fc1", "out": numpy_loop.HIDDEN}, {"kind": "relu"},
                             {"kind": "linear", "name": "fc2", "out": numpy_loop.CLASSES}],
                  "loss": {"kind": "cross_entropy"}},
        "windows": numpy_loop.WINDOWS,
        "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": False},
        "recipe": recipe_json(loop.recipe), "tensors": {"file": "case.safetensors"}}
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")
    hashed = subprocess.run([tally, "hash", folder / "case.json"], capture_output=True, text=True, check=True)
    return hashed.stdout.strip()


def is_seen(name, level):
    """Whether a recorder of this level writes the tap."""
    stage, tensor = name.rsplit("/", 2)[-2:]
    if level == "full":
        return True
    if tensor.startswith("in."):
        return False
    if level == "outputs":
        return True
    if level == "buffers and steps":
        return stage in ("accumulate", "unscale", "optimizer")
    return (stage == "unscale" or stage == "optimizer") and (
        level == "gradient, state and parameters" or not tensor.startswith(("momentum.", "exp_avg")))


LEVELS = ("full", "outputs", "buffers and steps", "gradient, state and parameters", "gradient and parameters")


def write_capture(folder, loop, level, case_hash):
    taps = {name: value for name, value in loop.taps.items() if is_seen(name, level)}
    metadata = {"tally_trace": "1", "case": case_hash, "claims": json.dumps(CLAIMS),
                "order": "".join(name + "\n" for name in taps)}
    write_tensors(folder / "trace.safetensors", taps, metadata)
