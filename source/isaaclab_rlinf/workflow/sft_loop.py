# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The optimisation loop of supervised fine-tuning."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.models.flow import sample_flow_time
from isaaclab_rlinf.models.schedule import learning_rate_factor

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
    from isaaclab_rlinf.workflow.sft import SftSettings
    from isaaclab_rlinf.workflow.sft_learner import Learner


def optimise(
    learner: Learner,
    demonstrations: Demonstrations,
    settings: SftSettings,
    log_dir: Path,
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train the learner's model in place with AdamW.

    Args:
        learner: The model and how it sees the demonstrations.
        demonstrations: What it imitates.
        settings: How to train.
        log_dir: Directory for TensorBoard events (``sft/loss``, ``sft/lr``, ``sft/grad_norm``).
        on_step: Called after each step with (steps done, loss).

    Returns:
        Loss of every step.

    Raises:
        ConfigError: If the model does not take the demonstrations, an empty instruction for example.
        FloatingPointError: If the loss is no longer finite.
    """
    from torch.utils.tensorboard import SummaryWriter

    try:
        model, inputs = learner.model, learner.frame_inputs(demonstrations)
    except ValueError as error:
        raise ConfigError([Issue("--dataset", str(error), "frames and instructions that the model takes")]) from error
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=settings.lr, betas=(0.9, 0.95), weight_decay=settings.weight_decay)
    generator = torch.Generator().manual_seed(settings.seed)
    model.train()
    losses: list[float] = []
    with SummaryWriter(str(log_dir)) as writer:
        for step in range(settings.steps):
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * learning_rate_factor(step, settings.steps)
            optimizer.zero_grad(set_to_none=True)
            loss = learner.loss(*_draw_batch(learner, inputs, demonstrations, settings.batch_size, generator))
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(trained, settings.grad_clip)
            optimizer.step()
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise FloatingPointError(f"the loss is {losses[-1]} at step {step + 1}; lower --lr ({settings.lr:g})")
            writer.add_scalar("sft/loss", losses[-1], step + 1)
            writer.add_scalar("sft/lr", optimizer.param_groups[0]["lr"], step + 1)
            writer.add_scalar("sft/grad_norm", norm.item(), step + 1)
            if on_step is not None:
                on_step(step + 1, losses[-1])
    model.eval()
    return losses


def _draw_batch(
    learner: Learner,
    inputs: dict[str, torch.Tensor],
    demonstrations: Demonstrations,
    size: int,
    generator: torch.Generator,
) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random frames with replacement: their inputs, action chunks, noise and flow times."""
    frames = torch.randint(len(demonstrations.tasks), (size,), generator=generator)
    actions = learner.targets(demonstrations, frames)
    noise = torch.randn(actions.shape, generator=generator)
    return {key: value[frames] for key, value in inputs.items()}, actions, noise, sample_flow_time(size, generator)
