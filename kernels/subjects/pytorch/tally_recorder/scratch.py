"""A file that grows: tensors go there as they come, so that memory holds one of them at a time."""
import ctypes
import tempfile

import torch

from .errors import CaptureError

CHUNK = 1 << 22


class Kept:
    """Where a tensor lies in the scratch file."""

    def __init__(self, offset, size, dtype, shape):
        self.offset, self.size, self.dtype, self.shape = offset, size, dtype, tuple(shape)


def memory_of(tensor):
    """The bytes of a contiguous tensor on the CPU, not copied."""
    size = tensor.numel() * tensor.element_size()
    return (ctypes.c_char * size).from_address(tensor.data_ptr()) if size else b""


class Scratch:
    """The file has no name where the system allows it, so nothing stays behind when the process ends."""

    def __init__(self, folder=None):
        self.file = None
        try:
            self.file = tempfile.TemporaryFile(dir=folder)
        except (OSError, TypeError) as problem:
            raise CaptureError(f"scratch: found {folder!r} ({problem}), expected a folder that can be written; pass one") \
                from None
        self.end = 0

    def put(self, tensor, over=None):
        """Writes a tensor at the end, or over one of the same size that is no longer needed."""
        value = tensor.detach().to("cpu").contiguous()
        size = value.numel() * value.element_size()
        reuse = over is not None and over.size == size
        offset = over.offset if reuse else self.end
        self.file.seek(offset)
        self.file.write(memory_of(value))
        if not reuse:
            self.end += size
        return Kept(offset, size, value.dtype, value.shape)

    def tensor(self, kept):
        """The tensor again."""
        if not kept.size:
            return torch.empty(kept.shape, dtype=kept.dtype)
        self.file.seek(kept.offset)
        return torch.frombuffer(bytearray(self.file.read(kept.size)), dtype=kept.dtype).reshape(kept.shape)

    def copy(self, kept, into):
        """Copies the tensor's bytes to another file, in pieces."""
        self.file.seek(kept.offset)
        left = kept.size
        while left:
            piece = self.file.read(min(left, CHUNK))
            into.write(piece)
            left -= len(piece)

    def __del__(self):
        if self.file is not None:
            self.file.close()
