# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The files of a LeRobot dataset on this disk, checked against each other before a frame is read.

LeRobot's own reader takes whatever is missing for a reason to ask a hub, and everything else for its caller's mistake.
Here local means local: what is missing, broken or of another dataset is told by file, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue, listing, raise_if
from isaaclab_rlinf.workflow.dataset_info import DATA_PATH, FORMAT, VIDEO_PATH, WHERE, read_info, unreadable

if TYPE_CHECKING:
    import pyarrow as pa

ROW_COLUMNS = ("index", "episode_index", "frame_index", "task_index", "timestamp")
"""What every row of ``data/`` has besides the features."""


@dataclass(frozen=True)
class Episode:
    """One episode, as ``meta/episodes`` describes it."""

    index: int
    start: int
    """Index of its first frame."""
    length: int
    tasks: tuple[str, ...]
    data_file: Path
    videos: Mapping[str, tuple[Path, float]]
    """For each video feature its file, and the second at which the episode begins in it."""


@dataclass(frozen=True)
class DatasetFiles:
    """A dataset whose files agree with each other."""

    root: Path
    fps: int
    features: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[int, str]
    """Instruction by ``task_index``."""
    episodes: tuple[Episode, ...]

    def of_kind(self, dtype: str) -> tuple[str, ...]:
        """Names of the features of one dtype, in the dataset's order."""
        return tuple(name for name, feature in self.features.items() if feature["dtype"] == dtype)


def read_dataset_files(root: Path) -> DatasetFiles:
    """Read what describes a dataset, and look at each file it names.

    Args:
        root: Directory of the dataset.

    Raises:
        ConfigError: With everything that is missing, unreadable, contradictory or of another format.
    """
    info = read_info(root)
    issues: list[Issue] = []
    tasks = _read_tasks(root, issues)
    episodes = _read_episodes(root, info, issues)
    raise_if(issues)
    files = DatasetFiles(root, info["fps"], info["features"], tasks, episodes)
    _check_totals(files, info, issues)
    _check_data(files, issues)
    _check_videos(files, issues)
    raise_if(issues)
    return files


def read_table(path: Path, columns: Iterable[str] | None = None) -> pa.Table:
    """Read a parquet file.

    Raises:
        ConfigError: If it is missing, damaged or lacks a column.
    """
    import pyarrow.parquet as pq

    wanted = None if columns is None else list(columns)
    try:
        if wanted is not None:
            _check_columns(path, pq.read_schema(path).names, wanted)
        return pq.read_table(path, columns=wanted, partitioning=None)
    except ConfigError:
        raise
    except Exception as error:  # the library raises a dozen kinds, depending on which byte is wrong
        raise ConfigError([unreadable(path, error)]) from error


def _check_columns(path: Path, found: Iterable[str], wanted: Iterable[str]) -> None:
    missing = [name for name in wanted if name not in set(found)]
    if missing:
        text = f"{path} has no column {listing(map(repr, missing))}; it has {listing(found)}"
        raise ConfigError([Issue(WHERE, text, FORMAT)])


def _read_tasks(root: Path, issues: list[Issue]) -> dict[int, str]:
    """Return the instructions; pandas wrote them as an index, whose column has no fixed name."""
    import pyarrow.types as types

    path = root / "meta" / "tasks.parquet"
    try:
        table = read_table(path)
        _check_columns(path, table.column_names, ["task_index"])
        texts = [name for name in table.column_names if types.is_string(t := table.schema.field(name).type) or
                 types.is_large_string(t)]  # fmt: skip
        if len(texts) != 1 or not types.is_integer(table.schema.field("task_index").type):
            raise ConfigError([Issue(WHERE, f"{path} has the columns {table.column_names}", "a text and task_index")])
    except ConfigError as error:
        issues.extend(error.issues)
        return {}
    indices, names = table["task_index"].to_pylist(), table[texts[0]].to_pylist()
    if None in indices or None in names or len(set(indices)) != len(indices):
        issues.append(Issue(WHERE, f"{path} has a task twice, or one without text or index", FORMAT))
    return dict(zip(indices, names, strict=True))


