"""What a GradScaler does in a window: its check for overflow, its division, its skips and its own update."""
import torch

from .changes import Change


def any_of(found):
    """Whether the scaler found what is not finite on any device."""
    return any(bool(value.item()) for value in found.values())


class ScalerTaps:
    """Hears of the scaler's calls and taps them in the capture's window."""

    def __init__(self, capture):
        self.capture = capture

    def unscale_begins(self, scaler):
        capture = self.capture
        if not capture.recording_step():
            return
        capture.places.saw("unscale")
        capture.sums.look("the scaler's unscale_")
        segment, w, change = capture.segment, capture.window_prefix(), Change()
        if segment.scale is None:
            segment.scale = {
                "kind": "dynamic", "initial": float(scaler.get_scale()),
                "growth_factor": float(scaler.get_growth_factor()),
                "backoff_factor": float(scaler.get_backoff_factor()),
                "growth_interval": int(scaler.get_growth_interval()),
                "growth_counter": int(scaler._growth_tracker.item())}
        read, segment.scales[len(segment.windows) - 1] = {}, float(scaler.get_scale())
        for name in capture.parameters:
            gradient = capture.views.gradient(name)
            if name in capture.latest:
                change.offer(name, capture.scratch.tensor(capture.latest[name]), gradient)
            read[name] = gradient
        if capture.keeps_gradients():
            for name, gradient in read.items():
                if gradient is not None:
                    tap = "overflow_check/in.buffer" if change.kind == "none" else "@clipped"
                    segment.tap_first(f"{w}/{tap}.{name}", gradient)
        window = capture.meaning.place(capture.count - 1)[0]
        if change.kind == "unexplained" and capture.stands_alone():
            capture.put_in_place(f"before unscale_ of window {window}")
        elif change.kind == "unexplained":
            capture.report.unexplained(f"window {window}, before unscale_", change)
        elif change.kind != "none":
            capture.report.noted(f"window {window}, all gradients",
                                 "were changed before unscale_, as a clip before unscaling does")
        capture.buffers_are_final()
        capture.unscaled = True

    def checked(self, found):
        """The check alone is over; the optimizer that follows reads the same buffers."""
        capture = self.capture
        if not capture.recording_step():
            return
        self.found(any_of(found))
        for name, parameter in capture.parameters.items():
            if name not in capture.latest and parameter.grad is not None:
                capture.latest[name] = capture.scratch.put(capture.views.gradient(name))

    def found(self, found):
        capture = self.capture
        capture.skips += found
        if found:
            capture.waits, capture.count_at_step = False, capture.count
        stages = ("overflow_check/", "agree/in.", "agree/") if capture.sums else ("overflow_check/",)
        for stage in stages:
            capture.segment.tap_number(f"{capture.window_prefix()}/{stage}found", int(found), torch.uint8)

    def unscale_ends(self, scaler, optimizer):
        capture = self.capture
        if not capture.recording_step():
            return
        segment, w = capture.segment, capture.window_prefix()
        found = any_of(scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"])
        self.found(found)
        for name, parameter in capture.parameters.items():
            if parameter.grad is None or found:
                continue
            if capture.keeps_gradients():
                segment.tap_first(f"{w}/unscale/d.{name}", capture.views.gradient(name).float())
            capture.latest[name] = capture.scratch.put(capture.views.gradient(name))
        if not found:
            segment.tap_number(f"{w}/unscale/in.inverse_scale", 1 / float(scaler.get_scale()), torch.float32)

    def scaler_updates(self, scaler):
        self.capture.take_back()  # an update closes what all optimizers that share the scaler did
        self.tap(scaler, "in.", False)

    def scaler_updated(self, scaler):
        self.tap(scaler, "", True)

    def tap(self, scaler, prefix, last):
        capture = self.capture
        if not capture.recording_step() or capture.segment.scale is None:
            return
        segment, w = capture.segment, capture.window_prefix()
        segment.tap_number(f"{w}/scaler/{prefix}scale", float(scaler.get_scale()), torch.float32, last)
        segment.tap_number(f"{w}/scaler/{prefix}growth_counter", int(scaler._growth_tracker.item()), torch.int64, last)
        if prefix:
            segment.tap_number(f"{w}/scaler/in.found", int(bool(capture.skips)), torch.uint8)
