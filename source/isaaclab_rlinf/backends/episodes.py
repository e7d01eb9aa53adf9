# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a set of evaluation episodes says: success rate with its interval, return, length, per instruction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends.statistics import wilson_interval
from isaaclab_rlinf.backends.writing import writing

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class EpisodeSummary:
    """Result of an evaluation over whole episodes."""

    episodes: int
    requested: int
    successes: int = 0
    mean_return: float = float("nan")
    mean_length: float = float("nan")
    """Mean episode length in control steps."""
    per_instruction: dict[str, tuple[float, int]] = field(default_factory=dict)
    """Instruction -> success rate and number of episodes; empty when all episodes share one instruction."""

    @property
    def unfinished(self) -> int:
        """Episodes that were asked for and did not end."""
        return self.requested - self.episodes

    @property
    def success_rate(self) -> float:
        """Fraction of successful episodes."""
        return self.successes / self.episodes if self.episodes else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the success rate."""
        return wilson_interval(self.successes, self.episodes)


def summarize_episodes(
    results: dict[str, Tensor], requested: int, environments: int, instructions: Sequence[str] = ()
) -> EpisodeSummary:
    """Summarize finished episodes, keeping exactly the requested number.

    Environments and rollout epochs are a grid that may hold a few episodes more than were asked for. The surplus is
    taken from the last environments' last episodes, which is decided before any of them is played, so that it does
    not depend on how long or how good they were.

    Args:
        results: Metric name -> one entry per episode: ``success_once``, ``return``, ``episode_len``, ``env_index``
            and, for tasks with several, ``instruction``.
        requested: Number of episodes asked for.
        environments: Number of environments, over all workers.
        instructions: The task's instruction texts, to name them by.

    Returns:
        The summary.
    """
    if not results or not len(results["success_once"]):
        return EpisodeSummary(episodes=0, requested=requested)
    keep = _kept(results["env_index"].long().tolist(), requested, environments)
    kept = {name: values[keep] for name, values in results.items()}
    success = kept["success_once"] > 0.5
    return EpisodeSummary(
        episodes=len(keep),
        requested=requested,
        successes=int(success.sum()),
        mean_return=float(kept["return"].mean()),
        mean_length=float(kept["episode_len"].mean()),
        per_instruction=_per_instruction(kept, success, instructions),
    )


def _kept(env_index: list[int], requested: int, environments: int) -> list[int]:
    """Return the positions to keep, in order.

    Episode k of environment e has rank ``k * number_of_environments + e`` in the grid; ranks from ``requested`` on
    are surplus.
    """
    seen = [0] * environments
    keep = []
    for position, env in enumerate(env_index):
        if seen[env] * environments + env < requested:
            keep.append(position)
        seen[env] += 1
    return keep


def _per_instruction(
    kept: dict[str, Tensor], success: Tensor, instructions: Sequence[str]
) -> dict[str, tuple[float, int]]:
    """Return success rate and count per instruction index, if there is more than one."""
    if "instruction" not in kept:
        return {}
    groups = {}
    for index in sorted(set(kept["instruction"].long().tolist())):
        chosen = success[kept["instruction"].long() == index]
        name = instructions[index] if index < len(instructions) else f"instruction {index}"
        groups[name] = (float(chosen.float().mean()), len(chosen))
    return groups if len(groups) > 1 else {}


def write_metrics(file: Path, summary: EpisodeSummary, *, task: str, weights: dict[str, object]) -> None:
    """Write ``metrics.json``.

    Args:
        file: File to write.
        summary: Result of the evaluation.
        task: Gym id.
        weights: Which weights acted.
    """
    finished = summary.episodes > 0
    content = {
        "task": task,
        "episodes": summary.episodes,
        "requested_episodes": summary.requested,
        "successes": summary.successes,
        "success_rate": summary.success_rate if finished else None,
        "success_rate_95": list(summary.interval) if finished else None,
        "return": summary.mean_return if finished else None,
        "episode_length": summary.mean_length if finished else None,
        "per_instruction": {
            name: {"success_rate": rate, "episodes": count} for name, (rate, count) in summary.per_instruction.items()
        },
        "weights": weights,
    }
    with writing(file):
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
