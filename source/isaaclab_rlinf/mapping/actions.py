# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Model action parts -> the environment's action vector, applied to tensors as :mod:`.action_layout` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from isaaclab_rlinf.mapping.action_layout import (
    NAMELESS,
    ActionTermInfo,
    bare,
    lay_out_actions,
    select_parts,
    width_problem,
)
from isaaclab_rlinf.mapping.errors import MappingError, format_table

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import ActionMapping


@dataclass(frozen=True)
class ActionMap:
    """A checked action mapping: ``env = pad(model * scale + offset)``, all tensors float32 on the CPU."""

    model_dim: int
    """Width of what the model sends, without the parts that ``keys`` leaves out."""
    env_dim: int
    prefix: torch.Tensor
    """(prefix_pad,) values in front of the model's dims."""
    suffix: torch.Tensor
    """(suffix_pad,) values behind them."""
    scale: torch.Tensor
    offset: torch.Tensor
    identity: bool
    """True when nothing is to be done, so that the hot path can return its input."""

    @classmethod
    def build(cls, mapping: ActionMapping, model_dim: int, env_terms: Sequence[ActionTermInfo]) -> ActionMap:
        """Checks an ``action_mapping`` block against the widths of what the model sent and of the environment.

        Args:
            mapping: The YAML's block; its ``keys`` were applied on the model's side already.
            model_dim: Width of the actions that arrive, after ``keys``.
            env_terms: The environment's action terms in order.

        Raises:
            MappingError: If the widths do not add up (both tables are shown) or a list has the wrong length.
        """
        arrived = {" + ".join(map(bare, mapping.keys)) if mapping.keys else NAMELESS: model_dim}
        layout, issues = lay_out_actions(replace(mapping, keys=None), arrived)
        if layout is None:
            raise MappingError("\n".join(str(issue) for issue in issues))
        if problem := width_problem(layout, env_terms):
            raise MappingError(problem)
        prefix, suffix, scale, offset = (
            torch.tensor(values, dtype=torch.float32)
            for values in (layout.prefix, layout.suffix, layout.scale, layout.offset)
        )
        identity = bool((scale == 1).all() and (offset == 0).all()) and layout.width == model_dim
        return cls(model_dim, layout.width, prefix, suffix, scale, offset, identity)


def map_actions(actions: torch.Tensor, spec: ActionMap) -> torch.Tensor:
    """Maps model actions ``(B, T, A)`` to environment actions ``(B, T, env_dim)``, float32, same device.

    Raises:
        MappingError: If the width is not the checked one, or a value is NaN or infinite.
    """
    if actions.ndim != 3 or actions.shape[-1] != spec.model_dim:
        raise MappingError(
            f"The model returned actions of shape {tuple(actions.shape)}; expected (environments, chunk, "
            f"{spec.model_dim}). Check `actor.model.action_dim`."
        )
    actions = actions.to(torch.float32)
    if not torch.isfinite(actions).all():
        env, step, dim = (~torch.isfinite(actions)).nonzero()[0].tolist()
        raise MappingError(
            f"The model's action for environment {env} is {float(actions[env, step, dim])} at chunk step {step}, "
            f"dim {dim}. The policy has diverged or its normalisation statistics are wrong."
        )
    if spec.identity:
        return actions
    actions = actions * spec.scale.to(actions.device) + spec.offset.to(actions.device)
    lead = actions.shape[:2]
    prefix = spec.prefix.to(actions.device).expand(*lead, -1)
    suffix = spec.suffix.to(actions.device).expand(*lead, -1)
    return torch.cat([prefix, actions, suffix], dim=-1)


