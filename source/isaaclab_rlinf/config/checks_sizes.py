# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the action width and the chunk length of a model section against a checkpoint, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import listing


def check_sizes(
    ctx: Context,
    section: str,
    of_model: str,
    action_dim: int,
    action_horizon: int,
    parts: Mapping[str, int] | None = None,
) -> None:
    """Check ``action_dim`` and ``num_action_chunks``.

    Args:
        ctx: The validation in progress.
        section: Key path of the model that acts.
        of_model: Which checkpoint, or which embodiment of it, for the message.
        action_dim: Width of its actions.
        action_horizon: Actions that it predicts per call.
        parts: Names and widths of its action groups, where it has them.
    """
    width, chunk = ctx.whole(f"{section}.action_dim"), ctx.whole(f"{section}.num_action_chunks")
    if width is not None and width != action_dim:
        found, fix = f"{width}, but {of_model} acts in {action_dim} dims", ""
        if parts is not None:
            found += f" ({listing(f'{key} {size}' for key, size in parts.items())})"
            fix = "padding for the environment is action_mapping.prefix_pad / suffix_pad"
        ctx.issue(f"{section}.action_dim", found, str(action_dim), fix)
    if chunk is not None and chunk > action_horizon:
        found = f"{chunk}, but {of_model} predicts {action_horizon} steps"
        ctx.issue(f"{section}.num_action_chunks", found, f"1 to {action_horizon}")
