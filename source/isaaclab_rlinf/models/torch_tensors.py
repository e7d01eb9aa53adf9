# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Reading a file of ``torch.save`` one tensor after another, each with its checksum."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.models.torch_file import read_records

if TYPE_CHECKING:
    import torch

_CHUNK = 2**22


def read_tensors(file: Path) -> Iterator[tuple[str, torch.Tensor]]:
    """Read a file that :func:`~isaaclab_rlinf.models.torch_file.read_state_dict` accepts.

    ``torch.load`` either holds all tensors at once or maps the file, whose pages then add to the memory of the process;
    and it compares no checksums.

    Args:
        file: As there.

    Yields:
        Name and tensor.

    Raises:
        ValueError: Also if the numbers of a tensor are damaged.
    """
    import torch

    root, records = read_records(file)
    with zipfile.ZipFile(file) as archive:
        for name, record in records.items():
            dtype = getattr(torch, record.dtype, None)
            if not isinstance(dtype, torch.dtype):
                raise ValueError(f"{file}: {name} is of a kind that is not read here ({record.dtype})")
            try:
                numbers = _read_entry(archive, f"{root}data/{record.entry}").view(dtype)
                value = numbers.as_strided(record.shape, record.stride, record.offset)
            except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
                raise ValueError(f"{file} is damaged: the data of {name}: {error}") from None
            yield name, value


def _read_entry(archive: zipfile.ZipFile, entry: str) -> torch.Tensor:
    """Read an entry of the archive into new memory, with its checksum."""
    import torch

    size = archive.getinfo(entry).file_size
    numbers = torch.empty(size, dtype=torch.uint8)
    target, read = memoryview(numbers.numpy()), 0
    with archive.open(entry) as stream:
        while count := stream.readinto(target[read : read + _CHUNK]):
            read += count
    if read != size:
        raise EOFError(f"{read} of {size} bytes")
    return numbers