def unmap_actions(actions: torch.Tensor, spec: ActionMap) -> torch.Tensor:
    """Inverse of :func:`map_actions`: the model's actions that the environment would receive as ``actions``.

    Args:
        actions: The environment's actions, (B, env_dim).
        spec: The mapping.

    Returns:
        (B, model_dim) float32, such that mapping them gives ``actions`` again.

    Raises:
        MappingError: If no action of the model gives these: another width, a value that is not finite, a scale of 0,
            or another value than ``pad_value`` in a padded dim.
    """
    if actions.ndim != 2 or actions.shape[-1] != spec.env_dim:
        raise MappingError(
            f"actions of shape {tuple(actions.shape)}; the environment takes (environments, {spec.env_dim})."
        )
    if not torch.isfinite(actions).all():
        env, dim = (~torch.isfinite(actions)).nonzero()[0].tolist()
        raise MappingError(f"the action for environment {env} is {float(actions[env, dim])} in dim {dim}.")
    if (spec.scale == 0).any():
        dims = (spec.scale == 0).nonzero().flatten().tolist()
        raise MappingError(f"action_mapping.scale is 0 in model dims {dims}: what the model does there has no effect.")
    exact = actions.to("cpu", torch.float64)
    model = exact[:, len(spec.prefix) : len(spec.prefix) + spec.model_dim]
    model = ((model - spec.offset) / spec.scale).to(torch.float32)
    prefix, suffix = (pad.expand(len(model), -1) for pad in (spec.prefix, spec.suffix))
    again = torch.cat([prefix, model * spec.scale + spec.offset, suffix], dim=-1)
    reach = torch.cat([spec.prefix, spec.offset, spec.suffix]).abs()
    wrong = ~((again - exact).abs() <= 1e-5 * (1 + exact.abs() + reach))
    if wrong.any():
        env, dim = wrong.nonzero()[0].tolist()
        raise MappingError(
            f"the action for environment {env} is {float(actions[env, dim]):.6g} in dim {dim}, but with this "
            f"action_mapping a model can only give {float(again[env, dim]):.6g} there (pad_value, scale or offset)."
        )
    return model.to(actions.device)


def concatenate_parts(parts: Mapping[str, Any], keys: Sequence[str] | None, chunk: int | None = None) -> Any:
    """Joins a model's named action parts in the declared order; device and dtype stay as they are.

    GR00T N1.5 names its parts ``action.<k>``, N1.7 ``<k>``; either spelling of a key finds either spelling of a part.

    Args:
        parts: Tensors, or NumPy arrays, ``(B, T, d_k)``.
        keys: Parts to emit in order; None takes the model's own order.
        chunk: Number of leading actions to keep; None keeps all T.

    Returns:
        ``(B, chunk, sum d_k)``, a tensor for tensors and an array for arrays.

    Raises:
        MappingError: If a key names no part (the message lists the parts with their widths) or is given twice, two
            parts differ only in the prefix, the parts differ in B or T, or T is less than ``chunk``.
    """
    named = {bare(name): name for name in parts}
    if len(named) != len(parts):
        raise MappingError(f"the model gave an action part in both spellings:\n{_part_table(parts)}")
    _check_shapes(parts, chunk)
    emitted, _, issues = select_parts(keys, {name: int(part.shape[-1]) for name, part in parts.items()})
    if issues:
        raise MappingError("\n".join(map(str, issues)) + f"\nThe model provides:\n{_part_table(parts)}")
    chosen = [parts[named[part.name]][:, :chunk] for part in emitted]
    return np.concatenate(chosen, axis=-1) if isinstance(chosen[0], np.ndarray) else torch.cat(chosen, dim=-1)


def _check_shapes(parts: Mapping[str, Any], chunk: int | None) -> None:
    leads = {tuple(part.shape[:2]) if len(part.shape) == 3 else None for part in parts.values()}
    if len(leads) != 1 or None in leads:
        raise MappingError(f"the model's action parts must be (batch, horizon, width) alike:\n{_part_table(parts)}")
    horizon = next(iter(leads))[1]
    if chunk is not None and horizon < chunk:
        raise MappingError(
            f"the model predicts {horizon} actions per call, num_action_chunks is {chunk}: set "
            f"actor.model.num_action_chunks to at most {horizon}."
        )


def _part_table(parts: Mapping[str, Any]) -> str:
    return format_table(("part", "shape"), [(name, "x".join(map(str, part.shape))) for name, part in parts.items()])
