# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Registration of our model types with RLinf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omegaconf import DictConfig

_registered = False


def register_models() -> None:
    """Register every model type of this package; a second call does nothing.

    Only light builders are registered: a model's own imports happen when it is built.
    """
    global _registered
    if _registered:
        return
    from rlinf.models import register_model

    register_model("tiny_vla", _build_tiny_vla, category="embodied", force=True)
    register_model("gr00t", _build_gr00t_n1d5, category="embodied", force=True)
    register_model("gr00t_n1d6", _build_gr00t_n1d6, category="embodied", force=True)
    register_model("gr00t_n1d7", _build_gr00t_n1d7, category="embodied", force=True)
    _registered = True


def _build_tiny_vla(cfg: DictConfig, torch_dtype: Any = None) -> Any:
    from isaaclab_rlinf.models.tiny_vla.builder import build_policy

    return build_policy(cfg, torch_dtype)


def _build_gr00t_n1d5(cfg: DictConfig, torch_dtype: Any = None) -> Any:
    from isaaclab_rlinf.models.gr00t.n1d5 import build_policy

    return build_policy(cfg, torch_dtype)


def _build_gr00t_n1d6(cfg: DictConfig, torch_dtype: Any = None) -> Any:
    from isaaclab_rlinf.models.gr00t.rlinf_models import build_rlinf_policy

    return build_rlinf_policy(cfg, torch_dtype, generation="n1d6")


def _build_gr00t_n1d7(cfg: DictConfig, torch_dtype: Any = None) -> Any:
    from isaaclab_rlinf.models.gr00t_n1d7.builder import build

    return build(cfg, torch_dtype)
