# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names of the two base configurations, and a helper of the tests."""

from __future__ import annotations

from isaaclab_rlinf.config.errors import Issue
from isaaclab_rlinf.config.validate import Validation

TROCAR = "isaaclab_ppo_gr00t_assemble_trocar"
BUNDLED = "isaaclab_ppo_tiny_vla_touch_color"


def only(outcome: Validation) -> Issue:
    """Return the one issue of an outcome."""
    assert len(outcome.issues) == 1, "\n".join(str(issue) for issue in outcome.issues)
    return outcome.issues[0]
