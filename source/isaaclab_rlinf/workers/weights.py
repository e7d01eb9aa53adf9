# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Loading a checkpoint over base weights, with a report of what was loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class LoadReport:
    """What a checkpoint gave to a model."""

    file: str
    matched: int
    """Number of state-dict keys taken from the file."""
    total: int
    """Number of keys the model has."""


def load_full_weights(model: torch.nn.Module, file: str) -> LoadReport:
    """Load ``full_weights.pt`` into a model, all keys or none.

    Args:
        model: The model, built from its base checkpoint.
        file: Path of a plain state dict as RLinf's actor saves it.

    Returns:
        The number of matched keys and where they came from.

    Raises:
        ValueError: If a key is missing, unexpected, or has another shape; the message counts and names them.
    """
    import torch

    saved = torch.load(file, map_location="cpu", weights_only=True)
    own = model.state_dict()
    missing = sorted(own.keys() - saved.keys())
    unexpected = sorted(saved.keys() - own.keys())
    shared = own.keys() & saved.keys()
    reshaped = sorted(key for key in shared if own[key].shape != saved[key].shape)
    if missing or unexpected or reshaped:
        problems = [
            f"{len(keys)} {what} (first: {', '.join(keys[:3])})"
            for what, keys in (("missing", missing), ("unexpected", unexpected), ("of another shape", reshaped))
            if keys
        ]
        raise ValueError(
            f"checkpoint {file} does not fit the model: {len(shared) - len(reshaped)} of {len(own)} keys match; "
            f"{'; '.join(problems)}. Was it trained from another --model_path or model_type?"
        )
    model.load_state_dict(saved)
    return LoadReport(file=file, matched=len(shared), total=len(own))
