"""A GradScaler that works without a GPU, also where PyTorch's own (before 2.3) does not."""
import torch


def update(scale, growth_tracker, found, growth_factor, backoff_factor, growth_interval):
    if found.item():
        scale.mul_(backoff_factor)
        growth_tracker.zero_()
        return
    growth_tracker += 1
    if growth_tracker.item() == growth_interval:
        scale.mul_(growth_factor)
        growth_tracker.zero_()


def scaler(**options):
    """The scaler of this PyTorch for the CPU."""
    if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cpu", **options)
    torch._amp_update_scale_ = update
    torch.cuda.amp.grad_scaler.amp_definitely_not_available = lambda: False

    class CpuScaler(torch.cuda.amp.GradScaler):
        def scale(self, outputs):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale

        def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
            for group in optimizer.param_groups:
                for gradient in (parameter.grad for parameter in group["params"] if parameter.grad is not None):
                    if not bool(torch.isfinite(gradient).all()):
                        found_inf.fill_(1)
                    gradient.mul_(inv_scale)
            return {found_inf.device: found_inf}

    return CpuScaler(**options)
