"""Processes of a script: ranks, which torchrun's environment variables join, what all of them showed as one, and tensors that a
run left for others to be held against."""
import datetime
import json
import math
import os
import select
import signal
import socket
import time

import torch

from ..user_code import held_by
from .executor import can_round, figure, scale_of
from .training_steps import flat_of

ALIGNED = 16  # bytes, as wide as an element can be
PATIENCE = 60  # seconds that a rank may wait for others: within a collective, and behind its own last window
GRACE = 3  # seconds behind another rank's last window, after which one that has stepped in its own waits for nothing but the others
NO_GLOO = "gloo stood in for nccl, which needs GPUs"


def keep(path, tensors):
    """Writes tensors to a file, with the scale of each that can be rounded, as runs are held against them."""
    places, end = {}, 0
    with open(path, "wb") as file:
        for name, tensor in tensors.items():
            value = tensor.detach().cpu().contiguous()
            scale = figure(scale_of(value)) if can_round(value) and value.numel() else None
            places[name] = str(value.dtype).rpartition(".")[2], list(value.shape), end, scale
            end += file.write(value.reshape(-1).view(torch.uint8).numpy())
            end += file.write(bytes(-end % ALIGNED))
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(places, file)


def kept(path):
    """(tensors, scales)."""
    with open(path + ".json", encoding="utf-8") as file:
        places = json.load(file)
    whole = torch.from_file(path, size=os.path.getsize(path), dtype=torch.uint8)
    found = {}
    for name, (dtype, shape, first, _) in places.items():
        dtype = getattr(torch, dtype)
        size = math.prod(shape) * torch.empty(0, dtype=dtype).element_size()
        found[name] = whole[first:first + size].view(dtype).reshape(shape)
    return found, {name: scale for name, (*_, scale) in places.items()}


def remove_kept(path):
    for each in (path, path + ".json"):
        if os.path.exists(each):
            os.remove(each)


