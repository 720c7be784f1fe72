"""Megatron-core's own step: its schedule of micro-batches, its DistributedDataParallel and its optimizer, one process."""
import types
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from one_of_one import JOINS_AT, rows_of

warnings.simplefilter("ignore")

from megatron.core import parallel_state  # noqa: E402
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads  # noqa: E402
from megatron.core.enums import ModelType  # noqa: E402
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer  # noqa: E402
from megatron.core.pipeline_parallel import get_forward_backward_func  # noqa: E402
from megatron.core.transformer import TransformerConfig  # noqa: E402


class OnCpu(TorchFunctionMode):
    """Megatron-core names the GPU in many places: here it is a CPU."""

    def __enter__(self):
        self.current_device, torch.cuda.current_device = torch.cuda.current_device, lambda: torch.device("cpu")
        return super().__enter__()

    def __exit__(self, *how):
        torch.cuda.current_device = self.current_device
        return super().__exit__(*how)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        return func(*args, **kwargs)


def joined():
    """Of a process that is one of one."""
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", init_method=JOINS_AT)
        parallel_state.initialize_model_parallel()


class Net(nn.Module):
    """What the schedule asks of a model."""

    def __init__(self, per_token):
        super().__init__()
        self.config = TransformerConfig(
            num_layers=1, hidden_size=32, num_attention_heads=2, use_cpu_initialization=True, pipeline_dtype=torch.float32,
            gradient_accumulation_fusion=False, bias_dropout_fusion=False, calculate_per_token_loss=per_token)
        self.model_type = ModelType.encoder_or_decoder
        self.body = nn.Sequential(nn.Linear(100, 500), nn.ReLU(), nn.Linear(500, 10))

    def set_input_tensor(self, _):
        pass

    def forward(self, x):
        return self.body(x)


def made_by(per_token):
    return lambda: {"model": Net(per_token), "held": types.SimpleNamespace()}


def forward_step(micro_batches, model):
    batch = next(micro_batches)

    def loss_of(logits):
        """The sum over the micro-batch, how many tokens count, and what is logged."""
        loss = F.cross_entropy(logits, batch["y"], reduction="sum")
        return loss, torch.tensor(len(batch["y"]), dtype=torch.int), {"loss": loss.detach()}
    return model(batch["x"]), loss_of


def engine(held, model):
    """Made behind `make`, so that its buffers have the run's format."""
    held.ddp = DistributedDataParallel(model.config, DistributedDataParallelConfig(), model)
    held.optimizer = get_megatron_optimizer(OptimizerConfig(optimizer="adam", lr=1e-3, clip_grad=0.0), [held.ddp])
    model.config.finalize_model_grads_func = finalize_model_grads
    model.config.no_sync_func = held.ddp.no_sync
    model.config.grad_scale_func = held.optimizer.scale_loss


def step(state, micro_batches):
    joined()
    held, model = state["held"], state["model"]
    if not vars(held):
        engine(held, model)
    held.ddp.zero_grad_buffer()
    held.optimizer.zero_grad()
    get_forward_backward_func()(
        forward_step_func=forward_step, data_iterator=iter(micro_batches), model=[held.ddp], num_microbatches=len(micro_batches),
        seq_length=1, micro_batch_size=len(micro_batches[0]["y"]), forward_only=False)
    held.optimizer.step()
