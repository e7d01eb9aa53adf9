# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Collect demonstrations of a scripted expert as a LeRobot dataset, mapped exactly as reinforcement learning maps.

The same task YAML decides which cameras and states are recorded, so that a model trained on the dataset sees in RL
what it saw in the demonstrations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.env.protocol import SimulatorSpec

Expert = Callable[[Any, int], "torch.Tensor"]
"""``(unwrapped environment, horizon) -> (B, horizon, A)`` actions, from privileged state."""


@dataclass(frozen=True)
class CollectReport:
    """What a collection produced."""

    episodes: int
    """Recorded, successful episodes."""
    attempts: int
    """Episodes the expert finished, failures included."""
    frames: int
    directory: Path


class ExpertGaveUpError(RuntimeError):
    """The expert succeeds too rarely to record what was asked for."""


def collect_demonstrations(
    spec: SimulatorSpec,
    expert: Expert,
    out_dir: Path,
    num_episodes: int,
    *,
    action_noise: float = 0.0,
    calibration_error: float = 0.0,
    on_progress: Callable[[int, int], None] = lambda episodes, attempts: None,
) -> CollectReport:
    """Run the expert and record its successful episodes.

    With ``action_noise`` the environment executes a disturbed action while the expert's own is recorded, so that the
    dataset also shows how to come back to the path (DART; Laskey et al., CoRL 2017).

    Args:
        spec: Task, environments, seed and mapping.
        expert: The expert's policy, asked anew in every step.
        out_dir: Directory to create.
        num_episodes: Number of successful episodes to record.
        action_noise: Standard deviation of the disturbance, in action units.
        calibration_error: Added to every recorded action, in action units: the demonstrations of a robot whose
            encoders read that much too high. A model trained on them aims beside its goal in the same way everywhere.
        on_progress: Called with (recorded episodes, attempts) after each finished episode.

    Returns:
        Counts and the dataset's place.

    Raises:
        FileExistsError: If ``out_dir`` exists.
        ExpertGaveUpError: If after ``20 * num_episodes`` attempts too few succeeded; what was recorded is kept.
    """
    import torch

    from isaaclab_rlinf.env.isaac_factory import open_isaac_env
    from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation

    if out_dir.exists():
        raise FileExistsError(f"{out_dir} exists; a dataset is never overwritten. Choose another --out.")
    spec = replace(spec, block=replace(spec.block, render_every_action=True, hold_pose_on_midchunk_reset=False))
    generator = torch.Generator().manual_seed(spec.seed)
    everyone = torch.ones(spec.num_envs, dtype=torch.bool, device=spec.device)
    with open_isaac_env(spec) as env:
        raw = env.reset(seed=spec.seed)
        observation_map = ObservationMap.build(spec.block, env.layout(raw), env.instructions)
        recorder = _Recorder(out_dir, spec, observation_map, round(1 / env.step_seconds))
        while recorder.episodes < num_episodes:
            mapped = map_observation(raw, observation_map)
            actions = expert(env.unwrapped, 1)[:, 0]
            recorder.add(mapped, actions + calibration_error)
            noise = action_noise * torch.randn(actions.shape, generator=generator).to(actions)
            result = env.step(actions + noise, render=True, active=everyone, final="none")
            raw = result.observation
            for index in (result.terminated | result.truncated).nonzero().flatten().tolist():
                recorder.finish(index, keep=bool(result.success[index]) and recorder.episodes < num_episodes)
                on_progress(recorder.episodes, recorder.attempts)
            if recorder.episodes < num_episodes and recorder.attempts >= 20 * num_episodes + spec.num_envs:
                kept = f"; those are in {recorder.close().directory}" if recorder.episodes else ""
                raise ExpertGaveUpError(
                    f"the expert succeeded in {recorder.episodes} of {recorder.attempts} episodes{kept}. Giving up."
                )
        return recorder.close()


class _Recorder:
    """Buffers running episodes per environment and writes finished ones with LeRobot's writer."""

    def __init__(self, out_dir: Path, spec: SimulatorSpec, observation_map: Any, fps: int):
        import datasets
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        datasets.disable_progress_bars()  # one bar per episode would bury ours
        self._instructions = observation_map.instructions
        self._running: list[list[dict[str, Any]]] = [[] for _ in range(spec.num_envs)]
        self._out_dir, self._fps = out_dir, fps
        self._create = LeRobotDataset.create
        self._name = f"local/{spec.task_id}"
        self._dataset: Any = None
        self.episodes = self.attempts = self.frames = 0

    def add(self, mapped: dict[str, torch.Tensor], actions: torch.Tensor) -> None:
        """Append one step of every environment."""
        host = {name: value.cpu().numpy() for name, value in mapped.items()}
        action_rows = actions.float().cpu().numpy()
        for index, frames in enumerate(self._running):
            frame = {"action": action_rows[index], "task": self._instructions[int(host["instruction"][index])]}
            for name, value in host.items():
                if name == "states":
                    frame["observation.state"] = value[index]
                elif name != "instruction":
                    frame[f"observation.images.{name}"] = value[index]
            frames.append(frame)

    def finish(self, index: int, *, keep: bool) -> None:
        """End the episode of one environment, writing it or dropping it."""
        frames, self._running[index] = self._running[index], []
        self.attempts += 1
        if not keep:
            return
        if self._dataset is None:
            self._dataset = self._create(
                self._name,
                fps=self._fps,
                features=_features(frames[0]),
                root=self._out_dir,
                use_videos=False,
                image_writer_threads=2,
            )
        for frame in frames:
            self._dataset.add_frame(frame)
        self._dataset.save_episode()
        self.episodes += 1
        self.frames += len(frames)

    def close(self) -> CollectReport:
        """Finish the dataset's files."""
        self._dataset.finalize()
        return CollectReport(self.episodes, self.attempts, self.frames, self._out_dir)


def _features(frame: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Describe a frame to LeRobot."""
    features = {}
    for name, value in frame.items():
        if name.startswith("observation.images."):
            features[name] = {"dtype": "image", "shape": value.shape, "names": ["height", "width", "channel"]}
        elif name != "task":
            names = [f"{name.split('.')[-1]}_{column}" for column in range(len(value))]
            features[name] = {"dtype": "float32", "shape": value.shape, "names": names}
    return features
