"""Training loops of several ranks over gloo, right ones and wrong ones, as a user writes them; and what runs them."""
import contextlib
import hashlib
import json
import os
import sys
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import tally_recorder

EQUAL = [[4, 4, 4]] * 2  # rows of each micro-batch, window by window, of every rank
UNEQUAL = [[[4, 2, 3], [1, 5]], [[2, 2], [3, 1, 4]]]  # of each of two ranks


def sgd(parameters, **options):
    return torch.optim.SGD(parameters, lr=0.125, momentum=0.9, **options)


def adamw(parameters, **options):
    return torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1, **options)


AFTER = {"reduce": {"divide": "after"}}  # how a loop divides its own sum


class OnlyItsOwn(ZeroRedundancyOptimizer):
    """Bug: what a rank has stepped does not come back to the others."""

    def _sync_params(self):
        pass


def zero(kind, cls=ZeroRedundancyOptimizer, **options):
    return lambda parameters: cls(parameters, optimizer_class=kind, lr=0.125, **options)


def sum_only(group, bucket):
    """Bug: a communication hook that forgets to divide."""
    done = dist.all_reduce(bucket.buffer(), group=group, async_op=True).get_future()
    return done.then(lambda future: future.value()[0])


class RankLoop:
    """One loop. `sync` says behind which micro-batches DDP adds up, `divide` how a loss is divided; `marks`: the
    recorder is told where the loop has added up; `wrong` names what else is wrong."""

    def __init__(self, windows=EQUAL, optimizer=sgd, divide="K", sync="last", clip=None, wrap=True, wrong=None,
                 marks=None, said=None, **meaning):
        self.windows, self.optimizer, self.divide, self.sync, self.clip = windows, optimizer, divide, sync, clip
        self.wrap, self.wrong, self.marks, self.said, self.meaning = wrap, wrong, marks, said, meaning

    def sizes(self, w, rank):
        window = self.windows[w]
        return window[rank] if isinstance(window[0], list) else window

    def make(self, rank):
        torch.manual_seed(1)
        self.net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
        self.model = DistributedDataParallel(self.net) if self.wrap else self.net
        if self.wrong == "own start" and rank == 1:
            with torch.no_grad():
                self.net[0].weight.mul_(1.5)
        if self.wrong == "sum only":
            self.model.register_comm_hook(None, sum_only)
        lacks = self.wrong == "lacks a parameter" and rank == 1
        self.opt = self.optimizer(list(self.net.parameters())[:3 if lacks else 4])
        torch.manual_seed(7 + rank)

    def run(self, rank, size, record):
        """The recorder after the loop; None where it is not recorded."""
        self.make(rank)
        count = [len(self.sizes(w, rank)) for w in range(len(self.windows))]
        if self.wrong == "hooks":
            for parameter in self.net.parameters():
                parameter.register_post_accumulate_grad_hook(lambda each: None)
        meant = {**self.meaning, **({"divide": "window"} if self.divide == "window" else {})}
        recorder = self.recorder = tally_recorder.Recorder(self.model, self.opt, count, ranks=self.said,
                                                           **meant) if record else None
        with recorder or contextlib.nullcontext():
            for w in range(len(self.windows)):
                self.window(self.sizes(w, rank), self.rows(w, size), size)
        return recorder

    def rows(self, w, size):
        """Of all ranks, as an all-reduce of the counts would find them."""
        return sum(sum(self.sizes(w, rank)) for rank in range(size))

    def window(self, sizes, rows, size):
        self.opt.zero_grad()
        for k, own in enumerate(sizes):
            waits = self.wrap and not self.adds_up(k, len(sizes))
            with self.model.no_sync() if waits else contextlib.nullcontext():
                x, target = torch.randn(own, 6), torch.randint(0, 4, (own,))
                net = self.net if self.wrong == "around the wrapper" else self.model
                self.divided(net(x), target, sizes, rows, size).backward()
        if self.wrong == "clip before the sum":
            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        if not self.wrap:
            for parameter in self.net.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= 1 if self.divide == "window" else size
        if self.recorder and self.marks in ("all", f"rank {dist.get_rank()}"):
            self.recorder.added_up()
        if self.divide == "window":
            for parameter in self.net.parameters():
                parameter.grad /= rows
        if self.wrong == "clip before the sum":
            return self.opt.step()
        if self.clip and not self.wrap:
            self.clip_by_hand()
        elif self.clip:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        self.opt.step()

    def clip_by_hand(self):
        norm = torch.sqrt(sum((parameter.grad ** 2).sum() for parameter in self.net.parameters()))
        if norm > self.clip:
            for parameter in self.net.parameters():
                parameter.grad *= self.clip / norm

    def adds_up(self, k, count):
        return {"last": k + 1 == count, "each": True, "first": k == 0, "all but the last": k + 1 < count}[self.sync]

    def divided(self, y, target, sizes, rows, size):
        loss = F.cross_entropy(y, target, reduction="mean" if self.divide in ("K", "K times R") else "sum")
        by = {"window": 1, "K": len(sizes), "K times R": len(sizes) / size, "items": rows / size, "all items": rows,
              "own items": sum(sizes)}
        return loss / by[self.divide]


