# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The named parts of a model section's actions, from the checkpoint's JSON files alone; no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isaaclab_rlinf.compat.rlinf_names import STOCK_GR00T_CONVERTERS
from isaaclab_rlinf.mapping.action_layout import nameless
from isaaclab_rlinf.models.gr00t.checkpoint import read_facts
from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts


def action_parts(model: Mapping[str, Any]) -> dict[str, int] | None:
    """Return name -> width in the model's order, for :func:`~isaaclab_rlinf.mapping.action_layout.lay_out_actions`.

    Args:
        model: A valid ``actor.model`` or ``rollout.model``.

    Returns:
        One nameless part for a model type without parts, and for RLinf's own converters, which decide themselves what
        they emit; None for a GR00T generation whose checkpoints this package does not read.

    Raises:
        ValueError: If the checkpoint cannot be read.
    """
    kind = str(model["model_type"])
    if not kind.startswith("gr00t") or model.get("obs_converter_type") in STOCK_GR00T_CONVERTERS:
        return nameless(int(model["action_dim"]))
    directory, tag = model["model_path"], model.get("embodiment_tag")
    if kind == "gr00t":
        return dict(read_facts(directory, tag).action)
    if kind == "gr00t_n1d7":
        return {part.key: part.width for part in checkpoint_facts(directory, tag).action}
    return None
