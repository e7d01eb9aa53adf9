# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Environment throughput on the bundled task: our bridge, a bare Isaac Lab loop and RLinf's own bridge, side by side.

All four paths step the same task with the same number of environments, two cameras and the same random joint targets:

- ``bare``: a plain Isaac Lab loop in one process, ``env.step`` per action, cameras in every observation;
- ``rlinf``: RLinf 0.3.0's ``SubProcIsaacLabEnv`` under its ``IsaaclabBaseEnv.chunk_step``;
- ``ours, every action``: our bridge with ``render_every_action: true``;
- ``ours, chunk-aware``: our bridge as it is by default.

The processes of one size live at the same time and take turns, so that a ratio compares neighbours in time and not two
moods of the machine. Printed are medians over the rounds, of times and of per-round ratios.

    uv run python scripts/benchmark_env.py --num_envs 16 64
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.config.schema import IsaacLabBlock, StateSpec, SuccessSpec, TaskDescription
from isaaclab_rlinf.env.protocol import SimulatorSpec
from isaaclab_rlinf.tasks import TOUCH_COLOR_ID

BLOCK = IsaacLabBlock(
    task_description=TaskDescription(obs="instruction"),
    main_images="front_camera",
    wrist_images="wrist_camera",
    states=(StateSpec("joint_pos"), StateSpec("joint_vel")),
    success=SuccessSpec(termination="success"),
)
ACTION_DIM = 3
EPISODE_STEPS = 48
REFERENCE = "bare"


def main() -> None:
    """Measures each size in turn and prints one table per size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num_envs", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--chunk", type=int, default=8, help="actions per chunk")
    parser.add_argument("--rounds", type=int, default=9, help="measured turns of each path")
    parser.add_argument("--chunks_per_round", type=int, default=4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", help="also write the numbers to this JSON file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    results = {num_envs: measure(num_envs, args) for num_envs in args.num_envs}
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


def measure(num_envs: int, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Runs all paths with ``num_envs`` environments.

    Returns:
        Per path: median milliseconds per environment step, environment steps per second, median of the per-round
        speed relative to the bare loop.
    """
    spec = SimulatorSpec(
        TOUCH_COLOR_ID, num_envs, 1, args.device, BLOCK, args.chunk, EPISODE_STEPS, log_file="/dev/null"
    )
    every = dataclasses.replace(spec, block=dataclasses.replace(BLOCK, render_every_action=True))
    paths = {REFERENCE: BarePath(spec), "rlinf": RlinfPath(spec)}
    paths |= {"ours, every action": OurPath(every), "ours, chunk-aware": OurPath(spec)}
    times: dict[str, list[float]] = {name: [] for name in paths}
    generator = torch.Generator().manual_seed(0)
    try:
        for turn in range(args.rounds + 1):
            chunks = [
                torch.rand(num_envs, args.chunk, ACTION_DIM, generator=generator) * 3 - 1.5
                for _ in range(args.chunks_per_round)
            ]
            for name, path in paths.items():
                seconds = path.run(chunks)
                if turn > 0:  # The first turn warms up.
                    times[name].append(seconds / (args.chunks_per_round * args.chunk))
    finally:
        for path in paths.values():
            path.close()
    return report(num_envs, args.chunk, times)


