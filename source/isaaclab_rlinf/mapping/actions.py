# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Model action parts -> the environment's action vector: order, affine map, padding, width check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from isaaclab_rlinf.mapping.errors import MappingError, format_table, hint

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import ActionMapping


@dataclass(frozen=True)
class ActionTermInfo:
    """One action term of the environment, in order."""

    name: str
    width: int
    detail: str = ""
    """What the dims are, such as the joint names in order."""


@dataclass(frozen=True)
class ActionMap:
    """A checked action mapping: ``env = pad(model * scale + offset)``, all tensors float32 on the CPU."""

    model_dim: int
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
        """Checks an ``action_mapping`` block against the model's and the environment's widths.

        Args:
            mapping: The YAML's block.
            model_dim: Width A of the model's actions.
            env_terms: The environment's action terms in order.

        Raises:
            MappingError: If the widths do not add up (both tables are shown) or a list has the wrong length.
        """
        env_dim = sum(term.width for term in env_terms)
        padded = mapping.prefix_pad + model_dim + mapping.suffix_pad
        if padded != env_dim:
            raise MappingError(_width_message(mapping, model_dim, env_terms, padded, env_dim))
        pads = _vector("pad_value", mapping.pad_value, mapping.prefix_pad + mapping.suffix_pad, "padded dims")
        scale = _vector("scale", mapping.scale, model_dim, "model dims")
        offset = _vector("offset", mapping.offset, model_dim, "model dims")
        identity = bool((scale == 1).all() and (offset == 0).all()) and padded == model_dim
        return cls(model_dim, env_dim, pads[: mapping.prefix_pad], pads[mapping.prefix_pad :], scale, offset, identity)


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
    bare = {name.removeprefix("action."): name for name in parts}
    if len(bare) != len(parts):
        raise MappingError(f"the model gave an action part in both spellings:\n{_part_table(parts)}")
    _check_shapes(parts, chunk)
    wanted = list(bare) if keys is None else [key.removeprefix("action.") for key in keys]
    for index, key in enumerate(wanted):
        if key not in bare:
            raise MappingError(
                f"action_mapping.keys: the model has no action part '{keys[index]}'.{hint(keys[index], parts)} It "
                f"provides:\n{_part_table(parts)}"
            )
        if key in wanted[:index]:
            raise MappingError(f"action_mapping.keys: part '{keys[index]}' is named twice.")
    chosen = [parts[bare[key]][:, :chunk] for key in wanted]
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


def _vector(name: str, value: float | Sequence[float], width: int, what: str) -> torch.Tensor:
    if isinstance(value, (int, float)):
        return torch.full((width,), float(value), dtype=torch.float32)
    if len(value) != width:
        raise MappingError(
            f"action_mapping.{name}: {len(value)} values for {width} {what}; give one number or {width} of them."
        )
    return torch.tensor([float(v) for v in value], dtype=torch.float32)


def _width_message(
    mapping: ActionMapping, model_dim: int, env_terms: Sequence[ActionTermInfo], padded: int, env_dim: int
) -> str:
    model_rows = [
        ("prefix_pad", mapping.prefix_pad),
        ("model (actor.model.action_dim)", model_dim),
        ("suffix_pad", mapping.suffix_pad),
        ("total", padded),
    ]
    env_rows = [(term.name, term.width, term.detail) for term in env_terms] + [("total", env_dim, "")]
    return (
        f"action_mapping: the model's actions make {padded} dims after padding, the environment takes {env_dim}.\n"
        f"{format_table(('model side', 'dims'), model_rows)}\n"
        f"{format_table(('environment term', 'dims', 'what'), env_rows)}\n"
        "Change prefix_pad / suffix_pad, or actor.model.action_dim."
    )
