# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Cost of transport and mapping alone: a no-op simulator with big images, our bridge beside RLinf's.

The simulator in the child does nothing but hand out ready-made observations, so that the time per environment step is
that of processes, pipes, copies and mapping. By default 64 environments with three 224x224 cameras.

    uv run python scripts/benchmark_transport.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.config.schema import IsaacLabBlock, StateSpec, TaskDescription
from isaaclab_rlinf.env.protocol import SimulatorSpec, StepResult
from isaaclab_rlinf.mapping.actions import ActionTermInfo
from isaaclab_rlinf.mapping.layout import ObservationLayout, describe_observations

CAMERAS = ("front", "left", "right")
STATE_DIM, ACTION_DIM = 29, 28
BLOCK = IsaacLabBlock(
    task_description=TaskDescription(text="do nothing"),
    main_images="front",
    extra_view_images=("left", "right"),
    states=(StateSpec("joint_pos"),),
)


def main() -> None:
    """Measures both paths in turns and prints medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num_envs", type=int, default=64)
    parser.add_argument("--size", type=int, default=224, help="image height and width")
    parser.add_argument("--chunk", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    torch.set_num_threads(1)
    ours, theirs = our_path(args), rlinf_path(args)
    actions = torch.zeros(args.num_envs, args.chunk, ACTION_DIM)
    times: dict[str, list[float]] = {"rlinf": [], "ours": []}
    for turn in range(args.rounds + 1):
        for name, env in (("rlinf", theirs), ("ours", ours)):
            start = time.perf_counter()
            env.chunk_step(actions)
            if turn > 0:
                times[name].append((time.perf_counter() - start) / args.chunk)
    ours.close()
    theirs.env.isaac_lab_process.terminate()
    ratio = statistics.median(o / t for o, t in zip(times["ours"], times["rlinf"], strict=True))
    print(f"no-op simulator, {args.num_envs} environments, 3 cameras {args.size}x{args.size}, chunk {args.chunk}")
    for name, values in times.items():
        print(f"{name:8}{1e3 * statistics.median(values):10.2f} ms per environment step")
    print(f"ours takes {ratio:.2f} of RLinf's time (median of {args.rounds} rounds)")


class NoOpSimulator:
    """Hands out the same observation for every step; both Isaac Lab's and our step interface."""

    can_skip_rendering, step_seconds, max_episode_steps = True, 0.05, 10**9
    instructions, notices, device = None, (), torch.device("cpu")
    action_terms = (ActionTermInfo("joints", ACTION_DIM),)

    def __init__(self, num_envs: int, size: int) -> None:
        """Prepares random images and states once."""
        self.num_envs = num_envs
        self._observation = {
            "policy": {"joint_pos": torch.randn(num_envs, STATE_DIM)},
            "camera_images": {
                name: torch.randint(0, 256, (num_envs, size, size, 3), dtype=torch.uint8) for name in CAMERAS
            },
        }
        self._no = torch.zeros(num_envs, dtype=torch.bool)

    def layout(self, observation: dict) -> ObservationLayout:
        """Describes the observation."""
        return describe_observations(observation)

    def step(self, actions: torch.Tensor, **_request: object) -> StepResult:
        """Ours: no reward, no end."""
        return StepResult(self._observation, torch.zeros(self.num_envs), self._no, self._no, self._no)

    def reset(self, seed: int | None = None) -> dict:
        """Ours: the observation."""
        return self._observation


class NoOpIsaacEnv(NoOpSimulator):
    """The same with Isaac Lab's return values."""

    def step(self, actions: torch.Tensor) -> tuple:
        """Isaac Lab's five values."""
        return self._observation, torch.zeros(self.num_envs), self._no, self._no, {}

    def reset(self, seed: int | None = None, env_ids: object = None) -> tuple:
        """Isaac Lab's two values."""
        return self._observation, {}

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def open_no_op(spec: SimulatorSpec, report: Callable[[BaseException], None]) -> Iterator[NoOpSimulator]:
    """Factory for our simulator process; the image size travels as an override."""
    yield NoOpSimulator(spec.num_envs, dict(spec.env_overrides)["size"])


def our_path(args: argparse.Namespace) -> object:
    """Builds ``IsaacLabGenericEnv`` over the no-op simulator."""
    from unittest import mock

    from isaaclab_rlinf.env import generic_env

    factory = f"{__file__.rsplit('/', 1)[-1].removesuffix('.py')}:open_no_op"
    spec = SimulatorSpec(
        "NoOp-v0", args.num_envs, 0, "cpu", BLOCK, args.chunk, env_overrides=(("size", args.size),), factory=factory
    )
    cfg = OmegaConf.create({"seed": 0, "video_cfg": {}, "init_params": {}})
    with mock.patch.object(generic_env, "simulator_spec_from_config", lambda *_: spec):
        return generic_env.IsaacLabGenericEnv(cfg, args.num_envs, 0, 1, None)


def rlinf_path(args: argparse.Namespace) -> object:
    """Builds RLinf's base class with its subprocess over the no-op simulator."""
    from rlinf.envs.isaaclab.isaaclab_env import IsaaclabBaseEnv

    class NoOp(IsaaclabBaseEnv):
        def _make_env_function(self) -> Callable:
            num_envs, size = args.num_envs, args.size
            return lambda: (NoOpIsaacEnv(num_envs, size), None)

        def _wrap_obs(self, obs: dict) -> dict:
            cameras = obs["camera_images"]
            return {
                "main_images": cameras["front"],
                "extra_view_images": torch.stack([cameras["left"], cameras["right"]], dim=1),
                "states": obs["policy"]["joint_pos"],
                "task_descriptions": [self.task_description] * self.num_envs,
            }

    settings = {"auto_reset": True, "use_rel_reward": False, "ignore_terminations": False, "max_episode_steps": 10**6}
    params = {"id": "NoOp-v0", "task_description": "do nothing"}
    cfg = OmegaConf.create({"init_params": params, "seed": 0, "video_cfg": {}, **settings})
    env = NoOp(cfg, args.num_envs, 0, 1, None)
    env.reset()
    return env


if __name__ == "__main__":
    main()
