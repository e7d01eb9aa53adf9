# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Supervised fine-tuning: train tiny_vla to imitate demonstrations, by rectified flow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.models.tiny_vla import TinyVLAModel, TinyVLAProcessor
    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations

MAX_TEXT_LENGTH = 8


@dataclass(frozen=True)
class SftSettings:
    """Settings of one training.

    Attributes:
        steps: Optimizer steps.
        batch_size: Frames per step.
        lr: Peak learning rate; linear warm-up over the first 5 %, then cosine decay to a hundredth.
        seed: Seed of weights, batches, noise and times.
        action_horizon: Actions per chunk.
        max_episodes: Use only the first so many episodes; None means all.
        weight_decay: Of AdamW.
        grad_clip: Largest norm of the gradient.
    """

    steps: int
    batch_size: int = 64
    lr: float = 1e-3
    seed: int = 0
    action_horizon: int = 8
    max_episodes: int | None = None
    weight_decay: float = 1e-4
    grad_clip: float = 1.0


@dataclass(frozen=True)
class SftReport:
    """What a training produced.

    Attributes:
        out_dir: Checkpoint directory in Hugging Face format.
        episodes: Episodes trained on.
        frames: Frames trained on.
        first_loss: Mean loss of the first twentieth of the steps.
        final_loss: Mean loss of the last twentieth.
        parameters: Number of weights.
        seconds: Wall time of the optimisation.
    """

    out_dir: Path
    episodes: int
    frames: int
    first_loss: float
    final_loss: float
    parameters: int
    seconds: float


def train_sft(
    dataset_dir: str | Path,
    out_dir: str | Path,
    settings: SftSettings,
    *,
    on_frame: Callable[[int, int], None] | None = None,
    on_step: Callable[[int, float], None] | None = None,
) -> SftReport:
    """Train a tiny_vla from scratch on a LeRobot dataset and save it.

    The same dataset, settings, machine and thread count give the same weights.

    Args:
        dataset_dir: LeRobot v3 dataset, see :func:`~isaaclab_rlinf.workflow.dataset_memory.load_demonstrations`.
        out_dir: Directory to create; TensorBoard events go to its ``tensorboard/``.
        settings: How to train.
        on_frame: Called while the dataset is read, with (frames read, frames in all).
        on_step: Called after each step with (steps done, loss).

    Raises:
        FileExistsError: If ``out_dir`` exists and is not empty.
        FileNotFoundError: If there is no dataset.
        ConfigError: If the dataset does not fit.
        FloatingPointError: If the loss is no longer finite.
    """
    import torch

    from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations
    from isaaclab_rlinf.workflow.sft_loop import optimise

    out = Path(out_dir)
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} exists and is not empty; a checkpoint is never overwritten. Choose another.")
    demonstrations = load_demonstrations(dataset_dir, settings.max_episodes, on_frame)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model, processor = build_model(demonstrations, settings)
    inputs = prepare_inputs(demonstrations, processor)
    started = time.perf_counter()
    losses = optimise(model, inputs, demonstrations, processor, settings, out / "tensorboard", on_step)
    seconds = time.perf_counter() - started
    model.save_pretrained(out)
    processor.save_pretrained(out)
    edge = max(1, settings.steps // 20)
    report = SftReport(
        out_dir=out,
        episodes=demonstrations.episodes,
        frames=len(demonstrations.tasks),
        first_loss=sum(losses[:edge]) / edge,
        final_loss=sum(losses[-edge:]) / edge,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        seconds=seconds,
    )
    _write_summary(out, Path(dataset_dir), settings, report)
    return report


def build_model(demonstrations: Demonstrations, settings: SftSettings) -> tuple[TinyVLAModel, TinyVLAProcessor]:
    """Make a model with fresh weights, and a processor, that fit the demonstrations."""
    from isaaclab_rlinf.models.tiny_vla import (
        TinyVLAConfig,
        TinyVLAModel,
        TinyVLAProcessor,
        build_tokenizer,
        min_max_statistics,
    )

    tokenizer = build_tokenizer(demonstrations.tasks, MAX_TEXT_LENGTH)
    size = demonstrations.images.shape[2]
    config = TinyVLAConfig(
        action_dim=demonstrations.action.shape[1],
        action_horizon=settings.action_horizon,
        state_dim=demonstrations.state.shape[1],
        image_views=list(demonstrations.views),
        image_size=size,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        max_text_length=MAX_TEXT_LENGTH,
    )
    processor = TinyVLAProcessor(
        tokenizer,
        min_max_statistics(demonstrations.state, demonstrations.action),
        image_views=demonstrations.views,
        image_size=size,
        max_text_length=MAX_TEXT_LENGTH,
    )
    return TinyVLAModel(config), processor


def prepare_inputs(demonstrations: Demonstrations, processor: TinyVLAProcessor) -> dict[str, torch.Tensor]:
    """Model inputs of all N frames; images are not copied."""
    import torch

    ids = torch.tensor([processor.token_ids(task) for task in demonstrations.tasks])
    return {
        "pixel_values": demonstrations.images,
        "input_ids": ids,
        "attention_mask": (ids != processor.tokenizer.pad_token_id).long(),
        "state": processor.normalize("state", demonstrations.state),
    }


def _write_summary(out: Path, dataset: Path, settings: SftSettings, report: SftReport) -> None:
    """Record how the checkpoint came to be, without paths of this machine."""
    result = {key: value for key, value in asdict(report).items() if key != "out_dir"}
    summary = {"dataset": dataset.name, "settings": asdict(settings), "result": result}
    (out / "sft.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
