# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The policies of the lane and what they look at: ``tiny_vla`` and a tiny GR00T N1.7 of this package."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .context import Context

if TYPE_CHECKING:
    import torch

TINY_VLA_YAML = "isaaclab_ppo_tiny_vla_touch_color"
N1D7_YAML = "isaaclab_ppo_gr00t_n1d7_touch_color"
YAMLS = {"tiny_vla": TINY_VLA_YAML, "n1d7": N1D7_YAML}
INSTRUCTIONS = tuple(f"touch the {colour} ball" for colour in ("red", "green", "blue"))


def tiny_n1d7(work: Path) -> Path:
    """Return the directory of the tiny N1.7 checkpoint, made on the CPU when it is not there yet.

    Args:
        work: Any group's work directory; the checkpoint is shared by all of them.
    """
    directory = work.parent / "tiny_n1d7"
    if not (directory / "complete").is_file():
        from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint

        shutil.rmtree(directory, ignore_errors=True)
        make_tiny_checkpoint(directory, INSTRUCTIONS)
        (directory / "complete").touch()
    return directory


def run_config(context: Context, family: str, *overrides: str, model_path: Path | None = None) -> Any:
    """Return the bundled YAML of a family as ``isaaclab train`` would run it, checked by us and by RLinf's FSDP check.

    Args:
        context: Of the check.
        family: Key of :data:`YAMLS`.
        *overrides: Hydra overrides.
        model_path: Another checkpoint than the tiny one.
    """
    from isaaclab_rlinf.backends.cli_args import parse_train_args
    from isaaclab_rlinf.backends.prepare import prepare_train
    from isaaclab_rlinf.compat.rlinf_config import import_rlinf_config

    if family == "n1d7":
        model_path = model_path or tiny_n1d7(context.work)
    model = ["--model_path", str(model_path)] if model_path else []
    argv = ["--config_name", YAMLS[family], "--device", context.device, *model, *overrides]
    cfg = prepare_train(parse_train_args(argv)).cfg
    import_rlinf_config()
    from rlinf.config import validate_fsdp_cfg

    cfg.actor = validate_fsdp_cfg(cfg.actor)
    return cfg


@contextmanager
def every_gpu_visible() -> Iterator[None]:
    """Leave out the lane's own CUDA_VISIBLE_DEVICES (of --device cpu), which a check would take for a user's."""
    hidden = os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    try:
        yield
    finally:
        if hidden is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = hidden


def issues_on(count: int, *argv: str) -> list[str]:
    """Return what would be refused on a machine with so many GPUs, whatever this one has.

    Args:
        count: Number of GPUs.
        *argv: Arguments of ``isaaclab train``.
    """
    from omegaconf import open_dict

    from isaaclab_rlinf.backends.apply_args import apply_common
    from isaaclab_rlinf.backends.cli_args import parse_train_args
    from isaaclab_rlinf.backends.prepare import compose
    from isaaclab_rlinf.config.migrate import migrate
    from isaaclab_rlinf.config.validate import examine

    args = parse_train_args([*argv, "--device", "cpu"])  # the simulator's device needs no GPU to be looked at
    source, cfg = compose(args)
    migrate(cfg)
    with open_dict(cfg):
        apply_common(cfg, args, ("train", "eval"), cfg.actor.model)
    with every_gpu_visible():
        return [str(issue) for issue in examine(cfg, source=source, mode="train", num_accelerators=count).issues]


def observation(batch: int, seed: int = 0, side: int = 64) -> dict[str, Any]:
    """Return a random observation of the bundled task as environment workers send it, on the CPU."""
    from isaaclab_rlinf.testing import example_env_obs

    return example_env_obs(batch=batch, image_size=side, state_dim=6, wrist=True, instructions=INSTRUCTIONS, seed=seed)


def rollout_policy(cfg: Any, precision: str) -> torch.nn.Module:
    """Return the policy that a rollout worker would hold, on the device."""
    from omegaconf import OmegaConf

    # resolved first: a section by itself does not find what it refers to in others
    return built({**OmegaConf.to_container(cfg.actor.model, resolve=True), "precision": precision})


def built(section: Any) -> torch.nn.Module:
    """Return the policy of a model section, on the device, as RLinf's workers get it."""
    from omegaconf import OmegaConf

    from isaaclab_rlinf.models.registry import register_models

    register_models()
    from rlinf.models import get_model

    return get_model(OmegaConf.create(section))
