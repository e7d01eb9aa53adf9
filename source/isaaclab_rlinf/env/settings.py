# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From RLinf's env section to a :class:`.protocol.SimulatorSpec`.

Keys read, besides RLinf's own ``seed``, ``auto_reset``, ``ignore_terminations``, ``max_episode_steps``,
``reward_coef`` and the block ``isaaclab``:

=================================  =====================================================================================
``init_params.id``                 gym id of the task
``init_params.device``             ``cpu``, ``cuda:N``; absent: ``cuda:0`` if there is one
``init_params.action_chunk``       actions per chunk, equal to ``actor.model.num_action_chunks``
``init_params.import_modules``     modules that register the task
``init_params.env_overrides``      mapping of dotted env-cfg attributes to values
``init_params.presets``            Isaac Lab preset selectors, such as ``physics=newton_mjwarp``
``init_params.log_dir``            directory for the simulator's output; absent: the worker's own output
``init_params.final_observation``  ``truncated`` (default) or ``done``: which ends provide ``final_observation``
``init_params.report_instruction`` true: episode metrics carry the indices of instruction and environment
``init_params.start_timeout``      seconds until a start counts as hung
``init_params.step_timeout``       seconds until a chunk counts as hung
``video_cfg.save_video``           record every rollout epoch; with ``video_base_dir``, ``max_envs``, ``max_seconds``,
                                   ``fps``, ``width``, ``height``, ``info_on_video``
=================================  =====================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.seeds import derived_seed
from isaaclab_rlinf.env.protocol import SimulatorSpec, VideoSpec

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import IsaacLabBlock


_MOST_THREADS = 32
"""Isaac Sim's own limit for a process."""


class ConfigError(ValueError):
    """The env section cannot be turned into a simulator."""


def simulator_spec_from_config(cfg: Any, num_envs: int, seed_offset: int = 0, num_simulators: int = 1) -> SimulatorSpec:
    """Builds the specification of one simulator process.

    Args:
        cfg: RLinf's env section (an OmegaConf node).
        num_envs: Environments in this process.
        seed_offset: Number of this process among those of the run; added to ``cfg.seed``.
        num_simulators: Number of processes with this section.

    Raises:
        ConfigError: If a key is missing or has a value that is not allowed.
    """
    params = _plain(cfg.init_params)
    if "action_chunk" not in params:
        raise ConfigError("init_params.action_chunk is missing: set it to actor.model.num_action_chunks.")
    final = params.get("final_observation", "truncated")
    if final not in ("truncated", "done"):
        raise ConfigError(f"init_params.final_observation is {final!r}; allowed are 'truncated' and 'done'.")
    if _plain(cfg.get("data_collection", None) or {}).get("enabled"):
        raise ConfigError(
            "data_collection.enabled: RLinf's collector wants every step's observation, but only those at chunk "
            "boundaries exist here. Collect with `isaaclab-rlinf collect`, or remove the section."
        )
    seed = derived_seed(int(cfg.seed), seed_offset)
    max_steps = cfg.get("max_episode_steps", None)
    video = _plain(cfg.get("video_cfg", {}))
    shown = {
        "reward_scale": float(cfg.get("reward_coef", 1.0)),
        "first_env": seed_offset * num_envs,
        "captions": bool(video.get("info_on_video", True)),
        "suffix": f"-worker{seed_offset}" if num_simulators > 1 else "",
    }
    return SimulatorSpec(
        task_id=str(params["id"]),
        num_envs=num_envs,
        seed=seed,
        device=params.get("device") or default_device(),
        block=_parse_block(cfg.isaaclab),
        chunk_length=int(params["action_chunk"]),
        max_episode_steps=None if max_steps is None else int(max_steps),
        auto_reset=bool(cfg.get("auto_reset", True)),
        ignore_terminations=bool(cfg.get("ignore_terminations", False)),
        final_observation=final,
        import_modules=tuple(params.get("import_modules") or ()),
        env_overrides=tuple((params.get("env_overrides") or {}).items()),
        presets=tuple(params.get("presets") or ()),
        video=_video_spec(video, shown),
        log_file=_log_file(params.get("log_dir"), str(params["id"]), seed_offset),
        cpu_threads=cpu_share(num_simulators),
    )


def cpu_share(num_simulators: int) -> int:
    """Returns the threads that one simulator's runtime may use: the cores, shared with the others on the same node.

    Args:
        num_simulators: Simulators of the run that step at the same time, on all nodes.
    """
    # RLinf's variables in each worker; a process of its own has none.
    workers, on_node = (int(os.environ.get(name, "1")) for name in ("WORLD_SIZE", "NODE_LOCAL_WORLD_SIZE"))
    simulators = on_node * max(1, num_simulators // workers)
    return max(1, min(_MOST_THREADS, len(os.sched_getaffinity(0)) // simulators))


def default_device() -> str:
    """Returns ``cuda:0`` where torch sees a GPU, else ``cpu``."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def _plain(node: Any) -> dict[str, Any]:
    from omegaconf import DictConfig, OmegaConf

    value = OmegaConf.to_container(node, resolve=True) if isinstance(node, DictConfig) else node
    if not isinstance(value, Mapping):
        raise ConfigError(f"expected a mapping in the env section, found {value!r}")
    return dict(value)


def simulator_timeouts(cfg: Any) -> dict[str, float]:
    """Return the ``start_timeout`` and ``step_timeout`` of an environment section, those that it sets."""
    params = cfg.init_params
    return {key: float(params[key]) for key in ("start_timeout", "step_timeout") if params.get(key) is not None}


def _parse_block(node: Any) -> IsaacLabBlock:
    from isaaclab_rlinf.config.schema import IsaacLabBlock

    if isinstance(node, IsaacLabBlock):
        return node
    from isaaclab_rlinf.config.parse import parse_isaaclab_block

    block, issues = parse_isaaclab_block(_plain(node), "isaaclab")
    if block is None:
        raise ConfigError("the isaaclab block is not valid:\n" + "\n".join(str(issue) for issue in issues))
    return block


def _video_spec(cfg: dict[str, Any], shown: dict[str, Any]) -> VideoSpec | None:
    if not cfg.get("save_video"):
        return None
    if not cfg.get("video_base_dir"):
        raise ConfigError("video_cfg.save_video is set, but video_cfg.video_base_dir is not.")
    keys = ("max_envs", "max_seconds", "fps", "width", "height")
    given = {key: cfg[key] for key in keys if cfg.get(key) is not None}
    return VideoSpec(str(cfg["video_base_dir"]), **given, **shown)


def _log_file(directory: str | None, task_id: str, seed_offset: int) -> str | None:
    if not directory:
        return None
    # The process id keeps the simulators of train and eval, and of one run after another, apart.
    return os.path.join(directory, f"simulator-{task_id.split(':')[-1]}-{seed_offset}-{os.getpid()}.log")
