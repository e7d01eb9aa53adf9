# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``env-workers``: two environment workers, whose simulators must not share a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_smoke import policies
from gpu_smoke.commands import isaaclab, newest_run, require_sound_training
from gpu_smoke.context import Context
from gpu_smoke.gpu_use import GpuWatch
from gpu_smoke.multi import need_gpus
from gpu_smoke.outcome import NeedsCuda, require


def run(context: Context) -> None:
    """Train one step with all roles on two GPUs, and ask the driver where the simulators were."""
    need_gpus(context, 2)
    place = context.work / "two_gpus"
    place.mkdir(parents=True, exist_ok=True)
    yaml = write_yaml(place / "two_gpus.yaml")
    issues = policies.issues_on(2, "--config_name", str(yaml))
    require(not issues, f"the YAML for two GPUs is refused: {'; '.join(issues)}")
    if not context.full:
        raise NeedsCuda("the YAML for two GPUs is accepted; simulators on GPUs of their own need them")
    with GpuWatch(context.work) as watch:
        ended = isaaclab(context, "train", str(yaml), "--max_iterations", "1", "--seed", "5", limit=240)
    require_sound_training(context, newest_run(context), [1])
    simulators = {pid: gpu for pid, (gpu, command) in watch.seen.items() if "multiprocessing" in command}
    context.measured["whole command"] = f"{ended.seconds:.0f} s"
    context.measured["simulators"] = f"{len(simulators)} on {len(set(simulators.values()))} GPUs"
    require(simulators, f"the driver listed no simulator of ours (in a container it may not); it listed {watch.seen}")
    require(
        len(set(simulators.values())) == 2,
        f"the simulators were on {len(set(simulators.values()))} GPU(s): {simulators}",
    )


def write_yaml(file: Path) -> Path:
    """Write the bundled YAML with every role on GPUs 0 and 1."""
    from omegaconf import OmegaConf, open_dict

    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.discover import find_config

    cfg: Any = compose_config(find_config(policies.TINY_VLA_YAML))
    with open_dict(cfg):
        cfg.cluster.component_placement = {"actor,env,rollout": "0-1"}
        cfg.actor.micro_batch_size = cfg.actor.global_batch_size // 2
        cfg.runner.val_check_interval = -1
    OmegaConf.save(cfg, file)
    return file
