# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names that RLinf 0.3.0 registers at import, as tables: importing ``rlinf.config`` costs seconds.

Where the newer revision that Isaac Lab's documentation pins differs, a function finds out which one is installed.
``tests/compat/test_rlinf_names.py`` compares the tables with the installed RLinf.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from pathlib import Path

EMBODIED_MODEL_TYPES: tuple[str, ...] = (
    "abot_m0",
    "cfg_model",
    "cma",
    "cnn_policy",
    "dexbotic_dm0",
    "dexbotic_pi",
    "dreamzero",
    "flow_policy",
    "gr00t",
    "gr00t_n1d6",
    "gr00t_n1d7",
    "lingbotvla",
    "mlp_policy",
    "openpi",
    "openvla",
    "openvla_oft",
    "resnet",
    "starvla",
    "value_model",
)
"""Values of ``model_type`` in ``rlinf.config.EMBODIED_MODEL``."""

GR00T_TAG_IDS: dict[str, int] = {
    "libero_panda": 2,
    "robocasa_panda_omron": 13,
    "libero_franka": 31,
    "oxe_droid": 17,
    "agibot_genie1": 26,
    "gr1": 24,
    "maniskill_widowx": 30,
    "isaaclab_franka": 31,
    "new_embodiment": 10,
}
"""``EMBODIMENT_TAG_MAPPING`` of ``rlinf.models.embodiment.gr00t.embodiment_tags``: GR00T tag -> projector index."""

STOCK_GR00T_CONVERTERS: tuple[str, ...] = ("isaaclab_stack_cube", "libero", "maniskill")
"""Names under which ``rlinf.models.embodiment.gr00t.simulation_io`` has converters of its own."""

BROKEN_N1D7_CONVERTERS: tuple[str, ...] = ("isaaclab_stack_cube", "maniskill")
"""Of those, the ones that read N1.5's ``action.<k>`` keys, which N1.7 does not give: KeyError at the first action."""

ROLLOUT_FLAG_FIELDS: tuple[str, ...] = ("save_flags", "intervene_flags")
"""Name of ``RolloutResult``'s per-action flags: in RLinf 0.3.0, and in the revision 0f9ea98 of Isaac Lab's docs."""


def rollout_flag_field(result_class: type) -> str:
    """Return the name that this RLinf's ``RolloutResult`` gives to its per-action flags.

    Args:
        result_class: ``rlinf.data.embodied_io_struct.RolloutResult``.

    Raises:
        AttributeError: If it has neither name.
    """
    names = {field.name for field in dataclasses.fields(result_class)}
    for name in ROLLOUT_FLAG_FIELDS:
        if name in names:
            return name
    raise AttributeError(
        f"{result_class.__qualname__} has none of the fields {', '.join(ROLLOUT_FLAG_FIELDS)}: this RLinf is neither "
        "0.3.0 nor the revision 0f9ea98"
    )


def embodied_model_types(package: Path | None = None) -> tuple[str, ...]:
    """Return the values of ``model_type`` that the installed RLinf has, without importing it.

    Revisions differ in a few: 0f9ea98 has ``rlt_mlp_policy`` and splits ``value_model``. Their names are read from the
    text of ``rlinf/config.py``.

    Args:
        package: RLinf's package directory; found when left out.

    Returns:
        The names, sorted; :data:`EMBODIED_MODEL_TYPES` when the text is not there or is written in another way.
    """
    if package is None:
        spec = importlib.util.find_spec("rlinf")
        if spec is None or spec.origin is None:
            return EMBODIED_MODEL_TYPES
        package = Path(spec.origin).parent
    try:
        source = (package / "config.py").read_text(encoding="utf-8")
    except OSError:
        return EMBODIED_MODEL_TYPES
    values = dict(re.findall(r'SupportedModel\.(\w+) = SupportedModel\.register\(\s*"([\w.]+)"', source))
    block = re.search(r"EMBODIED_MODEL\b[^=]*= set\((.*?)\n\)", source, re.DOTALL)
    members = re.findall(r"SupportedModel\.(\w+)", block[1]) if block else []
    return tuple(sorted({values[name] for name in members if name in values})) or EMBODIED_MODEL_TYPES
