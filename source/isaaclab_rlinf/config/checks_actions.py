# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the blocks' ``action_mapping`` against the parts of the model's actions."""

from __future__ import annotations

from collections.abc import Mapping

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import listing
from isaaclab_rlinf.mapping.action_layout import lay_out_actions, nameless


def check_action_mapping(ctx: Context, section: str, parts: Mapping[str, int] | None, *, named: bool) -> None:
    """Check both blocks, and tell which of the model's parts the environment does not get.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
        section: Key path of the model that acts.
        parts: Name -> width of the model's action parts; None when its files do not tell.
        named: Whether its actions have named parts.
    """
    width = ctx.whole(f"{section}.action_dim")
    for mode, block in ctx.blocks.items():
        where, mapping = f"env.{mode}.isaaclab", block.action_mapping
        if not ctx.intact(f"{where}.action_mapping.keys"):
            continue
        padding = ctx.intact(f"{where}.action_mapping.prefix_pad", f"{where}.action_mapping.suffix_pad")
        known = parts
        if known is None and (mapping.keys is None or not named):
            known = None if width is None else nameless(width)
        layout, issues = lay_out_actions(mapping, known)
        for issue in issues:
            if not padding and issue.where.endswith("pad_value"):
                continue
            ctx.issue(f"{where}.{issue.where}", issue.found, issue.allowed, issue.fix)
        if layout is not None and layout.left_out:
            ctx.notices.append(
                f"{where}.action_mapping.keys: not sent to the environment: {listing(layout.left_out)}; it gets "
                f"{layout.emitted} of the model's {sum(parts.values())} columns, {listing(layout.parts)}"
            )
