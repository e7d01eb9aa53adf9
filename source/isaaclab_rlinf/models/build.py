# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Building a registered model outside a worker: for export and for the conformance kit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_DEFAULTS = {"precision": "fp32", "is_lora": False, "load_to_device": False}


def build_registered(model_cfg: Mapping[str, Any], extensions: Sequence[str] = ()) -> torch.nn.Module:
    """Register our models and the user's, then build one as RLinf's workers do.

    Args:
        model_cfg: The ``actor.model`` section; ``precision`` defaults to fp32, ``is_lora`` to false, and so does
            ``load_to_device``: RLinf would move the model to the first GPU.
        extensions: Modules whose ``register()`` is called, as in the YAML's ``extensions:``; the module that
            ``RLINF_EXT_MODULE`` names is called before them.

    Raises:
        LookupError: If nothing registers the model type.
    """
    from omegaconf import OmegaConf

    from isaaclab_rlinf.compat import prepare_worker_imports
    from isaaclab_rlinf.extension import EXTENSION_MODULE, load_extension
    from isaaclab_rlinf.models.registry import register_models

    prepare_worker_imports()
    register_models()
    of_environment = os.environ.get("RLINF_EXT_MODULE", "")
    for name in (of_environment, *extensions):
        if name and name != EXTENSION_MODULE:
            load_extension(name)
    from rlinf.models import get_model

    cfg = OmegaConf.create({**_DEFAULTS, **OmegaConf.to_container(OmegaConf.create(model_cfg), resolve=True)})
    model = get_model(cfg)
    if model is None:
        raise LookupError(
            f"model_type {cfg.model_type!r} is not registered with RLinf; name the module whose register() does it "
            "under the YAML's extensions:, or in RLINF_EXT_MODULE"
        )
    return model