def environment(rank, ranks, port):
    """What torchrun sets."""
    return {"RANK": rank, "LOCAL_RANK": rank, "GROUP_RANK": 0, "ROLE_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks,
            "ROLE_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "tally"}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def all_end(processes, folder):
    """How the first of them ended that did not end well; the others are ended with it, and with those that are done where they
    take too long."""
    status, since, left = 0, None, set(processes)
    while left:
        for process in list(left):
            ended, how = os.waitpid(process, os.WNOHANG)
            if ended:
                left.discard(process)
                status = status or how
        done = sum(os.path.exists(done_file(folder, rank)) for rank in range(len(processes)))
        some_ended = len(left) < len(processes)
        since = (since or time.time()) if some_ended or 0 < done < len(processes) else None
        if left and since and time.time() - since > (1 if some_ended else PATIENCE):
            status = status or int(signal.SIGKILL)
            for process in left:
                os.kill(process, signal.SIGKILL)
        select.select([], [], [], 0.01)
    return status


def done_file(folder, rank):
    return os.path.join(folder, f"done-{rank}")


def of_rank(name, rank):
    """The file that another rank than the first writes in place of `name`."""
    stem, end = os.path.splitext(name)
    return f"{stem}-{rank}{end}" if rank else name


def wait_for_others(folder, rank, ranks):
    """What one has sent, the others may still have to read."""
    with open(done_file(folder, rank), "w", encoding="utf-8"):
        pass
    while not all(os.path.exists(done_file(folder, each)) for each in range(ranks)):
        time.sleep(0.01)


def end_with_others(driver, rank, ranks):
    """Ends this rank, from a thread, where another has shown its windows and is ended: this one may wait for it, as at
    a barrier."""
    while not any(os.path.exists(done_file(driver.folder, each)) for each in range(ranks) if each != rank):
        time.sleep(0.05)
    time.sleep(GRACE)
    if not driver.seen.told and driver.seen.has_shown():
        driver.seen.told = True
        driver.write()
        wait_for_others(driver.folder, rank, ranks)
        os._exit(0)


def join_by_gloo(cast, said):
    """Has a rank join by gloo where there are no GPUs, and casts a model before it is wrapped, as the buckets of its
    gradients are made then."""
    joins, wraps = torch.distributed.init_process_group, torch.nn.parallel.DistributedDataParallel.__init__

    def init_process_group(backend=None, *args, **kwargs):
        if not torch.cuda.is_available() and backend and "nccl" in str(backend):
            backend = "gloo"
            said(NO_GLOO)
        kwargs["timeout"] = datetime.timedelta(seconds=PATIENCE)
        return joins(backend or "gloo", *args, **kwargs)

    def wrapped(parallel, module, *args, **kwargs):
        cast(module)
        wraps(parallel, module, *args, **kwargs)

    torch.distributed.init_process_group = init_process_group
    torch.nn.parallel.DistributedDataParallel.__init__ = wrapped


class Local:
    """What a backward pass brings to each parameter, before it is reduced over ranks."""

    def __init__(self):
        self.arrived = {}

    def listen(self, optimizer):
        for parameter in held_by(optimizer):
            parameter.register_hook(lambda gradient, key=id(parameter): self.add(key, gradient))

    def add(self, key, gradient):
        gradient = flat_of(gradient)
        self.arrived[key] = self.arrived[key] + gradient if key in self.arrived else gradient

    def taken(self, named):
        arrived, self.arrived = self.arrived, {}
        return {name: arrived[id(tensor)] for name, tensor in named.items() if id(tensor) in arrived}


def farther(one, other):
    """The entry that is farther from the whole batch's, of a tensor that two ranks left."""
    if one["max"] is None or other["max"] is None:
        return one if one["max"] is None else other
    return one if one["max"] >= other["max"] else other


def ranks_apart(seen):
    """What a rank has other than the first although ranks should have it in common; empty where nothing was seen."""
    first, *others = seen
    for rank, each in enumerate(others, 1):
        name = next((name for name, sums in each.get("begins", {}).items() if first["begins"].get(name) != sums), None)
        if name:
            return f"rank {rank} begins with another {name} than rank 0"
        if each["steps"] != first["steps"]:
            return f"rank {rank} steps {each['steps']} times in its windows, rank 0 {first['steps']} times"
        for window, pair in enumerate(zip(each["options"], first["options"])):
            for own, meant in (options for steps in zip(*pair) for options in zip(*steps)):
                if own != meant:
                    return f"in window {window} rank {rank} steps with {own['name']} = {own['value']}, rank 0 with {meant['value']}"
    return ""


def joined(seen):
    """What all ranks saw, as if one had seen it: micro-batches of one rank behind those of another."""
    first, *others = seen
    wrong = sorted((each["at"], rank) for rank, each in enumerate(seen) if each["error"])
    error = None
    if wrong:  # the first says why: the others may have lost it
        rank = wrong[0][1]
        error = {**seen[rank]["error"], "text": f"on rank {rank}: {seen[rank]['error']['text']}"}
    out = {**first, "error": error, "ranks_apart": ranks_apart(seen)}
    windows = min(len(each["steps"]) for each in seen)
    for key in ("rows", "dealt", "items"):
        out[key] = [[one for each in seen for one in each[key][window]] for window in range(windows)]
    out["micro_batches"] = [sum(each["micro_batches"][window] for each in seen) for window in range(windows)]
    out["steps"] = first["steps"][:windows]
    for key in ("compiled", "dropped", "drawn"):
        out[key] = next((each[key] for each in seen if each[key]), first[key])
    out["uncleared"] = sorted({window for each in seen for window in each["uncleared"]})
    if not error and "tensors" in first:
        for each in others:
            by_name = {tensor["name"]: tensor for tensor in each.get("tensors", [])}
            out["tensors"] = [farther(tensor, by_name.get(tensor["name"], tensor)) for tensor in out["tensors"]]
    return out


def gradients_joined(left):
    """Columns of all ranks, and what the first was handed."""
    return {**left[0], "columns": [column for each in left for column in each["columns"]]}


def found_in(folder, ranks, watched):
    """What all ranks of a run left."""
    seen, left = [], []
    for rank in range(ranks):
        with open(os.path.join(folder, of_rank("seen.json", rank)), encoding="utf-8") as file:
            seen.append(json.load(file))
        if watched:
            path = os.path.join(folder, of_rank("gradients.pt", rank))
            left.append(torch.load(path))
            os.remove(path)
    return joined(seen) if ranks > 1 else seen[0], gradients_joined(left) if left else {}
