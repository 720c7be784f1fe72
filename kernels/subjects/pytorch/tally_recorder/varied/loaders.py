"""Loaders of a script: batches of the sizes that are asked for, and which rows a tensor holds, whatever was sliced, copied or
computed of them."""
import hashlib
import itertools
from collections.abc import Mapping

import torch
from torch.utils.data import BatchSampler, DataLoader, dataloader as loaders

from .casts import memory_of
from .state import storage_of, tensors_of


def bytes_of_row(row, mask=None):
    """A row without what pads it to the length of its neighbours."""
    row = row.reshape(-1)
    if mask is not None:
        row = row[mask]
    kept = row.ne(0).logical_and(row.ne(-100)).nonzero()
    row = row[int(kept[0]):int(kept[-1]) + 1] if len(kept) else row[:0]
    return memory_of(row.float() if row.is_floating_point() else row.long())


def rows_of(tensors, mask=None):
    """The hash of each row of these tensors, whose first extents are the same."""
    found = []
    for i in range(len(tensors[0])):
        row = hashlib.sha256()
        for tensor in tensors:
            own = mask[i].reshape(-1).bool() if mask is not None and mask.shape == tensor.shape else None
            row.update(bytes_of_row(tensor[i], own) + b"|")
        found.append(row.hexdigest())
    return found


def parts_of(item):
    """What tells one item of a data set from another, as bytes."""
    if isinstance(item, torch.Tensor):
        yield bytes_of_row(item)
    elif isinstance(item, Mapping):
        for key, value in item.items():
            yield str(key).encode()
            yield from parts_of(value)
    elif isinstance(item, (list, tuple)) and not all(isinstance(each, (int, float)) for each in item):
        for each in item:
            yield from parts_of(each)
    elif item is None or isinstance(item, (str, bytes, int, float, list, tuple)):
        yield repr(item).encode()
    elif hasattr(item, "tobytes"):  # an array, an image
        yield item.tobytes()
    else:
        yield type(item).__name__.encode()
        yield from parts_of(getattr(item, "__dict__", None))


def row_of(item):
    """The hash of an item of a data set."""
    row = hashlib.sha256()
    for part in parts_of(item):
        row.update(part + b"|")
    return row.hexdigest()


def place_of(tensor):
    """The address of a tensor's memory; 0 where it has none."""
    try:
        return storage_of(tensor).data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def part_of(whole, tensor):
    """The range of the whole's first extent that a tensor is; None where it is no such part, or all of it."""
    row = whole.stride(0)
    if not tensor.dim() or not row or len(tensor) >= len(whole) or not tensor.stride(0) or tensor.stride(0) % row:
        return None
    first, step = (tensor.data_ptr() - whole.data_ptr()) // (whole.element_size() * row), tensor.stride(0) // row
    own = range(first, first + step * len(tensor), step)
    return own if own and own[-1] < len(whole) else None


class Batch:
    """`rows` are hashes, `loader` and `epoch` tell who dealt them, `window` is the last one in which it was dealt or used."""

    def __init__(self, rows, loader, epoch, window):
        self.rows, self.loader, self.epoch, self.window = rows, loader, epoch, window


class Dealt:
    """A tensor is known by where it lies, for as long as it is kept here: up to the window behind the last one that used its batch.
    Where no tensor is, since the script makes its own of what was dealt, batches are used in their order."""

    def __init__(self):
        self.places, self.window = {}, 0  # (tensor, batches)
        self.untold, self.at, self.oldest = [], None, {}

    def add(self, batch, rows, loader, epoch):
        """What a loader deals: `rows` are the hashes of what it was made of, None where the data set deals batches itself."""
        tensors = [tensor for tensor in tensors_of(batch) if tensor.dim() and tensor.numel()]
        if rows is None:
            mask = batch.get("attention_mask") if isinstance(batch, Mapping) else None
            rows = rows_of([tensor for tensor in tensors if len(tensor) == len(tensors[0])], mask) if tensors else []
        dealt = Batch(rows, loader, epoch, self.window)
        for tensor in tensors:
            self.places[place_of(tensor)] = tensor.detach(), (dealt,)
        if self.untold is not None:
            self.untold.append(dealt)

    def batches_of(self, tensors):
        found = {}
        for tensor in tensors:
            for batch in self.places.get(place_of(tensor), (None, ()))[1]:
                found[id(batch)] = batch
        return tuple(found.values())

    def computed(self, given, result, in_place):
        """An operation read `given`: what it gave holds what they hold."""
        batches = self.batches_of(given[1:] if in_place else given)
        if batches:
            for tensor in tensors_of(result):
                place = place_of(tensor)
                if place and (in_place or place not in self.places):
                    self.places[place] = tensor.detach(), batches

    def rows_in(self, tensors):
        """{(batch, number): hash} of all rows that these hold: of the part of a tensor which is a part of the batch, those."""
        found = {}
        for tensor in tensors:
            whole, batches = self.places.get(place_of(tensor), (None, ()))
            for batch in batches:
                batch.window = self.window
                own = part_of(whole, tensor) if len(batches) == 1 and whole.dim() and len(whole) == len(batch.rows) else None
                found.update({(batch, i): batch.rows[i] for i in (own or range(len(batch.rows)))})
        return found

    def given_to_model(self, tensors, at):
        """The same of what a model is given, or of the oldest batch, which is used up once `at` is another."""
        found = self.rows_in(tensors)
        if found:
            self.untold = None
        elif self.untold and at != self.at:
            batch, self.at = self.untold.pop(0), at
            self.oldest = {(batch, i): row for i, row in enumerate(batch.rows)}
        return found or (self.oldest if self.untold is not None and at == self.at else {})

    def next_window(self):
        self.window += 1
        self.places = {place: kept for place, kept in self.places.items() if any(batch.window >= self.window - 1 for batch in kept[1])}


