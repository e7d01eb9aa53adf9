# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What counts as success in an Isaac Lab task, evaluated before the environment is reset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.env.time_outs import describe_unflagged, unflagged_time_outs
from isaaclab_rlinf.mapping.errors import MappingError, hint

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import SuccessSpec


class SuccessReader:
    """Reads the success condition after each step."""

    def __init__(self, env: Any, spec: SuccessSpec, notices: list[str], decided: frozenset[str] = frozenset()) -> None:
        """Checks the condition against the task.

        Args:
            env: The unwrapped environment.
            spec: The YAML's ``success``.
            notices: Receives what the user should be told once.
            decided: Terminations of which the YAML says whether they are time-outs.

        Raises:
            MappingError: If the named termination does not exist, listing those that do.
        """
        self._manager = getattr(env, "termination_manager", None)
        self._spec = spec
        names = list(self._manager.active_terms) if self._manager is not None else []
        time_outs = [name for name in names if self._manager.get_term_cfg(name).time_out]
        self.has_other_time_outs = any(
            getattr(self._manager.get_term_cfg(name).func, "__name__", "") != "time_out" for name in time_outs
        )
        if spec.termination is not None and spec.termination not in names:
            available = ", ".join(names) or "none: a direct-workflow task has no termination terms, use reward_above"
            raise MappingError(
                f"success.termination: the task has no termination term '{spec.termination}'."
                f"{hint(spec.termination, names)} It has: {available}."
            )
        unflagged = unflagged_time_outs({name: self._manager.get_term_cfg(name) for name in names})
        notices.extend(describe_unflagged(name) for name in unflagged if name not in decided)
        others = [name for name in names if name not in time_outs]
        if spec.termination is None and spec.reward_above is None:
            notices.append(_assumption(others))

    def read(self, reward: torch.Tensor, terminated: torch.Tensor) -> torch.Tensor:
        """Returns (B,) bool.

        Args:
            reward: (B,) reward of the step.
            terminated: (B,) bool, the task's own termination of the step, time-outs excluded.
        """
        if self._spec.termination is not None:
            return self._manager.get_term(self._spec.termination).bool().clone()
        if self._spec.reward_above is not None:
            return reward > self._spec.reward_above
        return terminated.clone()


def _assumption(ends: list[str]) -> str:
    """Returns what to tell a user whose YAML does not say what success is.

    Args:
        ends: The task's terminations that are not time-outs.
    """
    if len(ends) > 1:
        return (
            f"success: every termination counts as success ({', '.join(ends)}). If one of them is a failure, name the "
            "right one as `success: {termination: NAME}`."
        )
    if ends:
        return f"success: '{ends[0]}' counts as success. If it means failure, set `success: {{reward_above: X}}`."
    return "success: the task gives no termination to count; set `success: {reward_above: X}`."
