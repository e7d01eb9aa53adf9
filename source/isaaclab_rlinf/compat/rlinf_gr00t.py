# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What RLinf 0.3.0's loader of GR00T N1.5 does, without its list of three embodiments.

``rlinf.models.embodiment.gr00t.gr00t_n1d5.get_model`` accepts the tags ``libero_franka``, ``isaaclab_franka`` and
``maniskill_widowx`` only and picks the data configuration by them; any other robot is refused. The model class behind
it has no such limit, so the loader is replaced (:mod:`isaaclab_rlinf.models.gr00t.n1d5`) and the class is used.
``tests/compat/test_rlinf_gr00t.py`` fails when the loader's steps or the class's arguments change.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from typing import Any

_DATA_CONFIGS = "rlinf.models.embodiment.gr00t.gr00t_n1d5.modality_config"
RLINF_DATA_CONFIGS = {
    "libero_franka": f"{_DATA_CONFIGS}:LiberoFrankaDataConfig",
    "isaaclab_franka": f"{_DATA_CONFIGS}:LiberoFrankaDataConfig",
    "maniskill_widowx": f"{_DATA_CONFIGS}:ManiskillWidowXDataConfig",
}
"""Tag -> the data configuration that RLinf's loader picks, used when the YAML names none."""

LOADER_KWARGS = (
    "torch_dtype",
    "embodiment_tag",
    "modality_config",
    "modality_transform",
    "denoising_steps",
    "output_action_chunks",
    "obs_converter_type",
    "tune_visual",
    "tune_llm",
    "rl_head_config",
)
"""What RLinf's loader passes to ``from_pretrained``, and so do we."""


def use_embodiment(tag: str, index: int) -> None:
    """Make a tag, with its projector, known to RLinf's tables and put these in place of Isaac-GR00T's.

    RLinf replaces Isaac-GR00T's enumeration of tags and its table of projectors by its own, everywhere in the process.
    Modules that check against the enumeration do so as it was when they were imported, so this has to come before the
    first import of ``gr00t.data.schema``.

    Args:
        tag: Embodiment tag, any text.
        index: Projector index.

    Raises:
        RuntimeError: If ``gr00t.data.schema`` was imported before without this tag.
        ImportError: If ``gr00t`` cannot be imported.
    """
    from rlinf.models.embodiment.gr00t import embodiment_tags
    from rlinf.utils.patcher import Patcher

    schema = sys.modules.get("gr00t.data.schema")
    if schema is not None and tag not in _values(schema.EmbodimentTag):
        raise RuntimeError(
            f"embodiment tag {tag!r} comes too late: gr00t.data.schema is already imported in this process, with the "
            "tags of another model. Build the two models in processes of their own."
        )
    if tag not in _values(embodiment_tags.EmbodimentTag):
        members = {member.name: member.value for member in embodiment_tags.EmbodimentTag}
        members[_member_name(tag, members)] = tag
        embodiment_tags.EmbodimentTag = Enum("EmbodimentTag", members, module=embodiment_tags.__name__)
    embodiment_tags.EMBODIMENT_TAG_MAPPING[tag] = index
    Patcher.clear()
    for name in ("EmbodimentTag", "EMBODIMENT_TAG_MAPPING"):
        Patcher.add_patch(f"gr00t.data.embodiment_tags.{name}", f"rlinf.models.embodiment.gr00t.embodiment_tags.{name}")
    Patcher.apply()


def disable_dropout(model: Any) -> None:
    """Replace every dropout of a model, as RLinf's loader does."""
    from rlinf.models.embodiment.gr00t.utils import replace_dropout_with_identity

    replace_dropout_with_identity(model)


def expose_value_head(model: Any) -> None:
    """Let RLinf find the value head of its own GR00T models, so that time-outs are bootstrapped.

    RLinf 0.3.0 looks for an attribute ``value_head`` of the model (``get_bootstrap_values`` of its rollout worker);
    in its GR00T models it lies in ``action_head``. A property of the class adds no entry to the state dict.

    Args:
        model: An RLinf GR00T model; nothing is done when its class has the attribute.
    """
    if not hasattr(type(model), "value_head"):
        type(model).value_head = property(lambda self: self.action_head.value_head)


def _values(tags: type[Enum]) -> set[str]:
    return {member.value for member in tags}


def _member_name(tag: str, taken: dict[str, str]) -> str:
    """Return a valid name for an enumeration's member that is not taken."""
    name = re.sub(r"\W", "_", tag).upper()
    name = name if name.isidentifier() and not name.startswith("_") else f"TAG_{name}"
    while name in taken:
        name += "_"
    return name
