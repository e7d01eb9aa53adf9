# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Builder of the tiny_vla policy for RLinf's ``get_model``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.inspect import checkpoint_facts
from isaaclab_rlinf.models.seeding import seeded

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from .rl_policy import TinyVLAForRL

# The value head of every rank and worker starts from the same weights: FSDP2 does not broadcast them.
_VALUE_HEAD_SEED = 20_260_101


def build_policy(cfg: DictConfig, torch_dtype: Any = None) -> TinyVLAForRL:
    """Load a tiny_vla checkpoint as an RL policy.

    Args:
        cfg: ``actor.model`` or ``rollout.model``: ``model_path`` (a Hugging Face directory; empty means the bundled
            checkpoint), ``action_dim``, ``num_action_chunks``, optional ``denoising_steps`` and ``rl_head_config``.
        torch_dtype: Dtype of the weights; default float32.

    Returns:
        The policy, with its processor, in eval mode.

    Raises:
        ValueError: If files are missing or the config disagrees with the checkpoint.
    """
    import torch

    from isaaclab_rlinf.models.rl_head import RLHeadConfig

    from .processing import TinyVLAProcessor
    from .rl_policy import TinyVLAForRL

    path = Path(cfg.get("model_path") or bundled_checkpoint())
    _check_sizes(cfg, path)
    steps = int(cfg.get("denoising_steps") or checkpoint_facts(path).num_denoising_steps)
    with seeded(_VALUE_HEAD_SEED), _quiet_loading():
        model, info = TinyVLAForRL.from_pretrained(
            path,
            rl_head=RLHeadConfig.from_mapping(cfg.get("rl_head_config"), steps),
            num_action_chunks=int(cfg.num_action_chunks),
            denoising_steps=steps,
            dtype=torch_dtype or torch.float32,
            output_loading_info=True,
        )
    _check_keys(info, path)
    model.processor = TinyVLAProcessor.from_pretrained(path)
    return model


@contextmanager
def _quiet_loading() -> Iterator[None]:
    """Silence transformers' progress bar and report: what matters of it, :func:`_check_keys` says."""
    from transformers.utils import logging

    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def _check_sizes(cfg: DictConfig, path: Path) -> None:
    facts = checkpoint_facts(path)
    if int(cfg.action_dim) != facts.action_dim:
        raise ValueError(
            f"action_dim is {cfg.action_dim} in the config, the checkpoint {path} predicts {facts.action_dim}: set "
            f"actor.model.action_dim to {facts.action_dim} (padding is added by action_mapping, after the model)"
        )
    if not 1 <= int(cfg.num_action_chunks) <= facts.action_horizon:
        raise ValueError(
            f"num_action_chunks is {cfg.num_action_chunks} in the config, the checkpoint {path} predicts "
            f"{facts.action_horizon} actions per call: set actor.model.num_action_chunks to 1..{facts.action_horizon}"
        )


def _check_keys(info: dict[str, Any], path: Path) -> None:
    """Only the value head may be absent: an SFT checkpoint has none."""
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("value_head."))
    problems = {
        "missing": missing,
        "unexpected": sorted(info["unexpected_keys"]),
        "mismatched": sorted(str(key) for key in info["mismatched_keys"]),
    }
    if any(problems.values()):
        shown = "; ".join(f"{name}: {keys[:5]} ({len(keys)})" for name, keys in problems.items() if keys)
        raise ValueError(f"the weights in {path} do not fit the model that its config.json describes: {shown}")
