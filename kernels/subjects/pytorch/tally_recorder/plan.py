"""Which windows of a long training are recorded."""
from .errors import CaptureError


class Plan:
    """`windows` of them from `start` on, and again `every` so many; None: all, and once."""

    def __init__(self, windows, start, every):
        for name, value, least in (("windows", windows, 1), ("start", start, 0), ("every", every, windows or 1)):
            if value is not None and (not isinstance(value, int) or value < least):
                raise CaptureError(f"{name}: found {value!r}, expected a whole number of at least {least}; pass one")
        if every is not None and windows is None:
            raise CaptureError("every: found no windows beside it, expected how many to record each time; pass windows")
        self.windows, self.start, self.every = windows, start or 0, every

    def is_over(self, window):
        """Whether neither this window nor a later one is recorded."""
        return self.every is None and self.windows is not None and window >= self.start + self.windows

    def segment_of(self, window):
        """The first window of the stretch that this one is in, and whether it is recorded."""
        past = window - self.start
        if past < 0:
            return None, False
        first = past - past % self.every if self.every else 0
        return self.start + first, self.windows is None or past - first < self.windows
