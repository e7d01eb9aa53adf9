# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf 0.3.0's FSDP manager with the numbers that several ranks and 16-bit precision need.

Two things are mended, both after RLinf has wrapped the model:

- ``FSDP2Strategy.clip_grad_norm_`` scales copies of gradients that are not float32, so that bfloat16 gradients are not
  clipped at all, and it is given no process group, so that each rank clips by the norm of its own shard and a
  gradient that is not finite on one rank skips the step there only. Here one norm goes over all ranks.
- With ``mixed_precision.param_dtype`` FSDP rounds every float that goes into the model, the recorded log-probabilities
  and samples with it, and PPO's ratio is off before any update. Here they pass as they are. It does the same at every
  layer that is wrapped on its own, and a vision tower's rotary positions, which a rollout has in float32, are rounded.

Private names touched: ``FSDPModelManager._strategy``, ``FSDP2Strategy.cfg``. docs/upstream.md has the symptoms;
tests/compat/test_rlinf_fsdp.py runs RLinf's own manager on two ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import torch
from torch import distributed as dist
from torch.distributed.tensor import DTensor

from isaaclab_rlinf.models.flow_rollout import RECORD_KEYS

EXACT_INPUTS = ("prev_logprobs", *RECORD_KEYS)
"""Names of inputs that no cast may touch, at the top of ``forward``'s keywords or in a dictionary among them."""
EXACT_LAYER_INPUTS = ("position_embeddings",)
"""The same for layers that are wrapped on their own; language models hand theirs over in the compute dtype anyway."""
_EPSILON = 1e-6
"""What RLinf adds to the norm that it divides by."""


class ExactFsdp:
    """Comes before one of RLinf's FSDP managers among the bases of a class.

    Rank discipline: optimizer steps are collectives, as upstream.
    """

    def setup_model_and_optimizer(self) -> None:
        """Build and wrap the model as RLinf does, then mend what the module's docstring names."""
        super().setup_model_and_optimizer()
        clip_over_all_ranks(self._strategy)
        keep_exact(self.model)


def clip_over_all_ranks(strategy: Any) -> None:
    """Let an FSDP2 strategy clip by the norm of the whole gradient; FSDP1's does so already.

    Args:
        strategy: RLinf's; changed in place.
    """
    from rlinf.hybrid_engines.fsdp.strategy.fsdp2 import FSDP2Strategy

    if isinstance(strategy, FSDP2Strategy):
        strategy.clip_grad_norm_ = lambda model: clip_gradients(model.parameters(), float(strategy.cfg.optim.clip_grad))


def clip_gradients(parameters: Iterable[Any], max_norm: float) -> float:
    """Scale gradients in place so that their norm over all ranks is at most ``max_norm``.

    A collective of the default process group. Norms are computed in float32 whatever the gradients' dtype.

    Args:
        parameters: The model's; sharded ones are DTensors. Those that are not count once, as their average over the
            ranks: every rank has a whole copy.
        max_norm: The bound.

    Returns:
        The norm before scaling, equal on every rank; not finite where any rank's gradient is not.
    """
    from rlinf.scheduler import Worker

    sharded, copied = [], []
    for parameter in parameters:
        if isinstance(parameter.grad, DTensor):
            sharded.append(parameter.grad.to_local().detach())
        elif parameter.grad is not None:
            copied.append(parameter.grad.detach())
    # Gradients that are offloaded lie on the CPU, where the process group of a GPU run does not communicate.
    square = _square(sharded, Worker.torch_device_type)
    square += _square(copied, Worker.torch_device_type) / dist.get_world_size()
    dist.all_reduce(square)
    norm = float(square.sqrt())
    factor = max_norm / (norm + _EPSILON)
    if factor < 1.0:
        for gradient in [*sharded, *copied]:
            gradient.mul_(factor)
    return norm


def _square(gradients: list[torch.Tensor], device: str) -> torch.Tensor:
    """Return the sum of the squares of all elements, a float32 scalar on a device."""
    norms = [torch.linalg.vector_norm(gradient, dtype=torch.float32) for gradient in gradients]
    return torch.stack(norms).square().sum().to(device) if norms else torch.zeros((), device=device)


def keep_exact(model: Any, names: Collection[str] = EXACT_INPUTS) -> None:
    """Take named inputs past the cast with which FSDP begins the forward of a wrapped model, and of its layers.

    Args:
        model: Wrapped by FSDP2 or FSDP1; gets two hooks. Its attribute ``exact_inputs`` adds names. Layers wrapped on
            their own get hooks for :data:`EXACT_LAYER_INPUTS`.
        names: Names of inputs.
    """
    from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel

    _take_past_cast(model, {*names, *getattr(model, "exact_inputs", ())})
    for unit in model.modules():
        if unit is not model and isinstance(unit, FSDPModule | FullyShardedDataParallel):
            _take_past_cast(unit, EXACT_LAYER_INPUTS)


def _take_past_cast(unit: Any, names: Collection[str]) -> None:
    # FSDP2 casts in a hook of its own, FSDP1 between the wrapper's hooks and those of the module in it.
    inner = getattr(unit, "_fsdp_wrapped_module", unit)
    unit.register_forward_pre_hook(_change(names, _Sealed), prepend=True, with_kwargs=True)
    inner.register_forward_pre_hook(_change(names, _unseal), with_kwargs=True)


class _Sealed:
    """Holds an input where FSDP, which looks for tensors in containers, does not find it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _unseal(value: Any) -> Any:
    return value.value if isinstance(value, _Sealed) else value


def _change(names: Collection[str], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a hook that applies a function to the inputs of these names."""

    def changed(inputs: dict[str, Any]) -> dict[str, Any]:
        return {
            key: change(value) if key in names else changed(value) if type(value) is dict else value
            for key, value in inputs.items()
        }

    return lambda module, args, kwargs: (args, changed(kwargs))
