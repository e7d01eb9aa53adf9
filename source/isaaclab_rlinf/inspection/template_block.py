# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The text of the block ``isaaclab`` in a first task YAML."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from isaaclab_rlinf.inspection.draft import MISSING, view_slots

if TYPE_CHECKING:
    from isaaclab_rlinf.inspection.draft import Choice, Draft
    from isaaclab_rlinf.inspection.model_files import ModelFacts

_WIDTH = 104


def block_lines(model: ModelFacts, draft: Draft) -> list[str]:
    """Return the lines of the block ``isaaclab``, each choice with its comment.

    Args:
        model: The checkpoint.
        draft: The choices.
    """
    lines: list[str] = []
    for key, choice in draft.keys.items():
        if "." not in key:
            lines += _entry(key, choice)
    nested = {key.partition(".")[2]: choice for key, choice in draft.keys.items() if key.startswith("action_mapping.")}
    if nested:
        lines.append("action_mapping:")
        lines += [f"  {line}" for key, choice in nested.items() for line in _entry(key, choice)]
    if model.is_gr00t:
        lines += _gr00t_lines(model, draft)
    return lines


def _entry(key: str, choice: Choice) -> list[str]:
    """Return one key; a comment that does not fit behind it stands above."""
    line = f"{key}: {choice.value}"
    if not choice.comment:
        return [line]
    together = f"{line}  # {choice.comment}"
    if len(together) <= _WIDTH:
        return [together]
    return [*(f"# {part}" for part in textwrap.wrap(choice.comment, _WIDTH - 2)), line]


def _gr00t_lines(model: ModelFacts, draft: Draft) -> list[str]:
    slots = {slot: views for slot, views in view_slots(model).items() if model.views}
    lines = ["gr00t_mapping:", "  video:"] if slots else ["gr00t_mapping:"]
    for slot, views in slots.items():
        keys = [_prefixed("video", view) for view in views]
        lines.append(f"    {slot}: {keys[0] if slot != 'extra_view_images' else f'[{chr(44).join(keys)}]'}")
    if draft.state_slices:
        lines.append("  state:                         # columns of `states`, in the checkpoint's order")
    for key, first, last in draft.state_slices:
        lines.append(f"    - {{gr00t_key: {_prefixed('state', key)}, slice: [{first}, {last}]}}")
    if model.language:
        lines.append(f"  language: {model.language}")
    if len(lines) == 1:
        lines = [
            "gr00t_mapping: ???               # DECIDE: see docs/yaml_reference.md; give --model_path to have it filled"
        ]
    lines.append(f"embodiment_tag: {model.tag or MISSING}")
    if model.model_type == "gr00t":
        lines += [
            "# DECIDE: the data configuration that the checkpoint was trained with, file.py:Class beside this file.",
            "data_config_class: ???",
        ]
    return lines


def _prefixed(modality: str, key: str) -> str:
    return key if key.startswith(f"{modality}.") else f"{modality}.{key}"
