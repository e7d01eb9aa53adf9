# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Everything that reads a configuration after it was checked, without Ray, a simulator or a model.

What a run does with its config once `prepare_train` or `prepare_play` let it pass: outputs are pointed at the run
directory, it is written and read back, the simulators' settings are parsed, and RLinf converts it and reads it in its
workers. Only a `ConfigError` may come out, and only from the preparation.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from omegaconf import OmegaConf

from isaaclab_rlinf.backends.prepare import PreparedRun, prepare_play, prepare_train
from isaaclab_rlinf.config.placement import world_sizes

PREPARE = {"train": prepare_train, "play": prepare_play}


def arguments(**given: Any) -> argparse.Namespace:
    """Return a command line of either backend on the CPU; everything else is left out."""
    names = ("config_name", "config_path", "task", "model_path", "num_envs", "seed", "checkpoint")
    unset = dict.fromkeys((*names, "max_iterations", "num_episodes"))
    base = {"device": "cpu", "video": False, "headless": False, "only_eval": False, "overrides": []}
    return argparse.Namespace(**{**unset, **base, "working_directory": Path.cwd(), **given})


def prepared(raw: dict[str, Any], source: Path, mode: str, **given: Any) -> PreparedRun:
    """Prepare a configuration as if it stood in ``source``."""
    cfg = OmegaConf.create(raw)
    OmegaConf.set_struct(cfg, True)
    return PREPARE[mode](arguments(**given), (source, cfg))


def read_everything(run: PreparedRun, mode: str, run_dir: Path) -> None:
    """Read a prepared configuration as the rest of the run does.

    Args:
        run: A preparation that passed.
        mode: ``train`` or ``play``.
        run_dir: A directory that need not exist; nothing is left in it but YAMLs.
    """
    from isaaclab_rlinf.backends.run_directory import point_outputs

    cfg = run.cfg
    point_outputs(cfg, run_dir)
    OmegaConf.to_yaml(cfg, resolve=True)
    [str(cfg[component].group_name) for component in ("actor", "rollout", "env")], [*(cfg.get("extensions") or ())]
    with stand_in_cluster():
        from rlinf.config import validate_cfg

        cfg = validate_cfg(cfg)
    acting = cfg.actor.model if mode == "train" else cfg.rollout.model
    for section in environments(cfg, mode):
        _read_environment(section)
    _read_model(acting)
    _read_rollout(cfg)
    if mode == "train":
        _read_training(cfg)


def environments(cfg: Any, mode: str) -> Iterator[Any]:
    """Yield the environment sections of which a run makes simulators."""
    if mode == "train":
        yield cfg.env.train
    if mode == "play" or cfg.runner.val_check_interval > 0:
        yield cfg.env.eval


class StandInPlacement:
    """RLinf's placement, from our own reading of it; the real one asks Ray for the machine."""

    def __init__(self, cfg: Any, cluster: Any):
        """Read ``cluster.component_placement``."""
        placement = OmegaConf.to_container(cfg.cluster.component_placement, resolve=True)
        self._sizes, errors = world_sizes(placement, int(cfg.cluster.num_nodes), 0)
        assert errors == []

    def get_world_size(self, component: str) -> int:
        """Return how many processes a component has."""
        return self._sizes[component]


@contextlib.contextmanager
def stand_in_cluster() -> Iterator[None]:
    """Let RLinf's conversion run without Ray."""
    from isaaclab_rlinf.compat import prepare_worker_imports

    prepare_worker_imports()
    from isaaclab_rlinf.extension import register

    register()
    import rlinf.config as config

    with (
        mock.patch.object(config, "Cluster", lambda **kwargs: None),
        mock.patch.object(config, "HybridComponentPlacement", StandInPlacement),
    ):
        yield


def _read_environment(section: Any) -> None:
    """Read what the environment worker and our environment read of their section."""
    from isaaclab_rlinf.env.settings import simulator_spec_from_config

    spec = simulator_spec_from_config(section, 2)
    assert spec.chunk_length >= 1
    float(section.get("reward_coef", 1.0))
    for key in ("start_timeout", "step_timeout"):
        assert float(section.init_params.get(key, 1.0)) > 0
    bool(section.video_cfg.save_video)


def _read_model(model: Any) -> None:
    """Read the model section as `get_model` and the builder of tiny_vla do."""
    from rlinf.config import torch_dtype_from_precision

    from isaaclab_rlinf.models.rl_head import RLHeadConfig

    torch_dtype_from_precision(model.precision)
    if model.is_lora:
        int(model.lora_rank)
    if model.model_type == "tiny_vla":
        int(model.action_dim), int(model.num_action_chunks)
        RLHeadConfig.from_mapping(model.get("rl_head_config"), int(model.get("denoising_steps") or 4))


def _read_rollout(cfg: Any) -> None:
    """Read what the rollout worker reads when it is made and started."""
    from rlinf.hybrid_engines.weight_syncer import WeightSyncer
    from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker

    worker = SimpleNamespace(cfg=cfg, algorithm_cfg=cfg.get("algorithm", {}), expert_model=None)
    MultiStepRolloutWorker.setup_sample_params(worker)
    int(cfg.actor.seed) + 1000
    assert {"precision", "model_path"} <= set(cfg.rollout.model)
    if cfg.runner.task_type != "embodied_eval":
        WeightSyncer.create(cfg.weight_syncer)


def _read_training(cfg: Any) -> None:
    """Read what the actor and the runner read."""
    import torch

    from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

    alias_removed_auto_classes()
    from rlinf.hybrid_engines.fsdp.fsdp_model_manager import FSDPModelManager

    actor, algorithm = cfg.actor, cfg.algorithm
    parameter = torch.nn.Parameter(torch.zeros(1))
    for key in ("adv_type", "loss_type", "reward_type", "logprob_type", "entropy_type", "gamma", "entropy_bonus"):
        algorithm[key]
    optimizer = torch.optim.AdamW(
        [parameter],
        lr=actor.optim.lr,
        betas=(actor.optim.adam_beta1, actor.optim.adam_beta2),
        eps=actor.optim.get("adam_eps", 1e-8),
        weight_decay=actor.optim.get("weight_decay", 1e-2),
    )
    FSDPModelManager.build_lr_scheduler(SimpleNamespace(), optimizer, actor.optim)
    assert int(algorithm.get("update_epoch", 1)) >= 1
    int(cfg.runner.max_epochs) * int(cfg.env.train.total_num_envs)
    int(cfg.runner.get("max_steps", -1)), int(cfg.runner.save_interval), int(cfg.runner.val_check_interval)
