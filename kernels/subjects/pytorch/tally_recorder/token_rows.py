"""Which rows of a batch of tokens are rows of a case: those that are no padding, sequence by sequence."""
import torch

from .errors import CaptureError

IGNORED = -100  # what Transformers ignores
COLLATOR = "use a collator that restarts them with each document, as DataCollatorWithFlattening does"


class TokenRows:
    """`kept` says of each token of the batch whether it is a row, None: all are; `lengths` of each sequence how many
    rows it has; `labels` are the rows' own, where the model was given them; `positions` theirs, where they are stated."""

    scored_by_padding = 0  # labels that a token of padding is scored by

    def __init__(self, kept=None, lengths=None, labels=None, positions=None):
        self.kept, self.lengths, self.labels, self.positions = kept, lengths, labels, positions

    def of(self, value):
        """The rows of a tensor [batch, tokens, features]."""
        return self.of_flat(value.detach().reshape(-1, value.shape[-1]))

    def of_flat(self, value):
        """The rows of a tensor that has one entry a token, in the order of the batch."""
        return value if self.kept is None or value.shape[0] != self.kept.shape[0] else value[self.kept]


ALL_ROWS = TokenRows()


def refuse(name, found, expected, instead):
    raise CaptureError(f"the model's {name}: found {found}, expected {expected}; {instead}")


def rows_of_batch(tokens, given, turns):
    """`tokens` are input_ids [batch, tokens], `given` what else the model was called with. `turns` says that positions
    turn features, so that it counts how far apart two are: those of padded lines are stated as the model counts them."""
    for name in ("inputs_embeds", "token_type_ids", "cache", "past_key_values", "encoder_hidden_states"):
        if given.get(name) is not None:
            refuse(name, "some", "none", "record the model as opaque")
    if tokens is None or tokens.dim() != 2:
        refuse("input_ids", "none" if tokens is None else f"a shape of {list(tokens.shape)}", "[batch, tokens]",
               "record the model as opaque")
    kept = kept_of(given.get("attention_mask"), tokens)
    starts = starts_of(given, kept)
    flat = None if bool(kept.all()) else kept.reshape(-1)
    rows = TokenRows(flat, lengths_between(starts[kept]))
    if turns and given.get("position_ids") is None and flat is not None:
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        rows.positions = rows.of_flat(places.reshape(-1))
    if given.get("labels") is not None and given.get("shift_labels") is None:
        labels = given["labels"].detach()
        rows.labels = rows.of_flat(labels.reshape(-1))
        rows.scored_by_padding = int((~kept[:, :-1] & (labels[:, 1:] != IGNORED)).sum())
    return rows


def kept_of(mask, tokens):
    """Which tokens are no padding."""
    if mask is None:
        return torch.ones_like(tokens, dtype=torch.bool)
    if mask.shape != tokens.shape:
        refuse("attention_mask", f"a shape of {list(mask.shape)}", f"{list(tokens.shape)}, 1 where a token is no "
               "padding", "give it as the tokenizer or collator does, or record the model as opaque")
    return mask.bool()


def starts_of(given, kept):
    """Where sequences begin: with each line of the batch, and where it says that another document does."""
    starts = kept & (kept.long().cumsum(1) == 1)
    bounds = given.get("cu_seq_lens_q")
    if bounds is not None:
        starts.view(-1)[bounds[:-1].long().to(starts.device)] = True
    if given.get("seq_idx") is not None:
        documents = given["seq_idx"]
        starts[:, 1:] |= kept[:, 1:] & (documents[:, 1:] != documents[:, :-1])
    if given.get("position_ids") is None:
        return starts
    positions = given["position_ids"].expand_as(kept)
    begins = kept.clone()
    begins[:, 1:] &= ~kept[:, :-1] | (positions[:, 1:] != positions[:, :-1] + 1)
    if bool((positions[begins | starts] != 0).any()):
        line, column = ((begins | starts) & (positions != 0)).nonzero()[0].tolist()
        refuse("position_ids", f"{int(positions[line, column])} where a sequence starts (line {line}, token {column})",
               "0 there, and one more for each token behind it", COLLATOR)
    return starts | begins


def lengths_between(starts):
    places = starts.nonzero().reshape(-1).tolist() + [starts.shape[0]]
    return [after - before for before, after in zip(places, places[1:])]
