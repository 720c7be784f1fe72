"""What a DataLoader deals: batches of the sizes that are asked for, without processes of their own, cast."""
import itertools

from torch.utils.data import BatchSampler, DataLoader
from torch.utils.data import dataloader as loaders

from .dealt import row_of


class Listens:
    """To one pass of a loader through its data set: `rows` are the hashes of what the batch at hand was made of, None where the data
    set deals batches itself."""

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
        self.keep_short = set()  # of loaders that deal such batches: whether they keep a short last one
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
