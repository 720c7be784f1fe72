"""The identity of storages, and the blocks of their contents: one for each version that an operation saw."""
import ctypes
import functools
import os
import weakref

from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._mode_utils import no_dispatch

ALIGNED = 64
CHUNK = 1 << 20  # bytes that are compared at a time, which a cache holds
LIMIT = 128  # storages that are kept in mind before those that died are looked for

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t


def storage_of(tensor):
    """Its storage without a format: PyTorch 1.13 has another name for it."""
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor._storage()


@functools.lru_cache(maxsize=4096)
def bytes_of_length(count):
    return ctypes.c_char * count


def write_all(file, data):
    """Writes to a file without a buffer, which may take less at a time."""
    data = memoryview(data).cast("B")
    while len(data):
        data = data[file.write(data):]


class Known:
    """A storage that a block was written of. The weak reference keeps its address from being used again. `block` is the
    number of the block with its present contents, None from the moment that an operation writes to it."""
    __slots__ = "reference", "block", "at", "size", "pointer", "versions"

    def __init__(self, storage):
        self.reference, self.block = StorageWeakRef(storage), None
        self.versions = {}  # beside the CPU: PyTorch's own versions of the tensors that the block was named for


class Storages:
    """Writes blocks to `bits`, a file without a buffer that can be read, and tells `line` of each. `changed` is set where
    contents are others than those of the block, though no operation wrote to them."""

    def __init__(self, bits, line):
        self.bits, self.line = bits, line
        self.known, self.limit, self.count, self.end, self.changed = {}, LIMIT, 0, 0, None
        self.compared = (ctypes.c_char * CHUNK)()

    def of(self, tensor):
        """What is known of a tensor's storage; None where that is nothing."""
        try:
            return self.known.get(storage_of(tensor)._cdata)
        except (RuntimeError, NotImplementedError):  # it has none
            return None

    def wrote(self, tensor):
        """An operation writes to the tensor: the next that names its storage names another block."""
        known = self.of(tensor)
        if known is not None:
            known.block, known.versions = None, {}

    def block(self, tensor, storage):
        """The number of the block with the contents that the storage has now, which is written where there is none."""
        known = self.known.get(storage._cdata)
        if known is None:
            self.forget()
            known = self.known[storage._cdata] = Known(storage)
        size, pointer = storage.nbytes(), storage.data_ptr()
        if known.block is not None and size != known.size:
            known.block, known.versions = None, {}  # resized by a call that is no operation
        if known.block is not None and not self.holds(known, tensor, size, pointer):
            known.block, known.versions = None, {}
            self.changed = f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
        if known.block is None:
            self.write(known, storage, size, pointer)
        return known.block

    def note(self, tensor):
        """Keeps PyTorch's version of a tensor of another device. It counts a write up behind the operation."""
        known = None if tensor.device.type == "cpu" or tensor.is_inference() else self.of(tensor)
        if known is not None:
            known.versions[id(tensor)] = weakref.ref(tensor), tensor._version

    def holds(self, known, tensor, size, pointer):
        """Whether the contents are still those of the block: compared byte by byte where the CPU can read them, elsewhere
        PyTorch's version of the same tensor."""
        if tensor.device.type != "cpu":
            reference, version = known.versions.get(id(tensor), (lambda: None, None))
            return pointer == known.pointer and (reference() is not tensor or tensor._version == version)
        for done in range(0, size, CHUNK):
            count = min(CHUNK, size - done)
            if os.preadv(self.bits.fileno(), [memoryview(self.compared)[:count]], known.at + done) != count:
                raise OSError(f"bits.bin: found fewer than {known.at + size} bytes, expected all that were written")
            if _memcmp(pointer + done, ctypes.addressof(self.compared), count):
                return False
        return True

    def write(self, known, storage, size, pointer):
        known.size, known.pointer, known.at = size, pointer, -(-self.end // ALIGNED) * ALIGNED
        write_all(self.bits, bytes(known.at - self.end))
        if size:
            if storage.device.type != "cpu":
                with no_dispatch():  # no mode of the loop's own is to see this copy
                    storage = storage.cpu()
            write_all(self.bits, bytes_of_length(size).from_address(storage.data_ptr()))
        self.end = known.at + size
        known.block, self.count = self.count, self.count + 1
        self.line({"block": known.block, "at": known.at, "bytes": size})

    def forget(self):
        """Lets go of storages that have died, whose addresses may then be used again."""
        if len(self.known) >= self.limit:
            self.known = {key: known for key, known in self.known.items() if not known.reference.expired()}
            self.limit = max(LIMIT, 2 * len(self.known))
