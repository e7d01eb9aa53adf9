# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's own GR00T N1.6 and N1.7 models, built by RLinf's loader, with the task YAML's converters."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.gr00t.converters import register_converters

if TYPE_CHECKING:
    from omegaconf import DictConfig


def build_rlinf_policy(cfg: DictConfig, torch_dtype: Any, generation: str) -> Any:
    """Build RLinf's own model of a generation.

    Args:
        cfg: ``actor.model`` or ``rollout.model``; not changed.
        torch_dtype: Dtype of the weights.
        generation: ``n1d6`` or ``n1d7``.

    Returns:
        RLinf's policy, whose ``value_head`` is found at the top.

    Raises:
        ImportError: If NVIDIA's ``gr00t`` of that generation is not installed.
        ValueError: If converters and ``obs_converter_type`` do not fit together, and as RLinf's loader raises.
    """
    from omegaconf import open_dict

    from isaaclab_rlinf.compat.rlinf_gr00t import expose_value_head

    own = copy.deepcopy(cfg)
    with open_dict(own):
        own.obs_converter_type = register_converters(cfg, generation)
        if own.get("rl_head_config", None) is not None and own.rl_head_config.get("action_noise_scale") is None:
            # RLinf's default adds noise of 0.1 to actions after their log-probability was taken
            own.rl_head_config.action_noise_scale = 0.0
    from rlinf.models.embodiment.gr00t import get_model

    model = get_model(own, torch_dtype)
    expose_value_head(model)
    return model
