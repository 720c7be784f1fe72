"""The models that the recorded loops train, and losses of their own."""
import torch.nn as nn
import torch.nn.functional as F


def perceptron():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


def smooth():
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.SiLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))


class Convolution(nn.Module):
    """A network that is no chain of known layers: convolution, BatchNorm, dropout, attention, a shortcut."""

    def __init__(self):
        super().__init__()
        self.filters, self.norm, self.drop = nn.Conv1d(1, 4, 3, padding=1), nn.BatchNorm1d(4), nn.Dropout(0.1)
        self.attention, self.out = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(24, 4)

    def forward(self, x):
        h = self.drop(F.relu(self.norm(self.filters(x[:, None])))).transpose(1, 2)
        return self.out((h + self.attention(h, h, h)[0]).flatten(1))


class Language(nn.Module):
    """A small language model: a row of logits for each token, embedding and output tied."""

    def __init__(self):
        super().__init__()
        self.words, self.mix = nn.Embedding(4, 8), nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, 4, bias=False)
        self.out.weight = self.words.weight

    def forward(self, x):
        return self.out(self.mix(self.words((x.abs() * 2).long() % 4))[0])


def of_tokens(y, _, **options):
    """The loss of a language model, whose targets are the tokens shifted by one."""
    tokens = y.detach().argmin(-1)
    return F.cross_entropy(y[:, :-1].reshape(-1, 4), tokens[:, 1:].reshape(-1), **options)


def of_ones_own(y, target):
    return (y.logsumexp(-1) - y.gather(1, target[:, None])[:, 0]).mean()
