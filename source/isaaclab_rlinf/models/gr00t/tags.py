# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which projector of GR00T N1.5 an embodiment tag means.

N1.5 keeps one state encoder, action encoder and action decoder per embodiment and picks them by an index. RLinf has a
table of its own, made for all generations, and puts it in place of Isaac-GR00T's. The two disagree about
``new_embodiment``, the tag of most fine-tuned checkpoints; there the YAML has to say which one was trained.
"""

from __future__ import annotations

from isaaclab_rlinf.compat.rlinf_names import GR00T_TAG_IDS

ISAAC_GR00T_N1D5_IDS: dict[str, int] = {"new_embodiment": 31, "oxe_droid": 17, "agibot_genie1": 26, "gr1": 24}
"""``EMBODIMENT_TAG_MAPPING`` of Isaac-GR00T N1.5 (``gr00t.data.embodiment_tags``)."""
MAX_EMBODIMENTS = 32
"""Projectors of a released checkpoint (``action_head_cfg.max_num_embodiments``)."""


def known_ids(tag: str) -> dict[str, int]:
    """Return the indices under which a tag is known, by who says so."""
    tables = {"RLinf": GR00T_TAG_IDS, "Isaac-GR00T N1.5": ISAAC_GR00T_N1D5_IDS}
    return {source: table[tag] for source, table in tables.items() if tag in table}


def projector_id(tag: str, asked: int | None, limit: int = MAX_EMBODIMENTS) -> int:
    """Return the projector index of a tag.

    Args:
        tag: ``embodiment_tag``.
        asked: ``embodiment_tag_id`` of the YAML, None when it has none.
        limit: Number of projectors of the checkpoint.

    Returns:
        The index that is asked for, or the one under which the tag is known.

    Raises:
        ValueError: If the tag is known under another index (both are named), if it is unknown or known under two and
            none is asked for, or if there is no such projector.
    """
    known = known_ids(tag)
    said = ", ".join(f"{index} in {source}" for source, index in known.items())
    if asked is None and len(set(known.values())) != 1:
        reason = f"tag {tag!r} is {said}" if known else f"tag {tag!r} is known to neither RLinf nor Isaac-GR00T N1.5"
        raise ValueError(f"missing, and {reason}: give the index with which the checkpoint was trained")
    index = next(iter(known.values())) if asked is None else asked
    if known and index not in known.values():
        raise ValueError(f"{index}, but tag {tag!r} is {said}: use that index, or a tag of your own")
    if not 0 <= index < limit:
        raise ValueError(f"{index}, but the model has projectors 0 to {limit - 1}")
    return index
