# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Paths of what ships with the package."""

from __future__ import annotations

from pathlib import Path


def bundled_checkpoint() -> Path:
    """Directory of the bundled tiny_vla checkpoint for the bundled task (supervised, before RL)."""
    return Path(__file__).parent / "tiny_vla" / "checkpoints" / "touch_color_base"
