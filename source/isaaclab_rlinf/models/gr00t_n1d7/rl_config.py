# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``rl_head_config`` of GR00T N1.7: RLinf's keys, as far as they mean something here. No torch.

A YAML made for RLinf's own class is accepted when it asks for what this one does; a setting that would be ignored is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from isaaclab_rlinf.models.rl_head import RLHeadConfig, refuse_unknown_keys

_FIXED: dict[str, tuple[tuple[Any, ...], str]] = {
    "noise_method": (("flow_sde",), "exploration is the flow SDE"),
    "joint_logprob": ((False,), "the log-probability is that of the one stochastic step"),
    "safe_get_logprob": ((False,), "the log-probability is always exact"),
    "ignore_last": ((False,), "choose steps with stochastic_steps"),
    "disable_dropout": ((True,), "dropout is off, or PPO's ratio would not be 1 before an update"),
    "use_vlm_value": ((True,), "the value is computed from vision-language and state features"),
    "value_vlm_mode": (("mean_token",), "features are averaged over the tokens that are not padding"),
    "action_noise_scale": ((0, 0.0), "no noise is added after the log-probability is taken"),
    "chunk_critic_input": ((False,), "one value per chunk"),
}
"""RLinf's key -> the values that describe what happens here, and why."""


@dataclass(frozen=True)
class Gr00tHeadConfig:
    """How N1.7 explores and estimates values.

    Attributes:
        flow: Noise and critic settings.
        prompt_length: Fixed number of tokens (``padding_value``); None fits the images and leaves 48 for the text.
    """

    flow: RLHeadConfig
    prompt_length: int | None = None

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any] | None, num_steps: int) -> Gr00tHeadConfig:
        """Read and check a config section.

        Args:
            values: The section, or None for the defaults.
            num_steps: Number of denoising steps.

        Raises:
            ValueError: On an unknown key or a value that cannot be followed; the message says what is allowed.
        """
        given = dict(values or {})
        own = [field.name for field in fields(RLHeadConfig)]
        allowed = sorted({*own, *_FIXED, "padding_value"})
        refuse_unknown_keys(given, allowed, "a setting of GR00T N1.7")
        for key, value in given.items():
            if key in _FIXED and value not in _FIXED[key][0]:
                raise ValueError(
                    f"rl_head_config.{key} is {value!r}, but with implementation lerobot {_FIXED[key][1]}: remove the "
                    f"key, or set it to {_FIXED[key][0][0]!r}"
                )
        length = given.get("padding_value")
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise ValueError(
                f"rl_head_config.padding_value is {length!r}; it must be a whole number of tokens, at least 1: records "
                "of different instructions are put together, so all have one length"
            )
        return cls(RLHeadConfig.from_mapping({k: v for k, v in given.items() if k in own}, num_steps), length)
