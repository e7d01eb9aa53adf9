# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What each command-line flag changes in the composed config, in place."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.accelerators import VISIBLE, count_accelerators, visible_value
from isaaclab_rlinf.config.checks_model import BUNDLED
from isaaclab_rlinf.config.checks_placement import DEVICES
from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.config.seeds import derived_seed, resumed_seed

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint

_PATHS_OR_NAMES = ("backbone_model_path", "lora_path", "rl_model_path")
"""Keys of a model section that hold a directory or file. A Ray cluster's working directory may be another."""
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
"""NVIDIA's, WSL's and AMD's driver. Where there is none torch finds no GPU, and need not be imported to say so."""


def apply_common(cfg: DictConfig, args: argparse.Namespace, modes: tuple[str, ...], acting: DictConfig) -> None:
    """Write what train and play share into the config. Relative paths mean the launcher's working directory.

    Args:
        cfg: Config to change.
        args: Parsed command line.
        modes: Environment sections that will run.
        acting: The model section that decides the chunk length.

    Raises:
        ConfigError: If the device does not exist.
    """
    # Evaluation episodes are not those that training saw.
    seed = args.seed
    seeds = {} if seed is None else {"actor": seed, "env.train": seed, "env.eval": derived_seed(seed, 1000)}
    for mode in ("train", "eval"):
        init_params = _mapping(cfg, f"env.{mode}.init_params")
        if args.task and init_params is not None:
            init_params.id = args.task
    for path, value in seeds.items():
        section = _mapping(cfg, path)
        if section is not None:
            section.seed = value
    for model in (_mapping(cfg, "actor.model"), _mapping(cfg, "rollout.model")):
        if model is None:
            continue
        if args.model_path:
            model.model_path = args.model_path
        if model.get("model_path", None) is not None:
            model.model_path = _model_path(str(model.model_path), args.working_directory)
        for key in _PATHS_OR_NAMES:
            if model.get(key, None):
                model[key] = _local_path(str(model[key]), args.working_directory)
    if cfg.runner.get("expert_ckpt_path", None):
        cfg.runner.expert_ckpt_path = absolute(str(cfg.runner.expert_ckpt_path), args.working_directory)
    for mode in modes:
        init_params = cfg.env[mode].init_params
        where = "--device" if args.device else f"env.{mode}.init_params.device"
        init_params.device = _simulator_device(args.device or init_params.get("device", None), where)
        init_params.action_chunk = acting.num_action_chunks
        modules = [*(cfg.get("extensions", None) or ()), *(init_params.get("import_modules", None) or ())]
        init_params.import_modules = list(dict.fromkeys(modules))


def _mapping(cfg: DictConfig, path: str) -> DictConfig | None:
    """Return a mapping below a key path; None where an evaluation's YAML has none."""
    from omegaconf import OmegaConf

    node = OmegaConf.select(cfg, path)
    return node if OmegaConf.is_dict(node) else None


def _model_path(value: str, working_directory: Path) -> str:
    """Return an absolute path for a model directory, or the bundled checkpoint's."""
    if value == BUNDLED:
        from isaaclab_rlinf.models.base import bundled_checkpoint

        return str(bundled_checkpoint())
    return absolute(value, working_directory)


def absolute(value: str, working_directory: Path) -> str:
    """Return a path of the command line or the YAML as the workers, which run elsewhere, must be given it."""
    return str((working_directory / Path(value).expanduser()).absolute())


def _local_path(value: str, working_directory: Path) -> str:
    """Return an absolute path, unless it is a name that only the Hugging Face cache may know (``owner/model``)."""
    path = absolute(value, working_directory)
    named = value.count("/") == 1 and not value.startswith((".", "~", "/")) and not value.endswith("/")
    return value if named and not os.path.exists(path) else path


