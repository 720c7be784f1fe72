"""A file that grows: tensors go there as they come, so that memory holds little of them at a time."""
import ctypes
import tempfile

import torch

from .errors import CaptureError

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
