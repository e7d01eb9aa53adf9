# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Running episodes in memory, and the finished ones as a LeRobot dataset."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.policy_inputs import images_from_env

if TYPE_CHECKING:
    import numpy as np
    import torch


class EpisodeRecorder:
    """Buffers running episodes per environment and writes finished ones with LeRobot's writer."""

    def __init__(self, directory: Path, name: str, num_envs: int, instructions: tuple[str, ...], fps: int) -> None:
        """Start with no frames; nothing is written before the first episode is kept.

        Args:
            directory: An existing empty directory, which becomes the dataset.
            name: The dataset's name.
            num_envs: Environments.
            instructions: Texts that the observations' indices point into.
            fps: Frames per second.
        """
        import datasets
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        datasets.disable_progress_bars()  # one bar per episode would bury ours
        self._instructions = instructions
        self._running: list[list[dict[str, Any]]] = [[] for _ in range(num_envs)]
        self._directory, self._fps, self._name = directory, fps, name
        self._create = LeRobotDataset.create
        self._dataset: Any = None
        self.episodes = self.attempts = self.frames = 0

    def add(self, mapped: dict[str, torch.Tensor], actions: torch.Tensor) -> None:
        """Append one step of every environment.

        Args:
            mapped: The mapped observation, (B, ...) each.
            actions: What the model should answer, (B, A).
        """
        columns = {f"observation.images.{view}": image for view, image in images_from_env(mapped).items()}
        if "states" in mapped:
            columns["observation.state"] = mapped["states"]
        columns["action"] = actions.float()
        host = {name: _copy(value) for name, value in columns.items()}
        instruction = mapped["instruction"].tolist()
        for index, frames in enumerate(self._running):
            frame = {name: value[index] for name, value in host.items()}
            frames.append({**frame, "task": self._instructions[instruction[index]]})

    def finish(self, index: int, *, keep: bool) -> None:
        """End the episode of one environment, writing it or dropping it."""
        frames, self._running[index] = self._running[index], []
        self.attempts += 1
        if not keep:
            return
        if self._dataset is None:
            self._directory.rmdir()  # LeRobot insists on creating it
            self._dataset = self._create(
                self._name,
                fps=self._fps,
                features=_features(frames[0]),
                root=self._directory,
                use_videos=False,
                image_writer_threads=2,
            )
        for frame in frames:
            self._dataset.add_frame(frame)
        self._dataset.save_episode()
        self.episodes += 1
        self.frames += len(frames)

    def close(self) -> None:
        """Finish the dataset's files."""
        if self._dataset is not None:
            self._dataset.finalize()

    def abandon(self) -> None:
        """End the writer's threads, so that none writes into a directory that is being removed."""
        with contextlib.suppress(Exception):  # whatever is left to write is not wanted, and another error is on its way
            self.close()


def _copy(value: torch.Tensor) -> np.ndarray:
    """Return the values of this moment: on the CPU a tensor may be the simulator's own buffer."""
    return value.detach().cpu().numpy().copy()


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