def right_loops():
    return {
        "DDP, no_sync": RankLoop(),
        "DDP, every micro-batch": RankLoop(sync="each"),
        "DDP, unequal ranks": RankLoop(UNEQUAL, divide="items"),
        "DDP, AdamW, clip": RankLoop(optimizer=adamw, clip=0.1),
        "DDP, each rank its mean": RankLoop(UNEQUAL, divide="own items", normalisation="rank_means"),
        "DDP, known layers": RankLoop(UNEQUAL, divide="items", layers="known", level="all"),
        "DDP, ranks stated": RankLoop(said={"communicate": "window"}),
        "all-reduce by hand": RankLoop(wrap=False, said={"reduce": {"divide": "after"}}),
        "all-reduce and clip by hand": RankLoop(wrap=False, clip=0.1, marks="all", said={"reduce": {"divide": "after"}}),
        "all-reduce by hand, divided behind it": RankLoop(UNEQUAL, wrap=False, divide="window", marks="all",
                                                          said={"reduce": {"divide": "loss"}}),
        "ZeRO-1": RankLoop(optimizer=zero(torch.optim.SGD, momentum=0.9)),
        "ZeRO-1, Adam, clip": RankLoop(optimizer=zero(torch.optim.Adam), clip=0.1),
    }


WRONG = {  # what is wrong, the first tensor that fails, and what stands on top of what that looks like
    "own items": (RankLoop(UNEQUAL, divide="own items"), "w0/r0/m0/loss/in.factor", "own-rank-denominator"),
    "all items": (RankLoop(UNEQUAL, divide="all items"), "w0/r0/m0/loss/in.factor", "mean-of-a-normalised-sum"),
    "K times R": (RankLoop(divide="K times R"), "w0/r0/m0/loss/in.factor", "ranks-multiplied-in-twice"),
    "own start": (RankLoop(wrong="own start"), "w0/r1/cast/in.model.0.weight", "parameters-not-broadcast"),
    "first": (RankLoop(sync="first"), "w0/r0/m1/accumulate/in.buffer", "no-sync-inverted"),
    "all but the last": (RankLoop(sync="all but the last"), "w0/r0/m1/accumulate/in.buffer", "no-sync-inverted"),
    "sum only": (RankLoop(wrong="sum only"), "w0/r0/reduce/reduced", "average-is-a-sum"),
    "clip by hand, unmarked": (RankLoop(wrap=False, clip=0.1, said={"reduce": {"divide": "after"}}),
                               "w0/r0/reduce/reduced", ""),
    "around the wrapper": (RankLoop(wrong="around the wrapper"), "w0/r0/reduce/reduced", "last-bucket-not-flushed"),
    "not gathered": (RankLoop(optimizer=zero(torch.optim.SGD, OnlyItsOwn, momentum=0.9)), "/optimizer/model.",
                     "updated-shard-not-gathered"),
}


HINTED = {  # what cannot pass, and the words that say where the loop added up
    "clip before the sum by hand": (RankLoop(wrap=False, clip=0.1, wrong="clip before the sum", said=AFTER),
                                    "w0, PyTorch's clip: came when no gradient had changed since the last backward pass"),
}
if hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):  # since PyTorch 2.1
    HINTED["hooks by hand"] = (RankLoop(wrap=False, wrong="hooks", said=AFTER), "error: rank 0: model.0.weight (and 3 more): "
                               "found a hook of register_post_accumulate_grad_hook")


REFUSED = {  # what no capture can state, and the words that say so
    "marked by one rank": (RankLoop(wrap=False, marks="rank 0", said=AFTER), "rank 0: added_up(): found 2 calls on rank 0 and 0 on "
                           "rank 1"),
    "lacks a parameter": (RankLoop(wrong="lacks a parameter"), "rank 0: the parameters of rank 1: found no parameter "
                          "model.2.bias that trains, expected those of rank 0"),
}


def bits_of(net):
    """A digest of all parameters."""
    return hashlib.sha256(b"".join(parameter.detach().numpy().tobytes() for parameter in net.parameters())).hexdigest()


def in_a_group(rank, size, folder, work):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=size)
    for name, told in work(rank, size, folder):
        with open(os.path.join(folder, f"{name}.{rank}.json"), "w", encoding="utf-8") as file:
            json.dump(told, file)
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads of PyTorch's that outlive their group now and then abort a process that goes on to its end


def together(size, folder, work):
    """Runs `work(rank, size, folder)`, which yields names and what is told of them, in processes that form a group; gives
    what each rank told, by name."""
    mp.spawn(in_a_group, (size, folder, work), size)
    told = {}
    for file in sorted(os.listdir(folder)):
        if file.endswith(".json"):
            name, rank, _ = file.rsplit(".", 2)
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                told.setdefault(name, {})[int(rank)] = json.load(text)
    return told


def judged(loop, rank, size, folder):
    """What the check of a loop returned and said, on this rank."""
    said = []
    try:
        code = loop.run(rank, size, True).check(folder, show=said.append)
    except tally_recorder.CaptureError as problem:
        return {"code": 2, "said": f"error: {problem}"}
    except Exception:
        print(traceback.format_exc(), file=sys.stderr)
        raise
    return {"code": code, "said": "\n".join(said), "bits": bits_of(loop.net)}


def all_loops(rank, size, folder):
    """Every loop recorded; the right ones without the recorder as well, for their bits."""
    for name, loop in right_loops().items():
        told = judged(loop, rank, size, os.path.join(folder, name))
        loop.run(rank, size, False)
        yield name, {**told, "unrecorded": bits_of(loop.net)}
    for name, (loop, *_) in {**WRONG, **HINTED, **REFUSED}.items():
        yield name, judged(loop, rank, size, os.path.join(folder, name))
