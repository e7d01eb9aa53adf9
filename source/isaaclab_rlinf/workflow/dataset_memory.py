# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A LeRobot dataset of demonstrations, decoded once into memory.

A few hundred episodes of small images fit in some hundred MB; decoding them for every batch would cost more than
training tiny_vla on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue

if TYPE_CHECKING:
    import torch

IMAGE_PREFIX = "observation.images."


@dataclass(frozen=True)
class Demonstrations:
    """All frames of a dataset, in order; N frames.

    Attributes:
        views: Image view names, the model's order: main, wrist, then extra views by index.
        images: uint8 (N, V, H, W, 3).
        state: float32 (N, D), environment units.
        action: float32 (N, A), environment units.
        tasks: One instruction per frame.
        last_frame: int64 (N,), index of the last frame of each frame's episode.
        episodes: Number of episodes.
        fps: Frames per second.
    """

    views: tuple[str, ...]
    images: torch.Tensor
    state: torch.Tensor
    action: torch.Tensor
    tasks: tuple[str, ...]
    last_frame: torch.Tensor
    episodes: int
    fps: int

    def action_chunks(self, frames: torch.Tensor, horizon: int) -> torch.Tensor:
        """Actions (B, horizon, A) from each of ``frames`` (B,) on; past an episode's end its last action repeats."""
        import torch

        index = frames[:, None] + torch.arange(horizon)
        return self.action[torch.minimum(index, self.last_frame[frames][:, None])]


def load_demonstrations(
    dataset_dir: str | Path, max_episodes: int | None = None, on_frame: Callable[[int, int], None] | None = None
) -> Demonstrations:
    """Read a LeRobot v3 dataset.

    Args:
        dataset_dir: Directory of the dataset, with ``meta/info.json``.
        max_episodes: Use only the first so many episodes; default all.
        on_frame: Called with (frames read, frames in all).

    Raises:
        FileNotFoundError: If there is no dataset.
        ConfigError: If a feature is missing, images differ in size, or there are fewer episodes than asked for.
    """
    import torch

    root = Path(dataset_dir)
    if not (root / "meta" / "info.json").is_file():
        raise FileNotFoundError(f"{root} is not a LeRobot dataset: it has no meta/info.json")
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    meta = LeRobotDataset(f"local/{root.name}", root=root).meta
    views = _check_features(root, meta.features)
    if max_episodes is not None and not 1 <= max_episodes <= meta.total_episodes:
        raise ConfigError([Issue("max_episodes", str(max_episodes), f"1 to {meta.total_episodes}, what {root} holds")])
    episodes = None if max_episodes is None else list(range(max_episodes))
    dataset = LeRobotDataset(f"local/{root.name}", root=root, episodes=episodes)
    count = len(dataset)
    images: list[torch.Tensor] = []
    states, actions, tasks, episode = [], [], [], []
    for index in range(count):
        frame = dataset[index]
        images.append(torch.stack([_to_uint8(frame[IMAGE_PREFIX + view]) for view in views]))
        states.append(frame["observation.state"])
        actions.append(frame["action"])
        tasks.append(frame["task"])
        episode.append(int(frame["episode_index"]))
        if on_frame is not None:
            on_frame(index + 1, count)
    return Demonstrations(
        views=views,
        images=torch.stack(images),
        state=torch.stack(states).float(),
        action=torch.stack(actions).float(),
        tasks=tuple(tasks),
        last_frame=_last_frames(torch.tensor(episode)),
        episodes=len(set(episode)),
        fps=meta.fps,
    )


def _check_features(root: Path, features: dict[str, Any]) -> tuple[str, ...]:
    """View names in model order; complain about what is missing or does not fit."""
    views = [name.removeprefix(IMAGE_PREFIX) for name in features if name.startswith(IMAGE_PREFIX)]
    issues = [
        Issue(f"features of {root}", f"no {name!r}; it has {sorted(features)}", f"a feature {name!r}")
        for name in ("observation.state", "action")
        if name not in features
    ]
    if "main_images" not in views:
        issues.append(Issue(f"features of {root}", f"image views {views}", f"'{IMAGE_PREFIX}main_images'"))
    shapes = {view: tuple(features[IMAGE_PREFIX + view]["shape"]) for view in views}
    if len(set(shapes.values())) > 1 or any(len(s) != 3 or s[0] != s[1] or s[2] != 3 for s in shapes.values()):
        issues.append(Issue(f"features of {root}", f"image shapes {shapes}", "equal square images (S, S, 3)"))
    if issues:
        raise ConfigError(issues)
    first = [name for name in ("main_images", "wrist_images") if name in views]
    return (*first, *sorted(set(views) - set(first), key=lambda name: (len(name), name)))


def _to_uint8(image: torch.Tensor) -> torch.Tensor:
    """LeRobot gives (3, H, W) floats in [0, 1]; return uint8 (H, W, 3)."""
    return (image * 255.0).round().byte().permute(1, 2, 0)


def _last_frames(episode: torch.Tensor) -> torch.Tensor:
    """Index of the last frame of each frame's episode; ``episode`` (N,) is ascending."""
    import torch

    _, inverse, counts = torch.unique_consecutive(episode, return_inverse=True, return_counts=True)
    return (counts.cumsum(0) - 1)[inverse]
