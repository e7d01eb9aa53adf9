# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What an evaluation hands to RLinf: a config without the training's sections.

One YAML serves both commands. An evaluation needs nothing of the training's sections, and what is not there can't be
read by anything that comes later, whether the YAML holds it or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_rlinf.config.checks_sections import TRAIN_SECTIONS

if TYPE_CHECKING:
    from omegaconf import DictConfig

_GROUP_NAME = "ActorGroup"
"""RLinf's usual name of the actor's worker group; an evaluation starts none."""


def keep_for_evaluation(cfg: DictConfig) -> None:
    """Resolve a checked config and drop the training's sections, in place.

    The rollout worker draws from ``actor.seed``, so that section stays with its seed; without one in the YAML it is
    that of the evaluation environments.

    Args:
        cfg: A checked configuration.
    """
    from omegaconf import OmegaConf, open_dict

    OmegaConf.resolve(cfg)  # what is kept may point into what goes
    seed, name = OmegaConf.select(cfg, "actor.seed"), OmegaConf.select(cfg, "actor.group_name")
    with open_dict(cfg):
        for path in TRAIN_SECTIONS:
            parent, _, key = path.rpartition(".")
            section = OmegaConf.select(cfg, parent) if parent else cfg
            section.pop(key, None)
        cfg.actor = {"seed": cfg.env.eval.seed if seed is None else seed, "group_name": name or _GROUP_NAME}
        # RLinf checks the settings of a training unless this says that there is none
        cfg.runner.task_type = "embodied_eval"
