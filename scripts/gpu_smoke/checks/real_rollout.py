# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``real-rollout``: N1.7 at its real size as a rollout worker holds it, and one backward pass in bf16."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gpu_smoke import actor as lane_actor
from gpu_smoke import policies, real_sizes
from gpu_smoke.context import Context
from gpu_smoke.host_memory import HostPeak
from gpu_smoke.outcome import require

BATCH = 16


def run(context: Context) -> None:
    """Build, predict, and go backward through one micro batch with checkpointed activations."""
    import torch

    lane_actor.use_device(context.device)
    started = time.monotonic()
    directory = real_sizes.real_checkpoint(context)
    context.measured["write"] = f"{time.monotonic() - started:.0f} s"
    if context.full:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    started = time.monotonic()
    with HostPeak() as host:
        policy = policies.built(section(directory, "bf16"))
        if context.full:
            torch.cuda.synchronize()
    context.measured["build"] = f"{time.monotonic() - started:.0f} s"
    context.measured["host peak"] = f"{host.gib:.1f} GiB"
    real_sizes.require_sizes(context, sum(parameter.numel() for parameter in policy.parameters()))
    result = _predict(context, policy)
    _backward(context, policy, result)


def section(directory: Path, precision: str) -> dict[str, Any]:
    """Return the model section."""
    return {
        "model_type": "gr00t_n1d7",
        "model_path": str(directory),
        "implementation": "lerobot",
        "embodiment_tag": "new_embodiment",
        "precision": precision,
        "is_lora": False,
        "action_dim": 3,
        "num_action_chunks": 8,
        "denoising_steps": 4,
        "rl_head_config": {"noise_level": 0.4, "stochastic_steps": [3], "padding_value": real_sizes.PROMPT_LENGTH},
    }


def _predict(context: Context, policy: Any) -> dict[str, Any]:
    import torch

    batch, side = context.size(BATCH, 4), context.size(256, 64)
    for seed in range(2):  # the first call compiles and chooses kernels
        started = time.monotonic()
        actions, result = policy.predict_action_batch(policies.observation(batch, seed, side), mode="train")
        require(bool(torch.isfinite(torch.as_tensor(actions)).all()), "actions are not finite")
        context.measured[f"predict {batch}"] = f"{time.monotonic() - started:.2f} s"
    if context.full:
        context.measured["GPU, rollout"] = f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
    return result


def _backward(context: Context, policy: Any, result: dict[str, Any]) -> None:
    import torch

    from isaaclab_rlinf.testing.subject import loss_of, trainer_forward

    policy.train()
    policy.gradient_checkpointing_enable()
    started = time.monotonic()
    output = trainer_forward(policy, result["forward_inputs"], result["prev_logprobs"])
    error = float((output["logprobs"].detach() - result["prev_logprobs"]).abs().max())
    loss_of(output).backward()
    gradients = [parameter.grad for parameter in policy.parameters() if parameter.grad is not None]
    finite = all(bool(torch.isfinite(gradient).all()) for gradient in gradients)
    context.measured["backward"] = f"{time.monotonic() - started:.1f} s"
    context.measured["log-prob error"] = f"{error:.1e}"
    if context.full:
        context.measured["GPU, backward"] = f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
    require(gradients and finite, f"{len(gradients)} gradients, {'finite' if finite else 'not finite'}")
    require(error < 0.1, f"the trainer's log-probabilities differ from the rollout's by {error:.2g}")
