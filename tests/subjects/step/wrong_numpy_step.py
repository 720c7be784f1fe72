"""The NumPy step with a planted bug, which its argument names: a step of one's own that replaces a part of another."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "kernels/subjects/process"))
import numpy_step

F = numpy_step.F


class MeanOfMeans(numpy_step.Step):
    def factor(self, window, k):
        sizes = self.case["windows"][window]
        own = self.items(self.row, sizes[k])
        return F(self.scale() / (len(sizes) * own)) if own else F(0)


class ClipEachMicroBatch(numpy_step.Step):
    def accumulate(self, at, gradients):
        super().accumulate(at, gradients)
        self.buffers = self.clipped(at.split("/")[0], self.buffers)


class NeverCleared(numpy_step.Step):
    def window(self, w):
        kept, zeros = dict(self.buffers), numpy_step.np.zeros_like
        if kept:
            numpy_step.np.zeros_like = lambda value: kept[next(n for n in kept if self.parameters[n] is value)]
        try:
            super().window(w)
        finally:
            numpy_step.np.zeros_like = zeros


numpy_step.serve({"mean-of-means": MeanOfMeans, "clip-per-microbatch": ClipEachMicroBatch,
                  "missing-zero": NeverCleared}[sys.argv[1]])
