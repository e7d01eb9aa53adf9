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
        noise_level: Scale of the flow SDE's noise, the same in every step of a training. With N denoising steps the
            noise of step k has standard deviation ``noise_level sqrt((1 - t) / (N max(t, 1/N)))`` with
            ``t = k / N``, in normalised action units (the demonstrated range is 2 wide). For N = 4 and level 1: 1.0,
            0.87, 0.5, 0.29.
        stochastic_steps: Denoising steps of which one, drawn per sample, is stochastic; None means all, as GR00T
            does. A trained flow contracts the noise of early steps almost entirely, so only late ones explore:
            ``[N - 1]`` makes each call explore with a known standard deviation.
        noise_anneal: Whether the level changes with the training step, as in RLinf's GR00T and pi0: large noise finds
            successes early, small noise lets the end of a training feel what a run without noise does.
        noise_params: Level before the first step, level from the last of these steps on, and their number; linear
            between. Means nothing with ``noise_anneal`` off.
        add_value_head: Whether to build the value head (needed for GAE).
        detach_critic_input: Whether the value loss leaves the context encoder alone.
    """

    noise_level: float = 0.5
    noise_anneal: bool = False
    noise_params: tuple[float, float, int] = (0.7, 0.3, 400)
    stochastic_steps: tuple[int, ...] | None = None
    add_value_head: bool = True
    detach_critic_input: bool = True

    def noise_at(self, global_step: int) -> float:
        """Return the noise level after ``global_step`` training steps."""
        if not self.noise_anneal:
            return self.noise_level
        start, end, steps = self.noise_params
        return start + (end - start) * min(global_step, steps) / steps

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
        if given.get("noise_params") is not None:
            given["noise_params"] = tuple(given["noise_params"])
        config = cls(**given)
        if config.noise_level <= 0:
            raise ValueError(f"rl_head_config.noise_level is {config.noise_level}; it must be positive")
        if config.noise_anneal:
            _check_annealing(given)
        steps = config.stochastic_steps
        if steps is not None and (not steps or not all(0 <= step < num_steps for step in steps)):
            raise ValueError(
                f"rl_head_config.stochastic_steps is {list(steps)}; it must name at least one of the denoising steps "
                f"0 to {num_steps - 1} (denoising_steps is {num_steps})"
            )
        return config


def _check_annealing(given: Mapping[str, Any]) -> None:
    if "noise_level" in given:
        raise ValueError(
            f"rl_head_config.noise_level is {given['noise_level']}, but noise_anneal is true: the level comes from "
            "noise_params. Remove noise_level, or set noise_anneal: false"
        )
    params = given.get("noise_params")
    if params is None or len(params) != 3 or min(params) <= 0 or params[2] != int(params[2]):
        raise ValueError(
            f"rl_head_config.noise_params is {None if params is None else list(params)}; with noise_anneal it must be "
            "three positive numbers, [level at the start, level at the end, number of training steps], e.g. "
            "[0.4, 0.1, 80]"
        )


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
