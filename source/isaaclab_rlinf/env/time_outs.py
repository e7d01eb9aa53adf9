# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Time-outs that a task reports as terminations.

Only a time-out is bootstrapped with the value of what would have come next. One that is reported as a termination is
trained as a failure, or counted as a success where every termination is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_TIME_OUT = re.compile(r"time_?out|time_?limit|max(imum)?_(episode_)?(length|steps|duration)|timed_out", re.IGNORECASE)
_ENOUGH = 5
"""Ends at the very end of an episode from which they are no coincidence."""


def unflagged_time_outs(terms: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the termination terms that are time-outs by their name or function, but not by their ``time_out`` flag.

    Args:
        terms: Name -> Isaac Lab's ``TerminationTermCfg``.
    """
    return tuple(
        name
        for name, term in terms.items()
        if not getattr(term, "time_out", False) and (_TIME_OUT.search(name) or _TIME_OUT.search(_function(term)))
    )


def decided_time_outs(overrides: Iterable[str]) -> frozenset[str]:
    """Return the termination terms whose ``time_out`` flag a YAML sets, either way: of these nothing is told.

    Args:
        overrides: Keys of ``init_params.env_overrides``.
    """
    found = (re.fullmatch(r"terminations\.(\w+)\.time_out", key) for key in overrides)
    return frozenset(match[1] for match in found if match)


def describe_unflagged(name: str) -> str:
    """Return what to tell the user about such a term."""
    return (
        f"termination '{name}' looks like a time-out, but has time_out=False: it is trained as a failure, without a "
        f"bootstrap. If it is a time-out, set init_params.env_overrides: {{terminations.{name}.time_out: true}}"
    )


def _function(term: Any) -> str:
    """Return the name of a term's function, also where it is still text (``module:function``)."""
    function = getattr(term, "func", None)
    return function if isinstance(function, str) else getattr(function, "__name__", "")


class TimeOutWatch:
    """Looks whether episodes end by termination whenever their time is over: a direct-workflow task has no flags."""

    def __init__(self, max_episode_length: int) -> None:
        """Starts to watch a task.

        Args:
            max_episode_length: Steps until the task's own time-out.
        """
        self._length = max_episode_length
        self._terminations = 0
        self._over = max_episode_length < 3  # every episode ends near its end

    def observe(self, clock: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor) -> str | None:
        """Take in the dones of a step, as the task gave them.

        Args:
            clock: (B,) int, steps of each episode with this one.
            terminated: (B,) bool.
            truncated: (B,) bool.

        Returns:
            What to tell the user, once.
        """
        if self._over:
            return None
        import torch  # late: the config checks read this module, too

        # Tasks compare with the length or with the length minus 1.
        at_end = clock >= self._length - 1
        flagged, unflagged = (torch.stack([truncated, terminated]) & at_end).sum(dim=1).tolist()
        if flagged:
            self._over = True
            return None
        self._terminations += unflagged
        if self._terminations < _ENOUGH:
            return None
        self._over = True
        return (
            f"{self._terminations} episodes ended as terminations just when their time ({self._length} steps) was "
            "over, none as a time-out: if that is the task's time-out, it is trained as a failure, without a "
            "bootstrap. Set time_out=True on the termination term, or return it as the second value of _get_dones()"
        )
