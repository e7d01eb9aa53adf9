# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether the package that runs a GR00T generation is installed, told without importing it."""

from __future__ import annotations

from isaaclab_rlinf.compat.gr00t_package import gr00t_generation, lerobot_has_n1d7


def missing_package(model_type: str, implementation: str | None = None) -> str | None:
    """Return what keeps a GR00T model from being built here, and what to do about it; None when nothing does.

    Args:
        model_type: ``gr00t``, ``gr00t_n1d6`` or ``gr00t_n1d7``; any other needs none of these packages.
        implementation: ``actor.model.implementation``, read for ``gr00t_n1d7``.
    """
    if model_type == "gr00t":
        from isaaclab_rlinf.models.gr00t.n1d5 import missing_package as of_n1d5

        return of_n1d5()
    if model_type == "gr00t_n1d6":
        return _n1d6()
    return _n1d7(implementation or "auto") if model_type == "gr00t_n1d7" else None


def _n1d6() -> str | None:
    found = gr00t_generation()
    if found == "gr00t_n1d6":
        return None
    fix = "install N1.6 as RLinf does, in an environment of its own (isaaclab-rlinf doctor --model_type gr00t_n1d6)"
    if found is None:
        return f"NVIDIA's package `gr00t` (Isaac-GR00T) is not installed; {fix}"
    return f"the installed `gr00t` is of another generation than N1.6 ({found}); {fix}"


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
