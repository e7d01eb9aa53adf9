# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``meta/info.json`` of a LeRobot dataset: the format's version, the features, and where files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.errors import ConfigError, Issue, raise_if, show

WHERE = "--dataset"
FORMAT = "a LeRobot v3 dataset directory"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
"""LeRobot's defaults."""


def read_info(root: Path) -> dict[str, Any]:
    """Return ``meta/info.json``, with every key that is read later of the right kind.

    Args:
        root: Directory of the dataset.

    Raises:
        ConfigError: If it is missing, damaged, or of another version.
    """
    path = root / "meta" / "info.json"
    if not root.is_dir():
        raise ConfigError([Issue(WHERE, f"{root} is not a directory", FORMAT)])
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError([Issue(WHERE, f"{root} is not a LeRobot dataset: no meta/info.json", FORMAT)]) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError([unreadable(path, error)]) from error
    if not isinstance(info, dict):
        raise ConfigError([Issue(WHERE, f"{path} holds {show(info)}", "a JSON object")])
    _check_version(root, path, info.get("codebase_version"))
    issues = [
        Issue(WHERE, f"{path}: {key} is {show(info[key]) if key in info else 'missing'}", allowed)
        for key, (fits, allowed) in _INFO_KEYS.items()
        if not fits(info.get(key))
    ]
    raise_if(issues)
    issues = [
        Issue(WHERE, f"{path}: features.{name} is {show(feature)}", "a mapping with dtype and shape")
        for name, feature in info["features"].items()
        if not _is_feature(feature)
    ]
    raise_if(issues)
    return info


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_feature(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("dtype"), str)
        and isinstance(value.get("shape"), list)
        and all(_is_count(size) for size in value["shape"])
    )


_INFO_KEYS = {
    "fps": (lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0, "above 0"),
    "features": (lambda value: isinstance(value, dict) and bool(value), "a mapping"),
    "total_episodes": (_is_count, "a whole number, at least 1"),
    "total_frames": (_is_count, "a whole number, at least 1"),
    "data_path": (lambda value: value is None or isinstance(value, str), "a path with {chunk_index} and {file_index}"),
    "video_path": (lambda value: value is None or isinstance(value, str), "a path with {video_key}, {chunk_index}"),
}
"""What is read of ``info.json``, with what it must be; LeRobot has defaults for the two paths."""


def _check_version(root: Path, path: Path, version: Any) -> None:
    if isinstance(version, str) and version.lstrip("v").split(".")[0] == "3":
        return
    found = f"{path}: codebase_version is {'missing' if version is None else show(version)}"
    fix = "convert it with LeRobot's own scripts"
    if version == "v2.1":
        fix = (
            f"convert it in place: python -m lerobot.scripts.convert_dataset_v21_to_v30 --repo-id=local/{root.name} "
            f"--root={root} --push-to-hub=false"
        )
    raise ConfigError([Issue(WHERE, found, "v3.0", fix)])


def unreadable(path: Path, error: Exception, what: str = "") -> Issue:
    """Return the issue of a file that is missing or damaged.

    Args:
        path: The file.
        error: What reading it raised.
        what: Which part of it.
    """
    if not path.is_file():
        return Issue(WHERE, f"{path} is missing", FORMAT, "copy or download the whole dataset")
    reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else 'no text'}"
    place = f"{path}{f', {what},' if what else ''}"
    size = path.stat().st_size
    return Issue(WHERE, f"{place} cannot be read ({size} bytes; {reason})", FORMAT, "copy or download it again")
