# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A LeRobot dataset of demonstrations, decoded once into memory.

A few hundred episodes of small images fit in some hundred MB; decoding them for every batch would cost more than
training tiny_vla on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue, listing, raise_if
from isaaclab_rlinf.workflow.dataset_files import ROW_COLUMNS, DatasetFiles, Episode, read_dataset_files, read_table
from isaaclab_rlinf.workflow.dataset_info import FORMAT, WHERE, unreadable

if TYPE_CHECKING:
    import torch

IMAGE_PREFIX = "observation.images."
_NUMBERS = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


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
        names: What the columns of ``observation.state`` and ``action`` are called.
    """

    views: tuple[str, ...]
    images: torch.Tensor
    state: torch.Tensor
    action: torch.Tensor
    tasks: tuple[str, ...]
    last_frame: torch.Tensor
    episodes: int
    fps: int
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def action_chunks(self, frames: torch.Tensor, horizon: int) -> torch.Tensor:
        """Actions (B, horizon, A) from each of ``frames`` (B,) on; past an episode's end its last action repeats."""
        import torch

        index = frames[:, None] + torch.arange(horizon)
        return self.action[torch.minimum(index, self.last_frame[frames][:, None])]

    def place(self, frame: int) -> str:
        """Name a frame by its episode and its number in it."""
        end = int(self.last_frame[frame])
        before = self.last_frame[self.last_frame < end].unique()
        return f"episode {len(before)}, frame {frame - (int(before[-1]) + 1 if len(before) else 0)}"


def load_demonstrations(
    dataset_dir: str | Path, max_episodes: int | None = None, on_frame: Callable[[int, int], None] | None = None
) -> Demonstrations:
    """Read a LeRobot v3 dataset from this disk.

    Args:
        dataset_dir: Directory of the dataset, with ``meta/info.json``.
        max_episodes: Use only the first so many episodes; default all.
        on_frame: Called with (frames read, frames in all).

    Raises:
        ConfigError: If a file or a feature is missing or damaged, images differ in size, or there are fewer episodes
            than asked for.
    """
    import torch

    files = read_dataset_files(Path(dataset_dir))
    views = _check_features(files)
    if max_episodes is not None and not 1 <= max_episodes <= len(files.episodes):
        found = f"{max_episodes}, and {files.root} holds {len(files.episodes)}"
        raise ConfigError([Issue("--max_episodes", found, f"1 to {len(files.episodes)}")])
    episodes = files.episodes[:max_episodes]
    count = sum(episode.length for episode in episodes)
    rows = _Rows(files, views, torch.empty((count, len(views), *_image_shape(files, views)), dtype=torch.uint8))
    for episode in episodes:
        rows.read(episode)
        if on_frame is not None:
            on_frame(episode.start + episode.length, count)
    lengths = torch.tensor([episode.length for episode in episodes])
    return Demonstrations(
        views=views,
        images=rows.images,
        state=torch.cat(rows.state),
        action=torch.cat(rows.action),
        tasks=tuple(rows.tasks),
        last_frame=torch.repeat_interleave(lengths.cumsum(0) - 1, lengths),
        episodes=len(episodes),
        fps=files.fps,
        names={name: _names(files, name) for name in ("observation.state", "action")},
    )


class _Rows:
    """The frames read so far."""

    def __init__(self, files: DatasetFiles, views: tuple[str, ...], images: torch.Tensor) -> None:
        self._files, self._views, self.images = files, views, images
        self._table: tuple[Path, Any] | None = None
        self.state: list[torch.Tensor] = []
        self.action: list[torch.Tensor] = []
        self.tasks: list[str] = []

    def read(self, episode: Episode) -> None:
        """Append an episode, all frames of which are in one file."""
        table = self._rows_of(episode)
        self.tasks += self._tasks(episode, table["task_index"].to_pylist())
        self.state.append(self._vectors("observation.state", episode, table))
        self.action.append(self._vectors("action", episode, table))
        for view, name in enumerate(self._views):
            name = IMAGE_PREFIX + name
            target = self.images[episode.start : episode.start + episode.length, view]
            if name in episode.videos:
                _decode_video(self._files, episode, name, table["timestamp"].to_pylist(), target)
            else:
                _decode_images(self._files, episode, table[name].to_pylist(), target)

    def _rows_of(self, episode: Episode) -> Any:
        """Return the rows of an episode, which must be where ``meta/episodes`` says."""
        if self._table is None or self._table[0] != episode.data_file:
            images = [IMAGE_PREFIX + view for view in self._views]
            stored = [name for name in images if name not in episode.videos]
            columns = [*ROW_COLUMNS, "observation.state", "action", *stored]
            self._table = episode.data_file, read_table(episode.data_file, columns)
        table = self._table[1]
        present = table["index"].to_pylist()
        begin = present.index(episode.start) if episode.start in present else 0
        rows = table.slice(begin, episode.length)
        wanted = {
            "index": range(episode.start, episode.start + episode.length),
            "episode_index": [episode.index] * episode.length,
            "frame_index": range(episode.length),
        }
        for name, values in wanted.items():
            if rows[name].to_pylist() != list(values):
                found = f"{episode.data_file}: {name} of episode {episode.index} is not what meta/episodes says"
                raise ConfigError([Issue(WHERE, found, FORMAT, "it is damaged or of another dataset: copy it again")])
        return rows

    def _tasks(self, episode: Episode, indices: list[Any]) -> list[str]:
        texts = [self._files.tasks.get(index) for index in indices]
        strange = sorted({str(index) for index, text in zip(indices, texts, strict=True) if text not in episode.tasks})
        if strange:
            found = (
                f"{episode.data_file}: frames of episode {episode.index} have task_index {listing(strange)}, which is "
                f"none of its instructions {listing(map(repr, episode.tasks))} (meta/episodes, meta/tasks.parquet)"
            )
            raise ConfigError([Issue(WHERE, found, FORMAT, "a file is of another dataset: copy them again")])
        return texts

    def _vectors(self, name: str, episode: Episode, table: Any) -> torch.Tensor:
        import numpy as np
        import torch

        width = self._files.features[name]["shape"][0]
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is told as such
                values = np.array(table[name].to_pylist(), dtype=np.float64).astype(np.float32)
            return torch.from_numpy(values.reshape(episode.length, width))
        except (TypeError, ValueError) as error:
            found = f"{episode.data_file}: {name} of episode {episode.index} is not {width} numbers per frame ({error})"
            raise ConfigError([Issue(WHERE, found, FORMAT)]) from error


