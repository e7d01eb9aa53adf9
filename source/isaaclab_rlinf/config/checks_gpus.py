# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check which GPUs a run takes: none that ``CUDA_VISIBLE_DEVICES`` hides. Say how to use those that stay idle."""

from __future__ import annotations

from isaaclab_rlinf.config.accelerators import VISIBLE, visible_gpus, visible_value
from isaaclab_rlinf.config.checks_placement import gpus_of, placed
from isaaclab_rlinf.config.command_overrides import PLACEMENT
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.fitting import changes, fits, placement_override, usable_gpus
from isaaclab_rlinf.config.placement import COMPONENTS, ranks_text


def check_gpus(ctx: Context) -> None:
    """Check the GPUs that the placement takes against the environment, and tell of those it leaves.

    Args:
        ctx: The validation in progress; nothing without GPUs, or on a cluster of others.
    """
    components = placed(ctx)
    needed = COMPONENTS if ctx.training else ("rollout", "env")
    if not ctx.num_accelerators or not all(name in components and components[name].size for name in needed):
        return
    used = sorted({gpu for name in needed for gpu in gpus_of(components[name])})
    if not ctx.intact(PLACEMENT) or any(issue.where == PLACEMENT for issue in ctx.issues):
        return  # it is about to change
    value = visible_value()
    if value is not None and not _check_visible(ctx, value, used):
        return
    usable = usable_gpus(ctx)
    changed = changes(ctx, len(usable)) if ctx.training else {}
    if len(used) < len(usable) and changed is not None:
        line = placement_override(usable, ctx.num_accelerators, changed)
        ctx.notices.append(f"{PLACEMENT}: uses {len(used)} of {len(usable)} GPUs; {line} uses all")


def _check_visible(ctx: Context, value: str, used: list[int]) -> bool:
    """Refuse GPUs that the environment hides; returns whether there are none."""
    visible = visible_gpus(value, ctx.num_accelerators)
    takes = f"takes GPU {ranks_text(used)}, but {VISIBLE}={value!r}"
    why = f"(RLinf 0.3.0 does not read it: it sets {VISIBLE} for each worker, from the placement)"
    if visible is None:
        found = f"{takes} names a part of a GPU (MIG), which a placement cannot {why}"
        ctx.issue(PLACEMENT, found, "whole GPUs", f"unset {VISIBLE}, or run on a machine without MIG")
    elif not visible:
        found = f"{takes} hides every GPU {why}"
        ctx.issue(PLACEMENT, found, "no GPU", f"--device cpu runs without; unset {VISIBLE} to use GPUs")
    elif not set(used) <= set(visible):
        most = min(len(used), len(visible))
        count = next((count for count in range(most, 0, -1) if fits(ctx, count)), most)
        line = placement_override(sorted(visible)[:count], ctx.num_accelerators)
        found = f"{takes} leaves GPU {ranks_text(visible)} {why}"
        ctx.issue(PLACEMENT, found, f"GPU {ranks_text(visible)}", f"{line}, or unset {VISIBLE}")
    else:
        return True
    return False