class Listens:
    """Listens to one pass of a loader through its data set: `rows` are the hashes of what the batch at hand was made
    of, None where the data set deals batches itself."""

    def __init__(self, iterator, epochs, aside):
        self.loader, self.rows, self.aside = id(iterator._index_sampler), None, aside
        self.epoch = epochs[self.loader] = epochs.get(self.loader, -1) + 1
        fetcher = getattr(iterator, "_dataset_fetcher", None)
        if getattr(fetcher, "auto_collation", False):
            self.collate, fetcher.collate_fn = fetcher.collate_fn, self.collated

    def collated(self, items):
        with self.aside():
            self.rows = [row_of(item) for item in items]
        return self.collate(items)


class Loaders:
    """`sizes` of a window's batches, one behind another, are cut from the order in which a loader deals its rows, where it
    would have cut batches as large as the first of them. `batch_size` is what loaders are told in place of their own."""

    def __init__(self, sizes, casts, seen, batch_size=None):
        self.sizes, self.casts, self.seen, self.batch_size = sizes, casts, seen, batch_size
        self.keep_short = set()  # whether loaders that deal such batches keep a short last one
        self.fewer = None  # the rows of a data set that has fewer than one batch
        self.epochs = {}  # how often each loader has begun

    def install(self):
        init, deal, length = DataLoader.__init__, BatchSampler.__iter__, BatchSampler.__len__
        following = loaders._BaseDataLoaderIter.__next__

        def made(loader, dataset, batch_size=1, *args, **kwargs):
            for name in ("num_workers", "timeout", "prefetch_factor", "multiprocessing_context", "persistent_workers"):
                kwargs.pop(name, None)
            if self.batch_size and batch_size is not None and kwargs.get("batch_sampler") is None:
                batch_size = self.batch_size
            init(loader, dataset, batch_size, *args, **kwargs)
            if batch_size == max(self.sizes) and hasattr(dataset, "__len__") and len(dataset) < batch_size:
                self.fewer = len(dataset)

        def batches(sampler):
            if sampler.batch_size != max(self.sizes):
                return deal(sampler)
            self.keep_short.add(not sampler.drop_last)
            return self.cut(sampler.sampler) if self.uneven() else deal(sampler)

        def count(sampler):
            if sampler.batch_size != max(self.sizes) or not self.uneven():
                return length(sampler)
            windows, rest = divmod(len(sampler.sampler), sum(self.sizes))
            return windows * len(self.sizes) + sum(first < rest for first in itertools.accumulate((0, *self.sizes[:-1])))

        def follows(iterator):
            self.seen.goes_on()
            self.seen.asked_for_rows += 1
            if not hasattr(iterator, "tally"):
                iterator.tally = Listens(iterator, self.epochs, self.casts.aside)
            batch, listens = following(iterator), iterator.tally
            batch = self.casts.rows(batch, dealt=True) if self.casts.on else batch
            with self.casts.aside():
                self.seen.dealt.add(batch, listens.rows, listens.loader, listens.epoch)
            return batch

        DataLoader.__init__, BatchSampler.__iter__, BatchSampler.__len__ = made, batches, count
        loaders._BaseDataLoaderIter.__next__ = follows

    def uneven(self):
        return len(set(self.sizes)) > 1

    def cut(self, rows):
        rows = iter(rows)
        for size in itertools.cycle(self.sizes):
            batch = list(itertools.islice(rows, size))
            if not batch:
                return
            yield batch


def stepped_early(dealt, sizes):
    """The first window, where it has fewer micro-batches than were asked for and another has them all."""
    first, *others = dealt or [[]]
    if not first or len(first) >= len(sizes) or sum(first) >= sum(sizes) or sizes not in others:
        return None
    return {"window": 0, "behind": len(first), "of": len(sizes)}


def repeated(seen, sizes, of_whole):
    """The first window in which rows of a loader are in more micro-batches of their size than in the whole batch's."""
    for window, (dealt, (rows, times)) in enumerate(zip(seen.get("dealt", []), seen.get("repeated", []))):
        if times > of_whole > 0 and set(dealt) <= set(sizes):
            return {"window": window, "rows": rows, "times": times}
    return None
