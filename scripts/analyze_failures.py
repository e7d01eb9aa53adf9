# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What do the failed episodes of the touch-color task have in common?

Plays whole episodes with deterministic actions in this process, reads the balls and the fingertip from the
simulator, and prints how episodes end, how near the failed ones came, and where their balls lay.

    uv run --no-sync python scripts/analyze_failures.py --weights logs/rlinf/.../full_weights.pt
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.tasks.touch_color.geometry import BALL_NAMES, GEOMETRY
from lib.load_policy import add_arguments, load_policy

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 7000
"""Seed of the first round of episodes; each further round has the next one."""


@dataclass(frozen=True)
class Episode:
    """One finished episode."""

    end: str
    """``"success"``, ``"wrong ball"`` or ``"time-out"``."""
    gap: float
    """Smallest distance between fingertip and the named ball's surface (m); at most 0 when it was touched."""
    target: int
    """Index of the named ball in ``BALL_NAMES``."""
    balls: tuple[tuple[float, float], ...]
    """Ball centres (m)."""

    @property
    def radius(self) -> float:
        """Distance of the named ball from the arm's base (m)."""
        return math.hypot(*self.balls[self.target])

    @property
    def angle(self) -> float:
        """Polar angle of the named ball, absolute, in degrees; 0 is straight ahead."""
        x, y = self.balls[self.target]
        return abs(math.degrees(math.atan2(y, x)))

    @property
    def neighbor(self) -> float:
        """Distance of the named ball to the nearest other one (m)."""
        own = self.balls[self.target]
        return min(math.dist(own, ball) for index, ball in enumerate(self.balls) if index != self.target)


def play_round(env: Any, policy: Any, block: Any, seed: int, chunks: int) -> list[Episode]:
    """Play one episode in every environment."""
    import torch

    from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation, task_descriptions

    raw = env.reset(seed=seed)
    observation_map = ObservationMap.build(block, env.layout(raw), env.instructions)
    goal = env.unwrapped.command_manager.get_term("goal")
    targets, balls = goal.target.tolist(), goal.balls.tolist()
    everyone = torch.ones(env.num_envs, dtype=torch.bool)
    nearest = goal.distance.clone()
    ended: dict[int, Episode] = {}
    for _ in range(chunks):
        mapped = map_observation(raw, observation_map)
        instruction = mapped.pop("instruction")
        observation = {**mapped, "task_descriptions": task_descriptions(instruction, observation_map.instructions)}
        with torch.no_grad():
            actions, _ = policy.predict_action_batch(env_obs=observation, mode="eval")
        for step in range(actions.shape[1]):
            result = env.step(actions[:, step], render=step == actions.shape[1] - 1, active=everyone, final="none")
            raw = result.observation
            # In the step that ends an episode the goal is drawn anew; success itself means that the ball was reached.
            done = result.terminated | result.truncated
            nearest = torch.where(done, nearest, torch.minimum(nearest, goal.distance))
            for index in done.nonzero().flatten().tolist():
                if index in ended:
                    continue
                success = bool(result.success[index])
                end = "success" if success else "wrong ball" if result.terminated[index] else "time-out"
                gap = 0.0 if success else float(nearest[index]) - GEOMETRY.touch_distance
                ended[index] = Episode(end, gap, targets[index], tuple(map(tuple, balls[index])))
    return list(ended.values())


def rate(episodes: list[Episode], of: Callable[[Episode], bool]) -> str:
    """Return the failures among the episodes that fulfil a condition."""
    chosen = [episode for episode in episodes if of(episode)]
    failed = sum(episode.end != "success" for episode in chosen)
    return f"{failed:3d} of {len(chosen):3d} failed" + (f" ({failed / len(chosen):.3f})" if chosen else "")


def report(episodes: list[Episode]) -> None:
    """Print what the failures share."""
    failures = [episode for episode in episodes if episode.end != "success"]
    print(f"{len(episodes)} episodes: {dict(Counter(episode.end for episode in episodes))}")
    late = sorted(episode.gap * 1000 for episode in failures if episode.end == "time-out")
    print(f"time-outs: nearest approach to the named ball (mm): {[round(gap) for gap in late]}")
    conditions: dict[str, Callable[[Episode], bool]] = {
        "everywhere": lambda _: True,
        "ball near the edge of the reach (radius above 0.55 m)": lambda e: e.radius > 0.55,
        "ball near the base (radius below 0.40 m)": lambda e: e.radius < 0.40,
        "ball beside or behind (angle above 60 degrees)": lambda e: e.angle > 60,
        "another ball within 0.25 m": lambda e: e.neighbor < 0.25,
        "none of these": lambda e: 0.40 <= e.radius <= 0.55 and e.angle <= 60 and e.neighbor >= 0.25,
        **{f"the {name} ball": lambda e, i=index: e.target == i for index, name in enumerate(BALL_NAMES)},
    }
    for name, condition in conditions.items():
        print(f"{rate(episodes, condition)}  {name}")


def main() -> None:
    """Play and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    args = parser.parse_args()
    cfg, policy = load_policy(args)

    from isaaclab_rlinf.env.isaac_factory import open_isaac_env
    from isaaclab_rlinf.env.settings import simulator_spec_from_config

    spec = simulator_spec_from_config(cfg.env.eval, args.num_envs, 0)
    spec = replace(spec, block=replace(spec.block, render_every_action=True))
    chunks = cfg.env.eval.max_steps_per_rollout_epoch // cfg.rollout.model.num_action_chunks
    episodes: list[Episode] = []
    with open_isaac_env(spec, report=lambda error: None) as env:  # an error shows itself: this is no child process
        for index in range(-(-args.episodes // args.num_envs)):
            episodes += play_round(env, policy, spec.block, SEED + index, chunks)
            print(f"{len(episodes)} of {args.episodes} episodes played", flush=True)
    report(episodes)


if __name__ == "__main__":
    main()
