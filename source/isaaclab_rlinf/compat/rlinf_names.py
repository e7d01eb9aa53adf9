# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names that RLinf 0.3.0 registers at import, as a table: importing ``rlinf.config`` costs seconds.

``tests/compat/test_rlinf_names.py`` compares the table with the installed RLinf.
"""

from __future__ import annotations

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
