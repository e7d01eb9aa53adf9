# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The base checkpoint of a model section: the bundled one, and whether its files are whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def bundled_checkpoint() -> Path:
    """Directory of the bundled tiny_vla checkpoint for the bundled task (supervised, before RL)."""
    return Path(__file__).parent / "tiny_vla" / "checkpoints" / "touch_color_base"


def check_base_files(model_cfg: Mapping[str, Any]) -> None:
    """Check the files of a base checkpoint by their JSON and headers, for any model type.

    Args:
        model_cfg: ``actor.model`` or ``rollout.model``, with ``model_type`` and ``model_path``.

    Raises:
        ValueError: If they are absent, damaged or contradict each other.
    """
    from isaaclab_rlinf.models import weight_files

    kind, path, tag = model_cfg.get("model_type"), Path(str(model_cfg["model_path"])), model_cfg.get("embodiment_tag")
    if kind == "tiny_vla":
        from isaaclab_rlinf.models.inspect import checkpoint_facts

        checkpoint_facts(path)
    elif kind == "gr00t_n1d7":
        from isaaclab_rlinf.models.gr00t_n1d7.backbone import backbone_directory
        from isaaclab_rlinf.models.gr00t_n1d7.files import read_files
        from isaaclab_rlinf.models.gr00t_n1d7.implementation import choose
        from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts as facts_of_tag

        files = read_files(path)
        facts_of_tag(files, tag)
        if choose(str(model_cfg.get("implementation") or "auto")) == "lerobot":
            backbone_directory(files, model_cfg.get("backbone_model_path"))
    elif kind == "gr00t":
        from isaaclab_rlinf.models.gr00t.checkpoint import read_facts

        read_facts(path, str(tag))
    else:
        weight_files.check_directory(path)
