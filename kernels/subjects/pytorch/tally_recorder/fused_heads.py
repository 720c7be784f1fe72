"""Losses of models that never make logits: the head and the loss are one function, which leaves each token's
log-probability alone, as TRL's trainers have it."""
import torch

from .losses import DEFAULTS


class FusedLoss:
    """What is kept of one such loss: no logits, but each row's loss and what it is multiplied with."""
    kind, y, d_y, unknown, averaged, fused = "cross_entropy", None, None, None, False, True
    lines = None  # of an opaque model's tokens
    options = {**DEFAULTS, "reduction": "sum"}

    def __init__(self, output, token_rows, x, scratch):
        self.node, self.x, self.factor = output.log_probs.grad_fn, x, None
        self.lengths, self.result = token_rows.lengths, output.log_probs.detach()
        self.scored = output.label_mask.detach()
        self.labels = self.target = scratch.put(token_rows.labels)
        self.positions = None if token_rows.positions is None else scratch.put(token_rows.positions)
        self.rows = token_rows.labels.shape[0]
        losses = torch.nn.functional.pad(-self.result.float(), (0, 1)).reshape(-1)  # a line's last token scores nothing
        self.losses = scratch.put(token_rows.of_flat(losses))

    def is_kept(self):
        return True

    def arrives(self, gradient):
        """The gradient of the sum of log-probabilities, of the tokens that are scored."""
        self.factor = -gradient.detach()[self.scored].clone()
        if self.factor.numel() == 0:
            self.factor = None


def makes_no_logits(output, token_rows):
    """Whether a model left such a loss's parts, with a gradient, of labels that it was given."""
    parts = [getattr(output, name, None) for name in ("log_probs", "label_mask")]
    return all(isinstance(part, torch.Tensor) for part in parts) and parts[0].requires_grad and \
        getattr(output, "logits", None) is None and token_rows.labels is not None