def _read_episodes(root: Path, info: Mapping[str, Any], issues: list[Issue]) -> tuple[Episode, ...]:
    files = sorted((root / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        where = root / "meta" / "episodes"
        issues.append(Issue(WHERE, f"{where} has no chunk-*/file-*.parquet", FORMAT, "copy the whole dataset"))
    videos = [name for name, feature in info["features"].items() if feature["dtype"] == "video"]
    episodes: list[Episode] = []
    for path in files:
        try:
            episodes += _episodes_of(root, path, info, videos)
        except ConfigError as error:
            issues.extend(error.issues)
    start = 0
    for expected, episode in enumerate(episodes):
        if episode.index != expected or episode.start != start or episode.length < 1:
            found = (
                f"meta/episodes: episode {episode.index} with {episode.length} frames from {episode.start} on stands "
                f"where episode {expected} from frame {start} on belongs"
            )
            issues.append(Issue(WHERE, found, "episodes without gaps, in order", "copy the dataset again"))
            break
        start += episode.length
    return tuple(episodes)


def _episodes_of(root: Path, path: Path, info: Mapping[str, Any], videos: list[str]) -> list[Episode]:
    columns = ["episode_index", "dataset_from_index", "length", "tasks", "data/chunk_index", "data/file_index"]
    for key in videos:
        columns += [f"videos/{key}/{column}" for column in ("chunk_index", "file_index", "from_timestamp")]
    rows = read_table(path, columns).to_pylist()
    try:
        return [
            Episode(
                index=int(row["episode_index"]),
                start=int(row["dataset_from_index"]),
                length=int(row["length"]),
                tasks=tuple(map(str, row["tasks"])),
                data_file=root / _place(info.get("data_path") or DATA_PATH, row, "data"),
                videos={
                    key: (
                        root / _place(info.get("video_path") or VIDEO_PATH, row, f"videos/{key}", key),
                        float(row[f"videos/{key}/from_timestamp"]),
                    )
                    for key in videos
                },
            )
            for row in rows
        ]
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        found = f"{path} or the paths in meta/info.json do not name the files of an episode ({error})"
        raise ConfigError([Issue(WHERE, found, FORMAT)]) from error


def _place(pattern: str, row: Mapping[str, Any], prefix: str, key: str = "") -> str:
    chunk, file = int(row[f"{prefix}/chunk_index"]), int(row[f"{prefix}/file_index"])
    return pattern.format(video_key=key, chunk_index=chunk, file_index=file)


def _check_totals(files: DatasetFiles, info: Mapping[str, Any], issues: list[Issue]) -> None:
    frames = sum(episode.length for episode in files.episodes)
    for key, found in (("total_episodes", len(files.episodes)), ("total_frames", frames)):
        if info[key] != found:
            text = f"meta/info.json says {key} {info[key]}, meta/episodes has {found}"
            issues.append(Issue(WHERE, text, "the same number", "copy the whole dataset"))
    known = set(files.tasks.values())
    unknown = sorted({task for episode in files.episodes for task in episode.tasks} - known)
    if unknown:
        text = f"meta/tasks.parquet lacks {listing(map(repr, unknown))}, which meta/episodes names"
        issues.append(Issue(WHERE, text, FORMAT, "it is of another dataset: copy it again"))


def _check_data(files: DatasetFiles, issues: list[Issue]) -> None:
    import pyarrow.parquet as pq

    expected: dict[Path, int] = {}
    for episode in files.episodes:
        expected[episode.data_file] = expected.get(episode.data_file, 0) + episode.length
    columns = [*ROW_COLUMNS, *(name for name in files.features if files.features[name]["dtype"] != "video")]
    for path, length in expected.items():
        try:
            metadata = pq.read_metadata(path)
            _check_columns(path, metadata.schema.to_arrow_schema().names, columns)
        except ConfigError as error:
            issues.extend(error.issues)
        except Exception as error:
            issues.append(unreadable(path, error))
        else:
            if metadata.num_rows != length:
                text = f"{path} has {metadata.num_rows} frames, meta/episodes counts {length} in it"
                issues.append(Issue(WHERE, text, "the same number", "copy it again"))


def _check_videos(files: DatasetFiles, issues: list[Issue]) -> None:
    places = {path for episode in files.episodes for path, _ in episode.videos.values()}
    for path in sorted(places):
        if not path.is_file():
            issues.append(Issue(WHERE, f"{path} is missing", FORMAT, "copy or download the whole dataset"))
        elif path.stat().st_size == 0:
            issues.append(Issue(WHERE, f"{path} is empty", FORMAT, "copy or download it again"))
