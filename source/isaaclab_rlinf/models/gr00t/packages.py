# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether the package that runs a GR00T generation is installed, told without importing it."""

from __future__ import annotations

from isaaclab_rlinf.compat.gr00t_package import gr00t_generation, lerobot_has_n1d7

_NVIDIA_ONLY = {
    "gr00t": ("N1.5", "install N1.5 with scripts/install_gr00t_n1d5.sh, in an environment of its own"),
    "gr00t_n1d6": (
        "N1.6",
        "install N1.6 as RLinf does, in an environment of its own (isaaclab-rlinf doctor --model_type gr00t_n1d6)",
    ),
}
"""Model type that only NVIDIA's package runs -> the generation's name, and how to get it."""


def missing_package(model_type: str, implementation: str | None = None) -> str | None:
    """Return what keeps a GR00T model from being built here, and what to do about it; None when nothing does.

    Args:
        model_type: ``gr00t``, ``gr00t_n1d6`` or ``gr00t_n1d7``; any other needs none of these packages.
        implementation: ``actor.model.implementation``, read for ``gr00t_n1d7``.
    """
    if model_type in _NVIDIA_ONLY:
        return _nvidia(model_type, *_NVIDIA_ONLY[model_type])
    return _n1d7(implementation or "auto") if model_type == "gr00t_n1d7" else None


def _nvidia(model_type: str, name: str, fix: str) -> str | None:
    found = gr00t_generation()
    if found == model_type:
        return None
    if found is None:
        return f"NVIDIA's package `gr00t` (Isaac-GR00T) is not installed; {fix}"
    return f"the installed `gr00t` is of another generation than {name} ({found}); {fix}"


def _n1d7(implementation: str) -> str | None:
    from isaaclab_rlinf.models.gr00t_n1d7.implementation import choose

    try:
        chosen = choose(implementation)
    except ValueError as error:
        return str(error)
    if chosen == "isaac_gr00t" or lerobot_has_n1d7():
        return None
    return (
        "lerobot with its implementation of N1.7 (lerobot 0.6.1) is not installed; it belongs to the default "
        "environment (isaaclab-rlinf doctor --model_type gr00t_n1d7)"
    )
