# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Supervised training: a new tiny_vla, or a GR00T N1.7 checkpoint, imitates demonstrations by rectified flow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.models.seeding import seeded
from isaaclab_rlinf.workflow.dataset_info import WHERE
from isaaclab_rlinf.workflow.partial_directory import partial_directory, refuse_taken

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
    from isaaclab_rlinf.workflow.sft_learner import Learner

LR_NEW = 1e-3
"""Peak learning rate of a small network with random weights."""
LR_BASE = 1e-4
"""Of a pretrained checkpoint, which the former would wreck; Isaac-GR00T fine-tunes with the same."""


@dataclass(frozen=True)
class SftSettings:
    """Settings of one training.

    Attributes:
        steps: Optimizer steps.
        batch_size: Frames per step.
        lr: Peak learning rate; linear warm-up over the first 5 %, then cosine decay to a hundredth. None becomes
            :data:`LR_NEW` or, with ``base``, :data:`LR_BASE`.
        seed: Seed of weights, batches, noise and times.
        action_horizon: Actions per chunk; None means 8, or the base checkpoint's.
        max_episodes: Use only the first so many episodes; None means all.
        max_text_length: Words that a new tiny_vla takes per instruction; None means 8.
        weight_decay: Of AdamW.
        grad_clip: Largest norm of the gradient.
        base: GR00T N1.7 checkpoint directory to start from; None makes a new tiny_vla.
        embodiment_tag: Embodiment of the base; None when it has one only.
        backbone_model_path: Directory of its backbone's tokenizer, when the base has none.
        tune_llm: Whether the base's language model is trained.
        tune_visual: Whether its vision tower is.
    """

    steps: int
    batch_size: int = 64
    lr: float | None = None
    seed: int = 0
    action_horizon: int | None = None
    max_episodes: int | None = None
    max_text_length: int | None = None
    weight_decay: float = 1e-4
    grad_clip: float = 1.0
    base: Path | None = None
    embodiment_tag: str | None = None
    backbone_model_path: Path | None = None
    tune_llm: bool = False
    tune_visual: bool = False

    def __post_init__(self) -> None:
        """Fill in the learning rate, so that ``sft.json`` shows it."""
        if self.lr is None:
            object.__setattr__(self, "lr", LR_NEW if self.base is None else LR_BASE)


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
        notices: What is few in the demonstrations, or hardly moves, and what was decided about it.
    """

    out_dir: Path
    episodes: int
    frames: int
    first_loss: float
    final_loss: float
    parameters: int
    seconds: float
    notices: tuple[str, ...] = ()


def train_sft(
    dataset_dir: str | Path,
    out_dir: str | Path,
    settings: SftSettings,
    *,
    on_frame: Callable[[int, int], None] | None = None,
    on_step: Callable[[int, float], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> SftReport:
    """Train on a LeRobot dataset, on the CPU in float32, and save the result.

    Everything is written to a hidden directory beside ``out_dir``, which takes that name when all is done.
    The same dataset, settings, machine and thread count give the same weights.

    Args:
        dataset_dir: LeRobot v3 dataset, see :func:`~isaaclab_rlinf.workflow.dataset_memory.load_demonstrations`.
        out_dir: Directory to create; TensorBoard events go to its ``tensorboard/``.
        settings: How to train.
        on_frame: Called while the dataset is read, with (frames read, frames in all).
        on_step: Called after each step with (steps done, loss).
        on_notice: Called with what the user should know about the demonstrations.

    Raises:
        FileExistsError: If ``out_dir`` exists and is not empty.
        ConfigError: If the dataset is damaged, has values that are no numbers or does not fit, or the base checkpoint
            does not or is incomplete.
        FloatingPointError: If the loss is no longer finite.
    """
    from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations
    from isaaclab_rlinf.workflow.demonstration_checks import check_demonstrations
    from isaaclab_rlinf.workflow.sft_loop import optimise

    out = Path(out_dir)
    refuse_taken(out)
    demonstrations = load_demonstrations(dataset_dir, settings.max_episodes, on_frame)
    notices = check_demonstrations(demonstrations)
    learner = _make_learner(demonstrations, settings)
    notices = (*notices, *learner.notices)
    for notice in notices if on_notice is not None else ():
        on_notice(notice)
    with partial_directory(out) as partial:
        started = time.perf_counter()
        losses = optimise(learner, demonstrations, settings, partial / "tensorboard", on_step)
        seconds = time.perf_counter() - started
        learner.save(partial)
        edge = max(1, settings.steps // 20)
        report = SftReport(
            out_dir=out,
            episodes=demonstrations.episodes,
            frames=len(demonstrations.tasks),
            first_loss=sum(losses[:edge]) / edge,
            final_loss=sum(losses[-edge:]) / edge,
            parameters=sum(parameter.numel() for parameter in learner.model.parameters()),
            seconds=seconds,
            notices=notices,
        )
        _write_summary(partial, Path(dataset_dir), settings, report)
    return report


def _make_learner(demonstrations: Demonstrations, settings: SftSettings) -> Learner:
    """Build the learner from its own seed; what is wrong with the base checkpoint's weights is found here."""
    from isaaclab_rlinf.workflow.sft_learner import make_learner

    try:
        with seeded(settings.seed):
            return make_learner(demonstrations, settings)
    except Exception as error:  # of transformers, tokenizers or safetensors, from the base's files
        if isinstance(error, ConfigError) or (settings.base is None and not isinstance(error, ValueError)):
            raise
        if settings.base is None:
            raise ConfigError([Issue(WHERE, f"a new tiny_vla cannot be trained on it: {error}")]) from error
        raise ConfigError([Issue("--base", str(error), "a complete GR00T N1.7 checkpoint directory")]) from error


def _write_summary(out: Path, dataset: Path, settings: SftSettings, report: SftReport) -> None:
    """Record how the checkpoint came to be, without paths of this machine."""
    result = {key: value for key, value in asdict(report).items() if key != "out_dir"}
    summary = {"dataset": dataset.name, "settings": _plain(settings), "result": result}
    (out / "sft.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def _plain(settings: SftSettings) -> dict[str, object]:
    return {key: value.name if isinstance(value, Path) else value for key, value in asdict(settings).items()}
