"""A stretch of windows: the taps of one trace and the tensors of its case, in a scratch file."""
import ctypes
import tempfile

import torch

from ..user_code import CaptureError

CHUNK = 1 << 22
ALIGNED = 8  # bytes: no element is longer
IN_MEMORY = 1 << 20  # bytes that wait for the file together; a tensor of more goes there at once


class Kept:
    """Where a tensor lies: bytes [offset, offset + size) of the file."""
    __slots__ = ("offset", "size", "dtype", "shape")

    def __init__(self, offset, size, dtype, shape):
        self.offset, self.size, self.dtype, self.shape = offset, size, dtype, tuple(shape)


def memory_of(tensor):
    """The bytes of a contiguous tensor on the CPU, not copied."""
    size = tensor.numel() * tensor.element_size()
    return (ctypes.c_char * size).from_address(tensor.data_ptr()) if size else b""


class Scratch:
    """The file has no name where the system allows it, so nothing stays behind when the process ends. Its last bytes,
    from `written` on, wait in memory."""

    def __init__(self, folder=None):
        self.file = None
        try:
            self.file = tempfile.TemporaryFile(dir=folder)
        except (OSError, TypeError) as problem:
            raise CaptureError(f"scratch: found {folder!r} ({problem}), expected a folder that can be written; pass one") \
                from None
        self.end = self.written = 0
        self.waiting = torch.empty(IN_MEMORY, dtype=torch.uint8)

    def put(self, tensor, over=None):
        """Keeps a tensor at the end, or over one of the same size that is no longer needed."""
        value = tensor.detach().to("cpu").contiguous()
        size = value.numel() * value.element_size()
        if over is None or over.size != size:
            kept = Kept(self.place_for(size), size, value.dtype, value.shape)
        else:
            kept = Kept(over.offset, size, value.dtype, value.shape)
        if kept.offset >= self.written:
            self.in_memory(kept).copy_(value.reshape(-1).view(torch.uint8))
        else:
            self.file.seek(kept.offset)
            self.file.write(memory_of(value))
        return kept

    def place_for(self, size):
        """Room at the end: in memory, or in the file where it holds no more."""
        place = self.end = -(-self.end // ALIGNED) * ALIGNED
        if place + size - self.written > IN_MEMORY:
            self.write_out()
        self.end += size
        if size > IN_MEMORY:
            self.written = self.end
        return place

    def in_memory(self, kept):
        at = kept.offset - self.written
        return self.waiting[at:at + kept.size]

    def write_out(self):
        self.file.seek(self.written)
        self.file.write(memory_of(self.waiting[:self.end - self.written]))
        self.written = self.end

    def tensor(self, kept):
        """The tensor again."""
        if not kept.size:
            return torch.empty(kept.shape, dtype=kept.dtype)
        if kept.offset >= self.written:
            return self.in_memory(kept).clone().view(kept.dtype).view(kept.shape)
        self.file.seek(kept.offset)
        return torch.frombuffer(bytearray(self.file.read(kept.size)), dtype=kept.dtype).reshape(kept.shape)

    def copy(self, kept, into):
        """Copies the tensor's bytes to another file, in pieces."""
        if kept.size and kept.offset >= self.written:
            self.write_out()
        self.file.seek(kept.offset)
        left = kept.size
        while left:
            piece = self.file.read(min(left, CHUNK))
            into.write(piece)
            left -= len(piece)

    def __del__(self):
        if self.file is not None:
            self.file.close()


class Segment:
    """`taps` and `tensors` give the parts of each tensor by name; names that begin with `@` are settled when the recipe
    is known."""

    def __init__(self, scratch, first):
        self.scratch, self.first = scratch, first
        self.taps, self.tensors = {}, {}
        self.windows, self.rates, self.losses, self.changes = [], [], [], []
        self.added_up = []  # whether ranks added up behind each micro-batch of each window
        self.rates_passed, self.rate_at_last_step = [], None  # at every micro-batch's beginning, and at the last step
        self.rates_at_steps, self.rate_moved_inside = {}, False  # by window; whether one moved before a last backward
        self.not_finite = []  # gradients and losses: window, micro-batch and what
        self.trains = set()  # whether the model was in training, of models with dropout
        self.skipped = set()  # windows whose step a GradScaler skipped
        self.step, self.options = 0, None  # the optimizer's options at the first step
        self.without_update = self.without_update_from = None  # why the case leaves the update out, and the first such window
        self.term_beside_loss, self.why_no_loss = False, "none was seen"
        self.touched, self.without = set(), {}  # parameters with a gradient; those without at a step, and where
        self.sparse = set()  # parameters with a sparse gradient
        self.sums = {}  # where elements are sampled, the sum of all squares of each window's buffers
        self.label_counts = []  # losses over an opaque model's tokens: see `item_weights.py`
        self.scale = None  # what the scaler held at the start, where there is one
        self.scales, self.calls = {}, []  # by window: what its losses were multiplied by; the calls of their terms
        self.beside = self.unweighed = self.loss_is_stated = False  # terms that were not seen; backward passes without any
        self.passes, self.meant, self.together = [], [], set()  # backward passes of each window, and how many are meant; windows of one
        self.changed, self.why_opaque, self.wrongs = [], None, []  # unknown changes of gradients; why no case states the loss
        self.clip_is_inside = False  # whether such a change holds a call of PyTorch's clips

    def begin_window(self, size):
        """One that is meant to have so many micro-batches."""
        self.windows.append([])
        self.added_up.append([])
        self.calls.append([])
        self.passes.append(0)
        self.meant.append(size)

    def begin_micro_batch(self):
        self.windows[-1].append(None)
        self.added_up[-1].append(False)
        self.passes[-1] += 1

    def place(self):
        """The prefix of the taps of the micro-batch that began last."""
        return f"w{len(self.windows) - 1}/m{len(self.windows[-1]) - 1}"

    def micro_batches(self, w):
        """How many the window has, however often it calls backward for each."""
        return self.meant[w] if w in self.together else min(self.passes[w], self.meant[w])

    def put_in_place(self, w, values):
        """The gradients (before, after, by name) are changed by what no case states: written as two micro-batches more, of
        which one takes away what stood there, to the bit, and the other puts what stands there now."""
        self.why_opaque = "gradients are changed by what no case states"
        for part in ("take away", "put"):
            self.windows[w].append(1)
            self.added_up[w].append(False)
            prefix, kept = f"w{w}/m{len(self.windows[w]) - 1}", {}
            for name, (before, after) in values.items():
                self.tap(f"{prefix}/backward/d.{name}", after if part == "put" else -before)
                kept[name] = self.tap(f"{prefix}/accumulate/buffer.{name}", after if part == "put" else torch.zeros_like(before))
        return kept

    def lines(self):
        """One line of what no case states of the gradients."""
        if not self.changed:
            return []
        rest = f" (and {len(self.changed) - 1} more)" if self.changed[1:] else ""
        return [f"not judged: a change of the gradients: {self.changed[0]}{rest}; written as two micro-batches more, which take away "
                "what was accumulated and put what stands there now"]

    def tap(self, name, value):
        """The last tensor under a name is what the trace holds: outputs are tapped by this."""
        kept = value if not isinstance(value, torch.Tensor) else self.scratch.put(value)
        self.taps.pop(name, None)
        self.taps[name] = [kept]
        return kept

    def tap_first(self, name, value):
        """The first tensor under a name is what the trace holds: inputs are tapped by this."""
        return self.tap(name, value) if name not in self.taps else self.taps[name][0]

    def tap_number(self, name, number, dtype, last=False):
        return (self.tap if last else self.tap_first)(name, torch.tensor(number, dtype=dtype))

    def give(self, name, value):
        """A tensor of the case, or one more part of it."""
        self.tensors.setdefault(name, []).append(self.scratch.put(value))

    def rates_of_steps(self):
        """The rate of each window that took its step: a skipped one does not count."""
        return [self.rate_of(w) for w in range(len(self.rates)) if w not in self.skipped] or self.rates

    def rates_of_micro_batches(self):
        """The rates of a schedule that moves with every micro-batch, as it went through them; None for any other."""
        sizes, passed = self.passes, self.rates_passed
        moves = [a != b for a, b in zip(passed, passed[1:])]
        if not self.rate_moved_inside or len(set(sizes)) > 1 or sizes[0] == 1 or not all(moves):
            return None
        return passed + [self.rate_at_last_step] * (self.rate_at_last_step != passed[-1])

    def rate_of(self, w):
        """What was in force when the window began, or, where the rates move between the last backward pass and the step
        alone, at the step."""
        return self.rates[w] if self.rate_moved_inside else self.rates_at_steps.get(w, self.rates[w])

    def rates_are_of_steps(self):
        """Whether a rate was set between the last backward pass and the step, and none before."""
        return any(self.rate_of(w) != rate for w, rate in enumerate(self.rates))

    def sums_of_squares(self, elements):
        """A line for each window."""
        return "".join(f"w{w} {elements} {value.hex()}\n" for w, value in sorted(self.sums.items()))

    def drop_window(self):
        """Forgets the last window, and the rows that its losses read; its last micro-batch may not have come to an end."""
        before = sum(self.passes[:-1])
        stated = sum(not isinstance(seen, str) for seen in self.losses[:before])
        for name, parts in self.tensors.items():
            if name in ("x", "target"):
                del parts[stated:]
            elif name.endswith(".mask"):
                del parts[before:]
        del self.losses[before:]
        prefix = f"w{len(self.windows) - 1}/"
        self.taps = {name: parts for name, parts in self.taps.items() if not name.startswith(prefix)}
        self.windows.pop()
        self.added_up.pop()
        self.calls.pop()
        self.passes.pop()
        self.meant.pop()
        self.not_finite = [found for found in self.not_finite if found[0] < len(self.windows)]
        self.label_counts = [counts for counts in self.label_counts if counts[0] < len(self.windows)]
        self.rates.pop()
        del self.rates_passed[before:]
        self.rates_at_steps.pop(len(self.windows), None)
        self.sums.pop(len(self.windows), None)
