# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What the weight files of a checkpoint directory say about themselves: names and shapes, from headers alone. No torch.

A safetensors file begins with the length of a table (eight bytes, little endian) and the table as JSON; the numbers
follow without gaps. So a file that is cut short, that belongs to another index or that is no weight file at all shows
without reading a single weight.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
"""One file, or the list of shards; where both are there the one file counts, as for transformers."""
Shapes = dict[str, tuple[int, ...]]
_LFS = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER, _LONGEST_TABLE = 1024, 100_000_000
"""Bytes; a pointer has about 130, and the safetensors library refuses longer tables."""
_BYTES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2} | {
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
}


def is_lfs_pointer(file: Path) -> bool:
    """Whether a file is what Git LFS leaves in the place of one that it did not fetch."""
    try:
        if file.stat().st_size > _LONGEST_POINTER:
            return False
        with file.open("rb") as stream:
            return stream.read(len(_LFS)) == _LFS
    except OSError:
        return False


def refuse_pointers(directory: Path) -> None:
    """Refuse a checkpoint directory in which Git LFS left pointers.

    Args:
        directory: Searched to a depth of two, as deep as checkpoints keep files.

    Raises:
        ValueError: With the names of all of them.
    """
    files = [*directory.glob("*"), *directory.glob("*/*")]
    pointers = sorted(str(file.relative_to(directory)) for file in files if file.is_file() and is_lfs_pointer(file))
    if pointers:
        shown = ", ".join(pointers[:6]) + (f", and {len(pointers) - 6} more" if len(pointers) > 6 else "")
        raise ValueError(f"{directory} holds Git LFS pointers in place of {shown}; run 'git lfs pull' there")


def check_directory(directory: Path) -> None:
    """Check what weight files a checkpoint directory of any kind has.

    Raises:
        ValueError: If one is damaged, or the directory is a training checkpoint and no model.
    """
    refuse_pointers(directory)
    if any((directory / name).is_file() for name in (SINGLE, INDEX)):
        read_shapes(directory)
    elif hint := hint_of_run(directory):
        raise ValueError(f"{directory} holds no model in Hugging Face format: {hint}")


def hint_of_run(directory: Path) -> str:
    """Return what to do with a checkpoint of a training run that was given as a base model, empty for anything else."""
    weights = "full_weights.pt"
    if not any((directory / place / weights).is_file() for place in ("", "model_state_dict", "actor/model_state_dict")):
        return ""
    return (
        "it is a checkpoint of a training run: give it as --checkpoint beside the base model, or make a base model of "
        f"it by 'isaaclab-rlinf export --checkpoint {directory} --out DIR'"
    )


def read_shapes(directory: Path) -> Shapes:
    """Read the names and shapes of a checkpoint's weights.

    Args:
        directory: With ``model.safetensors``, or an index and its shards.

    Raises:
        ValueError: If a file is absent, cut short or of another kind, or does not hold what the index says.
    """
    if not (directory / SINGLE).is_file():
        return _read_shards(directory)
    return read_header(directory / SINGLE)


def shard_names(directory: Path) -> list[str]:
    """Return the names of the files that hold a checkpoint's weights.

    Raises:
        ValueError: If the index is no index.
    """
    return [SINGLE] if (directory / SINGLE).is_file() else sorted(set(_weight_map(directory / INDEX).values()))


