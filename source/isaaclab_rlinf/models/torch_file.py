# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a file of ``torch.save`` holds, without torch and without running anything that is in it.

Such a file is a zip archive: ``data.pkl`` says what there is, ``data/<key>`` are the numbers. The pickle is read with
every class replaced by a note of its name.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.weight_files import Shapes, is_lfs_pointer

_BYTES = {"Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2} | {
    "Int": 4,
    "Float": 4,
    "Long": 8,
    "Double": 8,
}
"""Bytes of one number, by the name of torch's storage class."""
_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Bool": "bool",
    "Short": "int16",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Int": "int32",
    "Float": "float32",
    "Long": "int64",
    "Double": "float64",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
"""Torch's dtype, by the name of its storage class."""


@dataclass(frozen=True)
class TensorRecord:
    """What a file says of one tensor."""

    shape: tuple[int, ...]
    entry: str
    """Name of the storage in the archive."""
    dtype: str
    """Name in torch; something else for a kind that is not known here."""
    offset: int
    stride: tuple[int, ...]


class Noted:
    """In place of an object of any class: the class's name, and what the pickle would have given to it."""

    name = "?"

    def __new__(cls, *args: Any, **kwargs: Any) -> Noted:
        """Take whatever comes."""
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Remember the arguments."""
        self.args, self.state = args, None

    def __setstate__(self, state: Any) -> None:
        """Remember the state."""
        self.state = state

    def __call__(self, *args: Any, **kwargs: Any) -> Noted:
        """Stand for what a function would have returned."""
        return type(self)(*args)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Take an entry as a mapping does."""

    def append(self, value: Any) -> None:
        """Take an entry as a list does."""

    def extend(self, values: Any) -> None:
        """Take entries as a list does."""

    def add(self, value: Any) -> None:
        """Take an entry as a set does."""