def report(num_envs: int, chunk: int, times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Prints and returns the medians."""
    print(f"\n{TOUCH_COLOR_ID}, {num_envs} environments, 2 cameras, chunk {chunk}")
    print(f"{'path':22}{'ms per step':>12}{'env steps/s':>14}{'vs bare loop':>14}")
    result = {}
    for name, values in times.items():
        median = statistics.median(values)
        ratio = statistics.median(b / v for b, v in zip(times[REFERENCE], values, strict=True))
        result[name] = {"ms_per_step": 1e3 * median, "env_steps_per_s": num_envs / median, "speed_vs_bare": ratio}
        print(f"{name:22}{1e3 * median:12.1f}{num_envs / median:14.0f}{ratio:13.2f}x")
    return result


def timed(work: Callable[[], object]) -> float:
    """Returns the seconds that ``work()`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class OurPath:
    """The whole of ``IsaacLabGenericEnv.chunk_step``, mapping and copies included."""

    def __init__(self, spec: SimulatorSpec) -> None:
        """Starts the environment."""
        from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

        params = {"id": spec.task_id, "device": spec.device, "action_chunk": spec.chunk_length}
        params["log_dir"] = tempfile.mkdtemp(prefix="benchmark-env-")
        cfg = OmegaConf.create({"seed": spec.seed, "video_cfg": {}, "init_params": params})
        cfg.max_episode_steps = spec.max_episode_steps
        self._env = IsaacLabGenericEnv(_BlockConfig(cfg, spec.block), spec.num_envs, 0, 1, None)
        self._env.reset()

    def run(self, chunks: list[torch.Tensor]) -> float:
        """Steps the chunks and returns the seconds it took."""
        return timed(lambda: [self._env.chunk_step(chunk) for chunk in chunks])

    def close(self) -> None:
        """Ends the simulator."""
        self._env.close()


class RlinfPath:
    """RLinf's base class over its own subprocess, with a subclass that maps the same observations."""

    def __init__(self, spec: SimulatorSpec) -> None:
        """Starts the environment."""
        from rlinf.envs.isaaclab.isaaclab_env import IsaaclabBaseEnv

        class TouchColor(IsaaclabBaseEnv):
            def _make_env_function(self) -> Callable:
                return lambda: (make_isaac_env(spec), None)

            def _wrap_obs(self, obs: dict) -> dict:
                policy, cameras = obs["policy"], obs["camera_images"]
                return {
                    "main_images": cameras["front_camera"],
                    "wrist_images": cameras["wrist_camera"],
                    "states": torch.cat([policy["joint_pos"], policy["joint_vel"]], dim=1),
                    "task_descriptions": [self.task_description] * self.num_envs,
                }

        cfg = OmegaConf.create(
            {
                "init_params": {"id": spec.task_id, "task_description": ""},
                "seed": spec.seed,
                "video_cfg": {},
                "auto_reset": True,
                "use_rel_reward": False,
                "ignore_terminations": False,
                "max_episode_steps": spec.max_episode_steps,
            }
        )
        self._env = TouchColor(cfg, spec.num_envs, 0, 1, None)
        self._env.reset()

    def run(self, chunks: list[torch.Tensor]) -> float:
        """Steps the chunks and returns the seconds it took."""
        return timed(lambda: [self._env.chunk_step(chunk) for chunk in chunks])

    def close(self) -> None:
        """Ends the simulator; RLinf's own close trips over the missing app object, so the process is ended."""
        self._env.env.isaac_lab_process.terminate()
        self._env.env.isaac_lab_process.join()


class BarePath:
    """A plain loop in a process of its own; only the order to run and the time taken cross the boundary."""

    def __init__(self, spec: SimulatorSpec) -> None:
        """Starts the process and waits for its first reset."""
        context = multiprocessing.get_context("spawn")
        self._channel, child = context.Pipe()
        self._process = context.Process(target=bare_loop, args=(spec, child), daemon=True)
        self._process.start()
        self._channel.recv()

    def run(self, chunks: list[torch.Tensor]) -> float:
        """Lets the loop step the chunks and returns the seconds the loop itself took."""
        self._channel.send([chunk.numpy() for chunk in chunks])
        return self._channel.recv()

    def close(self) -> None:
        """Ends the process."""
        self._process.terminate()
        self._process.join()


def bare_loop(spec: SimulatorSpec, channel: Connection) -> None:
    """Child of :class:`BarePath`."""
    torch.set_num_threads(1)
    env = make_isaac_env(spec)
    env.reset(seed=spec.seed)
    channel.send("ready")
    with torch.inference_mode():
        while True:
            actions = [torch.from_numpy(chunk[:, t].copy()) for chunk in channel.recv() for t in range(chunk.shape[1])]
            channel.send(timed(lambda actions=actions: [env.step(action) for action in actions]))


def make_isaac_env(spec: SimulatorSpec) -> object:
    """Builds the task as a user of Isaac Lab would, in this process; its output is discarded."""
    import os

    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    from isaaclab_rlinf.compat.warp_settings import configure_warp

    configure_warp()
    torch.set_num_threads(1)
    import gymnasium

    from isaaclab_rlinf.env.isaac_factory import build_env_cfg, import_tasks

    import_tasks()
    return gymnasium.make(spec.task_id, cfg=build_env_cfg(spec)).unwrapped


class _BlockConfig:
    """An env section whose ``isaaclab`` block is already typed."""

    def __init__(self, cfg: object, block: IsaacLabBlock) -> None:
        self._cfg, self.isaaclab = cfg, block

    def __getattr__(self, name: str) -> object:
        return getattr(self._cfg, name)


if __name__ == "__main__":
    main()
