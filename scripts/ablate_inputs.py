# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Does a policy use what it sees and what it is told?

Plays whole episodes three times on the same start states: as they are, with the instructions of different
environments exchanged, and with black images. A policy that uses both inputs fails without either of them.

    uv run --no-sync python scripts/ablate_inputs.py --episodes 200
    uv run --no-sync python scripts/ablate_inputs.py --weights logs/rlinf/.../full_weights.pt
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from isaaclab_rlinf.backends.statistics import wilson_interval
from lib.load_policy import add_arguments, load_policy


def exchange_instructions(observation: dict) -> dict:
    """Give every environment the instruction of the next one whose instruction differs from its own."""
    own = observation["task_descriptions"]
    others = [next((t for t in own[i + 1 :] + own[:i] if t != text), text) for i, text in enumerate(own)]
    return {**observation, "task_descriptions": others}


def blacken_images(observation: dict) -> dict:
    """Replace every image by a black one."""
    return {key: value * 0 if key.endswith("_images") else value for key, value in observation.items()}


VARIANTS: dict[str, Callable[[dict], dict]] = {
    "as they are": lambda observation: observation,
    "instructions exchanged": exchange_instructions,
    "images black": blacken_images,
}


def play(env, policy, chunks: int, change: Callable[[dict], dict], epochs: int) -> tuple[int, int, float]:
    """Play one episode per environment and epoch.

    Returns:
        Successes, episodes, mean return.
    """
    import torch

    successes = episodes = 0
    returns = 0.0
    for epoch in range(epochs):
        observation, _ = env.reset(seed=7000 + epoch)
        for _ in range(chunks):
            with torch.no_grad():
                actions, _ = policy.predict_action_batch(env_obs=change(observation), mode="eval")
            observations, _, _, _, infos = env.chunk_step(actions)
            observation = observations[-1]
        episode = infos[-1]["episode"]
        successes += int(episode["success_once"].sum())
        returns += float(episode["return"].sum())
        episodes += env.num_envs
    return successes, episodes, returns / episodes


def main() -> None:
    """Run the three variants and print their success rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--variants", type=int, default=3, help="How many of the three to play")
    parser.add_argument("--json", help="File to write the numbers to")
    args = parser.parse_args()

    from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

    cfg, policy = load_policy(args)
    env = IsaacLabGenericEnv(cfg.env.eval, args.num_envs, 0, 1, None)
    chunks = cfg.env.eval.max_steps_per_rollout_epoch // cfg.rollout.model.num_action_chunks
    numbers = {}
    for name, change in list(VARIANTS.items())[: args.variants]:
        successes, episodes, mean_return = play(env, policy, chunks, change, -(-args.episodes // args.num_envs))
        low, high = wilson_interval(successes, episodes)
        numbers[name] = {"successes": successes, "episodes": episodes}
        print(
            f"{name:<24} success {successes / episodes:.3f} ({low:.3f} to {high:.3f}), {episodes} episodes, "
            f"return {mean_return:+.3f}",
            flush=True,
        )
    env.close()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=2)


if __name__ == "__main__":
    main()