def _decode_images(files: DatasetFiles, episode: Episode, stored: list[Any], target: torch.Tensor) -> None:
    """Decode pictures, which stand in the table itself or in files of their own."""
    import io

    import numpy as np
    import torch
    from PIL import Image

    for frame, value in enumerate(stored):
        path = episode.data_file
        try:
            data = value["bytes"]
            if data is None:
                path = files.root / value["path"]
                data = path.read_bytes()
            image = Image.open(io.BytesIO(data))
            if image.mode != "RGB":
                raise ValueError(f"its mode is {image.mode}, not RGB")
            _fill(target[frame], torch.from_numpy(np.array(image)))
        except Exception as error:  # the decoders of picture files raise anything
            what = f"frame {frame} of episode {episode.index}"
            raise ConfigError([unreadable(path, error, what)]) from error


def _decode_video(files: DatasetFiles, episode: Episode, name: str, seconds: list[float], target: torch.Tensor) -> None:
    """Decode an episode's part of a video file."""
    from lerobot.datasets.video_utils import decode_video_frames

    path, start = episode.videos[name]
    try:
        frames = decode_video_frames(path, [start + second for second in seconds], 1e-4, return_uint8=True)
        _fill(target, frames.permute(0, 2, 3, 1))
    except Exception as error:  # the decoders of video files raise anything
        raise ConfigError([unreadable(path, error, f"episode {episode.index}")]) from error


def _fill(target: torch.Tensor, pixels: torch.Tensor) -> None:
    if pixels.shape != target.shape:
        raise ValueError(f"its pixels are {tuple(pixels.shape)}, meta/info.json says {tuple(target.shape)}")
    target.copy_(pixels)


def _check_features(files: DatasetFiles) -> tuple[str, ...]:
    """View names in model order; complain about what is missing or does not fit."""
    root, features = files.root, files.features
    where = f"features of {root}"
    views = [name.removeprefix(IMAGE_PREFIX) for name in features if name.startswith(IMAGE_PREFIX)]
    issues = []
    for name in ("observation.state", "action"):
        if name not in features:
            issues.append(Issue(where, f"no {name!r}; it has {sorted(features)}", f"a feature {name!r}"))
        elif len(features[name]["shape"]) != 1 or features[name]["dtype"] not in _NUMBERS:
            found = f"{name!r} is {features[name]['dtype']} of shape {features[name]['shape']}"
            issues.append(Issue(where, found, f"{listing(_NUMBERS)}, one row of numbers"))
    if "main_images" not in views:
        issues.append(Issue(where, f"image views {views}", f"'{IMAGE_PREFIX}main_images'"))
    for view in views:
        if features[IMAGE_PREFIX + view]["dtype"] not in ("image", "video"):
            found = f"{IMAGE_PREFIX + view!r} is {features[IMAGE_PREFIX + view]['dtype']}"
            issues.append(Issue(where, found, "image or video"))
    shapes = {view: tuple(features[IMAGE_PREFIX + view]["shape"]) for view in views}
    if len(set(shapes.values())) > 1 or any(len(s) != 3 or s[0] != s[1] or s[2] != 3 for s in shapes.values()):
        issues.append(Issue(where, f"image shapes {shapes}", "equal square images (S, S, 3)"))
    raise_if(issues)
    first = [name for name in ("main_images", "wrist_images") if name in views]
    return (*first, *sorted(set(views) - set(first), key=lambda name: (len(name), name)))


def _image_shape(files: DatasetFiles, views: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(files.features[IMAGE_PREFIX + views[0]]["shape"])


def _names(files: DatasetFiles, feature: str) -> tuple[str, ...]:
    """What the columns of a feature are called, for messages; LeRobot allows a list, a mapping of lists, or nothing."""
    width, names = files.features[feature]["shape"][0], files.features[feature].get("names")
    if isinstance(names, dict):
        names = [name for value in names.values() for name in (value if isinstance(value, list) else [value])]
    given = names if isinstance(names, list) and len(names) == width else range(width)
    return tuple(map(str, given))
