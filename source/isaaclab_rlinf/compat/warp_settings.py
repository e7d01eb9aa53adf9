# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Warp settings that must be the same in every process, before Isaac Lab is imported.

Warp's kernel cache is keyed by these settings: processes that differ compile everything twice (100-150 s on a CPU).
Gradients through the simulator are never used here, and leaving out the backward kernels shortens a cold compile.
"""

from __future__ import annotations


def configure_warp() -> None:
    """Sets ``warp.config`` for this process: no backward kernels, no banner. Call before importing Isaac Lab."""
    import warp

    warp.config.enable_backward = False
    warp.config.quiet = True
