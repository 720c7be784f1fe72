"""Whether autocast still holds casts of parameters that a step has changed since: what it cast it keeps until it is left."""
import torch
import torch.nn.functional as F

from .losses import autocast_is_on

MOST_COLUMNS = 1 << 12


class SeesStaleCasts:
    """Of the parameters, the smallest matrix is multiplied by one once a step was taken: the product is what the model
    computes with."""

    def __init__(self, parameters):
        fit = {name: parameter for name, parameter in parameters.items() if parameter.dim() == 2 and
               parameter.dtype == torch.float32 and parameter.shape[1] <= MOST_COLUMNS}
        self.name = min(fit, key=lambda name: fit[name].numel(), default=None)
        self.parameter, self.stepped = fit.get(self.name), False

    def step_ends(self):
        self.stepped = self.parameter is not None and autocast_is_on(self.parameter.device.type)

    def look(self, report):
        """Before a forward pass, once behind each step."""
        if self.found():
            report.wrong(f"the model computes with {self.name} as it was before the last step: autocast keeps what it has cast "
                         "until it is left; open torch.autocast anew for each forward pass, not around the loop")

    def found(self):
        """Gradients are on, so that what this casts is what the model would."""
        if not self.stepped:
            return False
        self.stepped, device = False, self.parameter.device.type
        if not (autocast_is_on(device) and torch.is_autocast_cache_enabled() and torch.is_grad_enabled()):
            return False
        used = F.linear(torch.eye(self.parameter.shape[1], device=device), self.parameter).detach().t()
        return not torch.equal(used, self.parameter.detach().to(used.dtype))
