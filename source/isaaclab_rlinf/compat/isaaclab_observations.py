# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Cameras rendered only when an observation needs them (Isaac Lab 3.0.0).

Isaac Lab computes every observation group on every step, and reading a camera is what renders it: cameras are updated
lazily. A gate on the public method ``ObservationManager.compute_group`` of one manager instance leaves the camera group
out of the steps whose images nobody will see. All other groups are computed on every step as before, so that noise,
history and modifiers in them advance as they always do.

Private names touched: ``ObservationManager._group_obs_term_cfgs`` (read, to see whether the group may be left out).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from .newton_cameras import WorldSelection


@dataclass
class CameraGate:
    """Decides whether the camera group is computed."""

    open: bool = True
    """For the observation of the step."""
    open_for_final: bool = True
    """For the final observation of ended episodes; False only where no camera is read at all."""
    final_rows: torch.Tensor | None = None
    """(N,) bool, the environments whose final observation will be read; the images of others may be empty."""
    selection: WorldSelection = field(default_factory=WorldSelection)
    """What the cameras look at while the final observation is rendered."""


def why_rendered_always(manager: Any, camera_group: str, policy_group: str) -> str | None:
    """Returns why the camera group cannot be left out of a step, or None if it can.

    Args:
        manager: The environment's observation manager.
        camera_group: Group with the cameras.
        policy_group: Group with the states.
    """
    if camera_group not in manager.active_terms:
        return None
    if camera_group == policy_group:
        return f"cameras and states share the group '{camera_group}'"
    from isaaclab.managers import ManagerTermBase

    names = manager.active_terms[camera_group]
    for name, cfg in zip(names, manager._group_obs_term_cfgs[camera_group], strict=True):
        kept = [
            what
            for what, present in (
                ("history", cfg.history_length > 0),
                ("delay", cfg.delay_max_lag > 0),
                ("noise", cfg.noise is not None),
                ("modifiers", bool(cfg.modifiers)),
                ("a class-based term", isinstance(cfg.func, ManagerTermBase)),
            )
            if present
        ]
        if kept:
            return f"camera term '{camera_group}/{name}' keeps state from step to step ({', '.join(kept)})"
    return None


def install_camera_gate(manager: Any, camera_group: str, selection: WorldSelection | None = None) -> CameraGate:
    """Puts a gate before one group of an observation manager instance.

    While the gate is closed the group is an empty mapping in the step's observation, so that a reader fails loudly
    instead of seeing an old image. The final observation of ended episodes is the one with ``update_history=False``;
    only the rows in ``gate.final_rows`` are rendered for it where the renderer allows a selection.
    """
    gate = CameraGate(selection=selection or WorldSelection())
    compute_group = manager.compute_group

    def gated(group_name: str, update_history: bool = False) -> Any:
        if group_name != camera_group or update_history:
            is_open = group_name != camera_group or gate.open
            return compute_group(group_name, update_history=update_history) if is_open else {}
        if not gate.open_for_final:
            return {}
        with gate.selection.only(gate.final_rows):
            return compute_group(group_name, update_history=update_history)

    manager.compute_group = gated
    return gate


def term_columns(manager: Any) -> dict[str, dict[str, tuple[int, int]]]:
    """Returns, for each concatenated one-dimensional group, the columns ``[a, b)`` of each term."""
    columns: dict[str, dict[str, tuple[int, int]]] = {}
    for group, names in manager.active_terms.items():
        dims = manager.group_obs_term_dim[group]
        if not manager.group_obs_concatenate[group] or any(len(dim) != 1 for dim in dims):
            continue
        start, columns[group] = 0, {}
        for name, (width,) in zip(names, dims, strict=True):
            columns[group][name] = (start, start + width)
            start += width
    return columns