def _simulator_device(requested: str | None, where: str) -> str:
    """Return the device for the simulator: the one asked for, valid or not, else CUDA where there is any."""
    if requested and requested not in DEVICES[1:]:
        return requested
    if not requested and not any(map(os.path.exists, _GPU_DEVICES)):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return requested or "cuda"
    if requested or count_accelerators():
        value = visible_value()
        reason = "torch finds no CUDA device" + (f" with {VISIBLE}={value!r}" if value is not None else "")
        found = f"{requested!r}, but {reason}" if requested else f"{reason}, while RLinf would put the models on GPU 0"
        fix = "--device cpu" + (f", or unset {VISIBLE}" if value is not None else "")
        raise ConfigError([Issue(where if requested else "--device", found, "cpu on this machine", fix)])
    return "cpu"


def apply_resume(
    cfg: DictConfig,
    args: argparse.Namespace,
    checkpoint: ResolvedCheckpoint | None,
    issues: list[Issue],
    where: str = "--checkpoint",
) -> None:
    """Set where training starts and ends.

    Args:
        cfg: Config to change.
        args: Parsed command line.
        checkpoint: What to resume from.
        issues: Receives a mistake.
        where: Flag or key that names the checkpoint.
    """
    if args.max_iterations is not None:
        cfg.runner.max_epochs = args.max_iterations + (checkpoint.step if checkpoint else 0)
        cfg.runner.max_steps = -1  # the smaller of the two would win
    if checkpoint is not None:
        limits = [int(cfg.runner.max_epochs), int(cfg.runner.get("max_steps", -1))]
        last = min(limit for limit in limits if limit >= 0)
        if last <= checkpoint.step:
            found = f"step {checkpoint.step} of a training that ends at step {last} (runner.max_epochs, max_steps)"
            issues.append(Issue(where, found, "an earlier checkpoint", "--max_iterations N does N more steps"))
        cfg.runner.resume_dir = str(checkpoint.step_dir)
        cfg.env.train.seed = resumed_seed(int(cfg.env.train.seed), checkpoint.step)


def apply_episodes(cfg: DictConfig, args: argparse.Namespace) -> int:
    """Spread the episodes over environments and rollout epochs, one whole episode each.

    Every environment plays each episode to its end, whatever its length: stopping at the first N finished ones would
    favour short episodes.

    Args:
        cfg: Config to change.
        args: Parsed command line.

    Returns:
        The number of episodes to count.
    """
    env = cfg.env.eval
    episodes = args.num_episodes or args.num_envs or int(env.total_num_envs)
    parallel = min(args.num_envs or int(env.total_num_envs), episodes)
    env.rollout_epoch = -(-episodes // parallel)
    parallel = -(-episodes // env.rollout_epoch)
    # Workers, pipeline stages and groups share the environments evenly; what that makes too many is not counted.
    even = _even_share(cfg, args.device == "cpu")
    env.total_num_envs = -(-parallel // even) * even
    chunk = int(cfg.rollout.model.num_action_chunks)
    env.max_steps_per_rollout_epoch = -(-int(env.max_episode_steps) // chunk) * chunk
    env.auto_reset = env.ignore_terminations = False
    env.init_params.report_instruction = True
    return episodes


def _even_share(cfg: DictConfig, force_cpu: bool) -> int:
    """Return the number that the evaluation environments must be a multiple of."""
    from omegaconf import OmegaConf

    from isaaclab_rlinf.config.placement import world_sizes

    accelerators = 0 if force_cpu else count_accelerators()
    cluster = OmegaConf.to_container(cfg.cluster, resolve=True)
    groups = cluster.get("node_groups") or ()
    sizes, _ = world_sizes(cluster["component_placement"], cluster["num_nodes"], accelerators, groups)
    env, rollout = (sizes.get(component) or 1 for component in ("env", "rollout"))
    return math.lcm(env * int(cfg.env.eval.get("group_size", None) or 1), rollout) * int(cfg.rollout.pipeline_stage_num)
