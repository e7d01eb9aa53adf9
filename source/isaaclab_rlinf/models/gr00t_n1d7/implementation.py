# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which code runs GR00T N1.7: lerobot's network with our policy, or RLinf's class on NVIDIA's ``gr00t`` package."""

from __future__ import annotations

from isaaclab_rlinf.compat.gr00t_package import gr00t_generation

IMPLEMENTATIONS = ("auto", "lerobot", "isaac_gr00t")


def choose(asked: str) -> str:
    """Return ``"lerobot"`` or ``"isaac_gr00t"``.

    Args:
        asked: ``actor.model.implementation``; ``auto`` takes NVIDIA's package when it is installed.

    Raises:
        ValueError: If it is none of :data:`IMPLEMENTATIONS`, or ``isaac_gr00t`` and the package is absent.
    """
    if asked not in IMPLEMENTATIONS:
        raise ValueError(f"implementation is {asked!r}; allowed: {', '.join(IMPLEMENTATIONS)}")
    installed = asked != "lerobot" and gr00t_generation() == "gr00t_n1d7"
    if asked == "lerobot" or (asked == "auto" and not installed):
        return "lerobot"
    if not installed:
        raise ValueError(
            "implementation is isaac_gr00t, but NVIDIA's gr00t package of generation N1.7 is not installed: run "
            "scripts/install_gr00t_n1d7.sh, or set implementation: lerobot"
        )
    return "isaac_gr00t"