def read_header(file: Path) -> Shapes:
    """Read the names and shapes of one safetensors file, and check that it is as long as its table says.

    Raises:
        ValueError: With what is wrong with the file.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            raw = stream.read(length) if 8 + length <= size and length <= _LONGEST_TABLE else None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    if is_lfs_pointer(file):
        raise ValueError(f"{file} is a Git LFS pointer, not the weights; run 'git lfs pull' in {file.parent}")
    try:
        if raw is None:
            raise ValueError("its table does not fit in the file")
        table = json.loads(raw)
        shapes, end = _entries(table)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{file} ({size} bytes) is cut short or no safetensors file: {error}") from None
    if size != 8 + length + end:
        state = "cut short" if size < 8 + length + end else "too long"
        raise ValueError(f"{file} is {state}: {size} bytes, but its table speaks of {8 + length + end}")
    return shapes


def _entries(table: Mapping[str, Any]) -> tuple[Shapes, int]:
    """Return the shapes and the number of bytes that the tensors take."""
    shapes, spans = {}, []
    for name, entry in table.items():
        if name == "__metadata__":
            continue
        shape, (begin, end) = tuple(entry["shape"]), entry["data_offsets"]
        width = _BYTES.get(entry["dtype"])
        if width is not None and end - begin != width * math.prod(shape):
            raise ValueError(f"{name} has {end - begin} bytes for shape {list(shape)}")
        shapes[name] = shape
        spans.append((begin, end))
    reached = 0
    for begin, end in sorted(spans):
        if begin != reached:
            raise ValueError("its tensors overlap or leave gaps")
        reached = end
    return shapes, reached


def _read_shards(directory: Path) -> Shapes:
    """Read all shards that an index names; absent ones are listed together."""
    weight_map = _weight_map(directory / INDEX)
    names = sorted(set(weight_map.values()))
    absent = [name for name in names if not (directory / name).is_file()]
    if absent:
        raise ValueError(
            f"{directory / INDEX} names {len(names)} files, of which {len(absent)} are absent: {', '.join(absent[:6])}"
        )
    shapes: Shapes = {}
    where: dict[str, str] = {}
    for name in names:
        for key, shape in read_header(directory / name).items():
            shapes[key], where[key] = shape, name
    misplaced = [key for key, name in weight_map.items() if where.get(key) != name]
    unlisted = [key for key in where if key not in weight_map]
    if misplaced or unlisted:
        wrong = (misplaced or unlisted)[0]
        raise ValueError(
            f"{directory / INDEX} and its files differ: {len(misplaced)} weights are not in the file that it names, "
            f"{len(unlisted)} are not listed (first: {wrong}); are the files of one download?"
        )
    return shapes


def _weight_map(index: Path) -> dict[str, str]:
    if is_lfs_pointer(index):
        raise ValueError(f"{index} is a Git LFS pointer; run 'git lfs pull' in {index.parent}")
    try:
        weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        if not weight_map or not all(isinstance(name, str) for name in weight_map.values()):
            raise TypeError("its weight_map is empty or no mapping of names")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{index} cannot be read as an index of weights: {error}") from None
    outside = [name for name in weight_map.values() if Path(name).name != name]
    if outside:
        raise ValueError(f"{index} names a file outside its directory: {outside[0]!r}")
    return weight_map


def differences(found: Shapes, expected: Shapes, *, optional: Iterable[str] = ()) -> str:
    """Compare two sets of weights.

    Args:
        found: What is there.
        expected: What should be.
        optional: Beginnings of names that may be absent or of any shape on either side.

    Returns:
        ``3 missing (first: a, b, c); 1 of another shape (first: d: [2, 3], not [4, 3])``, empty when they agree.
    """
    left_out = tuple(optional)
    found = {key: shape for key, shape in found.items() if not key.startswith(left_out)}
    expected = {key: shape for key, shape in expected.items() if not key.startswith(left_out)}
    reshaped = [
        f"{key}: {list(found[key])}, not {list(shape)}"
        for key, shape in sorted(expected.items())
        if key in found and tuple(found[key]) != tuple(shape)
    ]
    problems = {
        "missing": sorted(expected.keys() - found.keys()),
        "unexpected": sorted(found.keys() - expected.keys()),
        "of another shape": reshaped,
    }
    return "; ".join(f"{len(keys)} {what} (first: {', '.join(keys[:3])})" for what, keys in problems.items() if keys)
