# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Actions relative to the state at the start of the chunk, and back.

Joint-like groups are differences. End-effector groups are poses in the frame of the reference pose:
``T_absolute = T_reference T_relative``. A pose is a position followed by a rotation: the first two rows of its matrix
(``xyz_rot6d``, Zhou et al. 2019), or a rotation vector (``xyz_rotvec``).
"""

from __future__ import annotations

import torch
from torch.nn import functional


def to_absolute(action: torch.Tensor, reference: torch.Tensor, pose: str) -> torch.Tensor:
    """Turn relative actions into absolute ones.

    Args:
        action: (B, T, D).
        reference: State at the start of the chunk, (B, D).
        pose: ``"difference"``, ``"xyz_rot6d"`` (D = 9) or ``"xyz_rotvec"`` (D = 6).

    Returns:
        (B, T, D).
    """
    if pose == "difference":
        return action + reference[:, None]
    position, rotation = _split(action, pose)
    base_position, base_rotation = _split(reference[:, None], pose)
    moved = (base_rotation @ position[..., None])[..., 0] + base_position
    return _join(moved, base_rotation @ rotation, pose)


def to_relative(action: torch.Tensor, reference: torch.Tensor, pose: str) -> torch.Tensor:
    """Inverse of :func:`to_absolute`; same arguments."""
    if pose == "difference":
        return action - reference[:, None]
    position, rotation = _split(action, pose)
    base_position, base_rotation = _split(reference[:, None], pose)
    inverse = base_rotation.mT
    moved = (inverse @ (position - base_position)[..., None])[..., 0]
    return _join(moved, inverse @ rotation, pose)


def _split(values: torch.Tensor, pose: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Position (..., 3) and rotation matrix (..., 3, 3)."""
    rotation = _from_rows(values[..., 3:]) if pose == "xyz_rot6d" else _from_vector(values[..., 3:])
    return values[..., :3], rotation


def _join(position: torch.Tensor, rotation: torch.Tensor, pose: str) -> torch.Tensor:
    flat = rotation[..., :2, :].flatten(-2) if pose == "xyz_rot6d" else _to_vector(rotation)
    return torch.cat([position, flat], dim=-1)


def _from_rows(rows: torch.Tensor) -> torch.Tensor:
    """Gram-Schmidt on two rows (..., 6)."""
    first = functional.normalize(rows[..., :3], dim=-1)
    second = rows[..., 3:] - (first * rows[..., 3:]).sum(-1, keepdim=True) * first
    second = functional.normalize(second, dim=-1)
    return torch.stack([first, second, torch.linalg.cross(first, second)], dim=-2)


def _from_vector(vector: torch.Tensor) -> torch.Tensor:
    """Exponential of the vector's skew-symmetric matrix."""
    zero = torch.zeros_like(vector[..., 0])
    x, y, z = vector.unbind(-1)
    return torch.matrix_exp(torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1).unflatten(-1, (3, 3)))


def _to_vector(rotation: torch.Tensor) -> torch.Tensor:
    """Rotation vector of angle below pi, through the quaternion of largest real part."""
    m = rotation
    trace = m.diagonal(dim1=-2, dim2=-1).sum(-1)
    diagonal = [trace, m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]]
    skew = torch.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]], dim=-1)
    symmetric = m + m.mT
    # Four times the outer product of the quaternion (w, x, y, z) with itself, of which the largest column is taken.
    outer = torch.zeros(*m.shape[:-2], 4, 4, dtype=m.dtype, device=m.device)
    outer[..., 0, 0] = 1 + trace
    outer[..., 0, 1:] = outer[..., 1:, 0] = skew
    outer[..., 1:, 1:] = symmetric
    for axis in range(3):
        outer[..., axis + 1, axis + 1] = 1 + 2 * diagonal[axis + 1] - trace
    best = outer.diagonal(dim1=-2, dim2=-1).argmax(-1)
    quaternion = outer.gather(-1, best[..., None, None].expand(*m.shape[:-2], 4, 1))[..., 0]
    quaternion = functional.normalize(quaternion, dim=-1)
    quaternion = torch.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    sine = quaternion[..., 1:].norm(dim=-1, keepdim=True)
    angle = 2.0 * torch.atan2(sine, quaternion[..., :1])
    return torch.where(sine > 1e-7, quaternion[..., 1:] * angle / sine.clamp(min=1e-7), 2.0 * quaternion[..., 1:])
