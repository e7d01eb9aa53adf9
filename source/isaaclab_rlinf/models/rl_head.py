# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Settings of our policies in reinforcement learning (``actor.model.rl_head_config``)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class RLHeadConfig:
    """How a flow-matching policy explores and estimates values.

    Attributes:
        noise_level: Scale of the flow SDE's noise. With N denoising steps the noise of step k has standard deviation
            ``noise_level sqrt((1 - t) / (N max(t, 1/N)))`` with ``t = k / N``, in normalised action units (the
            demonstrated range is 2 wide). For N = 4 and level 1: 1.0, 0.87, 0.5, 0.29.
        stochastic_steps: Denoising steps of which one, drawn per sample, is stochastic; None means all, as GR00T
            does. A trained flow contracts the noise of early steps almost entirely, so only late ones explore:
            ``[N - 1]`` makes each call explore with a known standard deviation.
        add_value_head: Whether to build the value head (needed for GAE).
        detach_critic_input: Whether the value loss leaves the context encoder alone.
    """

    noise_level: float = 0.5
    stochastic_steps: tuple[int, ...] | None = None
    add_value_head: bool = True
    detach_critic_input: bool = True

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any] | None, num_steps: int) -> RLHeadConfig:
        """Read and check a config section.

        Args:
            values: The section, or None for the defaults.
            num_steps: Number of denoising steps.

        Raises:
            ValueError: On an unknown key or a value out of range; the message says what is allowed.
        """
        given = dict(values or {})
        allowed = [field.name for field in fields(cls)]
        refuse_unknown_keys(given, allowed, "a tiny_vla setting")
        if given.get("stochastic_steps") is not None:
            given["stochastic_steps"] = tuple(int(step) for step in given["stochastic_steps"])
        config = cls(**given)
        if config.noise_level <= 0:
            raise ValueError(f"rl_head_config.noise_level is {config.noise_level}; it must be positive")
        steps = config.stochastic_steps
        if steps is not None and (not steps or not all(0 <= step < num_steps for step in steps)):
            raise ValueError(
                f"rl_head_config.stochastic_steps is {list(steps)}; it must name at least one of the denoising steps "
                f"0 to {num_steps - 1} (denoising_steps is {num_steps})"
            )
        return config


def refuse_unknown_keys(given: Iterable[str], allowed: Sequence[str], known_as: str) -> None:
    """Refuse keys of ``rl_head_config`` that mean nothing.

    Args:
        given: Keys of the section.
        allowed: Keys that mean something.
        known_as: What an allowed key is, for the message.

    Raises:
        ValueError: On the first unknown key, with the nearest name.
    """
    for key in given:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise ValueError(f"rl_head_config.{key} is not {known_as}{hint}; allowed: {allowed}")