class _Reader(pickle.Unpickler):
    """Builds plain containers and notes; imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name.startswith("_rebuild_tensor"):
            return _tensor
        if module == "torch._utils" and name.startswith("_rebuild_parameter"):
            return lambda data, *rest: data
        if (module, name) == ("torch", "Size"):
            return tuple
        return type(name, (Noted,), {"name": f"{module}.{name}"})

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, _, numel = pid
        self.storages[str(key)] = (_kind_of(kind), int(numel))
        return pid

    storages: dict[str, tuple[str, int]]


def read_state_dict(file: Path) -> Shapes:
    """Read the names and shapes in a file of weights such as RLinf's ``full_weights.pt``.

    Args:
        file: Written by ``torch.save(model.state_dict(), file)``.

    Returns:
        Name -> shape.

    Raises:
        ValueError: If it is no such file, holds something else than a state dict, or lacks the numbers of a tensor.
    """
    return {name: tensor.shape for name, tensor in read_records(file)[1].items()}


def _tensor(storage: Any, offset: int, shape: Any, stride: Any, *rest: Any) -> TensorRecord:
    """Stand for ``torch._utils._rebuild_tensor*``, of which the third version says the dtype itself."""
    kind, key = _kind_of(storage[1]), str(storage[2])
    dtype = rest[2] if len(rest) > 2 and isinstance(rest[2], type) and issubclass(rest[2], Noted) else None
    name = dtype.name.rpartition(".")[2] if dtype is not None else _DTYPES.get(kind, kind)
    return TensorRecord(tuple(shape), key, name, int(offset), tuple(stride))


def _kind_of(storage_class: Any) -> str:
    return getattr(storage_class, "name", "?").rpartition(".")[2].removesuffix("Storage")


def read_records(file: Path) -> tuple[str, dict[str, TensorRecord]]:
    """Read what :func:`read_state_dict` reads, and where the numbers are.

    Args:
        file: As there; it raises the same.

    Returns:
        The beginning of the names in the archive, and a record for each name of the state dict.
    """
    if is_lfs_pointer(file):
        raise ValueError(f"{file} is a Git LFS pointer, not the weights; run 'git lfs pull' in {file.parent}")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = {entry.filename: entry.file_size for entry in archive.infolist()}
            pickled = next((name for name in entries if name.endswith("/data.pkl") or name == "data.pkl"), None)
            if pickled is None:
                raise ValueError("no data.pkl in the archive")
            with archive.open(pickled) as stream:
                reader = _Reader(stream)
                reader.storages = {}
                content = reader.load()
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    except Exception as error:  # a damaged pickle fails in every way there is
        raise ValueError(f"{file} is damaged or was not written by torch.save: {error}") from None
    tensors, root = _state_dict(file, content), pickled.removesuffix("data.pkl")
    _check_numbers(file, entries, root, reader.storages)
    return root, tensors


def _state_dict(file: Path, content: Any) -> dict[str, TensorRecord]:
    if not isinstance(content, dict) or not content:
        what = "tensor" if isinstance(content, TensorRecord) else type(content).__name__.lower()
        what = content.name if isinstance(content, Noted) else what
        raise ValueError(f"{file} holds {'an empty dict' if content == {} else what}, not a state dict of weights")
    foreign = {key: value for key, value in content.items() if not isinstance(value, TensorRecord)}
    if foreign:
        kinds = ", ".join(f"{key!r} ({_kind(value)})" for key, value in list(foreign.items())[:4])
        nested = next((key for key, value in foreign.items() if _is_state_dict(value)), None)
        hint = f"; the weights seem to be under {nested!r}: save that part alone" if nested is not None else ""
        raise ValueError(
            f"{file} is no state dict: {len(foreign)} of {len(content)} entries hold no tensor: {kinds}{hint}"
        )
    return {str(key): value for key, value in content.items()}


def _kind(value: Any) -> str:
    return value.name if isinstance(value, Noted) else type(value).__name__


def _is_state_dict(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(entry, TensorRecord) for entry in value.values())


def _check_numbers(file: Path, entries: dict[str, int], root: str, storages: dict[str, tuple[str, int]]) -> None:
    for key, (kind, numel) in storages.items():
        size = entries.get(f"{root}data/{key}")
        width = _BYTES.get(kind)
        if size is None or (width is not None and size != width * numel):
            found = "is absent" if size is None else f"has {size} bytes in place of {width * numel}"
            raise ValueError(f"{file} is damaged: the data of a tensor (entry data/{key}) {found}")


def check_distributed(directory: Path) -> None:
    """Check that the files of a ``torch.distributed.checkpoint`` are there and as long as its ``.metadata`` says.

    Args:
        directory: RLinf's ``actor/dcp_checkpoint``.

    Raises:
        ValueError: If one is absent or cut short, or the metadata cannot be read.
    """
    metadata = directory / ".metadata"
    found: list[dict[str, Any]] = []

    class Reader(_Reader):
        def find_class(self, module: str, name: str) -> Any:
            if name != "_StorageInfo":
                return super().find_class(module, name)
            return type(name, (Noted,), {"name": name, "__setstate__": lambda self, state: found.append(state)})

    if is_lfs_pointer(metadata):
        raise ValueError(f"{metadata} is a Git LFS pointer; run 'git lfs pull' in {directory}")
    try:
        with metadata.open("rb") as stream:
            reader = Reader(stream)
            reader.storages = {}
            reader.load()
        ends: dict[str, int] = {}
        for entry in found:
            name = str(entry["relative_path"])
            ends[name] = max(ends.get(name, 0), int(entry["offset"]) + int(entry["length"]))
    except Exception as error:  # a damaged pickle fails in every way there is
        raise ValueError(f"{metadata} cannot be read: {error}") from None
    for name, end in ends.items():
        part = directory / name
        size = part.stat().st_size if part.is_file() else None
        if size is None or size < end:
            state = "is absent" if size is None else f"is cut short ({size} of {end} bytes)"
            raise ValueError(f"{part} {state}")
