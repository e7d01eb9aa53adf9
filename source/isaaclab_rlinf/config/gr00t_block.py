# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How a task YAML's ``isaaclab`` block reaches the builder of a GR00T model.

RLinf hands a builder the model section alone. The driver therefore copies the checked block there, as
``actor.model.isaaclab`` and ``rollout.model.isaaclab``, with ``data_config_class`` as an absolute path: the resolved
config stays the only truth, and ``params/resolved.yaml`` shows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import Issue, raise_if

if TYPE_CHECKING:
    from omegaconf import DictConfig

SECTIONS = (("actor", "train"), ("rollout", "eval"))
"""Section of a model -> the environments whose block it gets. RLinf trains and validates with ``actor.model``."""


def attach_blocks(cfg: DictConfig, source: Path) -> None:
    """Copy the blocks into the model sections of a GR00T run, in place; other models' sections are left alone.

    Args:
        cfg: A valid configuration.
        source: The task YAML it comes from.
    """
    from omegaconf import OmegaConf, open_dict

    from isaaclab_rlinf.models.gr00t.data_config import locate

    with open_dict(cfg):
        for section, mode in SECTIONS:
            model = OmegaConf.select(cfg, f"{section}.model")
            block = OmegaConf.select(cfg, f"env.{mode}.isaaclab")
            if model is None or block is None or not str(model.get("model_type", "")).startswith("gr00t"):
                continue
            plain = OmegaConf.to_container(block, resolve=True)
            if plain.get("data_config_class"):
                plain["data_config_class"] = str(locate(plain["data_config_class"], source.parent))
            model.isaaclab = plain


def require_package(cfg: DictConfig, source: Path) -> None:
    """Refuse to start a GR00T run on a machine that cannot import the model; a check alone only tells.

    Args:
        cfg: A valid configuration.
        source: The task YAML it comes from.

    Raises:
        ConfigError: If the package is missing, unless the workers are those of another cluster.
    """
    from omegaconf import OmegaConf

    from isaaclab_rlinf.config.accelerators import count_accelerators
    from isaaclab_rlinf.models.gr00t.packages import missing_package

    model, where = OmegaConf.select(cfg, "actor.model"), "actor.model.model_type"
    if model is None:  # an evaluation
        model, where = cfg.rollout.model, "rollout.model.model_type"
    kind = str(model.get("model_type", ""))
    if count_accelerators() is None:
        return
    if reason := missing_package(kind, model.get("implementation", None)):
        raise_if([Issue(where, f"{kind!r}, but {reason}", "see docs/installation.md")], source)
