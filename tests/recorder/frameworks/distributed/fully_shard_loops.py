"""Loops of two ranks under fully_shard (FSDP2), right ones and wrong ones."""
import os

import torch
import torch.nn as nn
from torch.distributed.fsdp import fully_shard

import rank_loops


class ShardLoop(rank_loops.RankLoop):
    def make(self, rank):
        torch.manual_seed(1)
        self.net = self.model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
        groups = {"one group": (), "the root keeps some": self.net[:1]}
        for layer in groups.get(self.wrong, (self.net[0], self.net[2])):
            fully_shard(layer)
        fully_shard(self.net)
        self.opt = self.optimizer(self.net.parameters())
        torch.manual_seed(7 + rank)

    def window(self, sizes, rows, size):
        self.opt.zero_grad()
        for k, own in enumerate(sizes):
            if self.sync != "each":
                self.net.set_requires_gradient_sync(self.adds_up(k, len(sizes)))
            x, target = torch.randn(own, 6), torch.randint(0, 4, (own,))
            self.divided(self.net(x), target, sizes, rows, size).backward()
        if self.clip:
            self.clipped()
        self.opt.step()

    def clipped(self):
        if self.wrong != "own norm":
            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
            return
        mine = [parameter.grad.to_local() for parameter in self.net.parameters()]
        norm = torch.stack([each.square().sum() for each in mine]).sum().sqrt()
        for each in mine:
            each.mul_(min(1.0, self.clip / float(norm + 1e-6)))


def right_loops():
    return {
        "FSDP2": ShardLoop(sync="each"),
        "FSDP2, one group": ShardLoop(sync="each", wrong="one group"),
        "FSDP2, the root keeps some": ShardLoop(sync="each", wrong="the root keeps some"),
        "FSDP2, unequal ranks": ShardLoop([[[4, 2], [1, 5]], [[2, 2], [3, 1]]], sync="each", divide="items"),
        "FSDP2, AdamW, clip": ShardLoop(sync="each", optimizer=rank_loops.adamw, clip=0.1),
    }


WRONG = {  # what is wrong, where it fails first, and what stands on top of what that looks like
    "own items": (ShardLoop([[[4, 2], [1, 1]]], sync="each", divide="own items"), "w0/r0/m0/loss/in.factor",
                  "own-rank-denominator"),
    "all items": (ShardLoop(sync="each", divide="all items"), "w0/r0/m0/loss/in.factor", "mean-of-a-normalised-sum"),
    "own norm": (ShardLoop(sync="each", clip=0.1, wrong="own norm", level="window"), "/clip/d.model.", ""),
}


def bits_of(net):
    return rank_loops.bits_of(torch.nn.ParameterList([nn.Parameter(each.to_local()) for each in net.parameters()]))


def all_loops(rank, size, folder):
    for name, loop in right_loops().items():
        told = judged(loop, rank, size, os.path.join(folder, name))
        loop.run(rank, size, False)
        yield name, {**told, "unrecorded": bits_of(loop.net)}
    for name, (loop, _, _) in WRONG.items():
        yield name, judged(loop, rank, size, os.path.join(folder, name))
    yield "no reduce-scatter", judged(ShardLoop(), rank, size, os.path.join(folder, "no reduce-scatter"))


def judged(loop, rank, size, folder):
    said = []
    code = loop.run(rank, size, True).check(folder, show=said.append)
    return {"code": code, "said": "\n".join(said), "bits": bits_of(loop.net)}
