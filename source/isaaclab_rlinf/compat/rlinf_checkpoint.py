# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Resuming a checkpoint on another kind of device than it was written on.

rlinf 0.3.0 saves the random state of the accelerator as ``rng.<device type>`` where there is one, and asks a
checkpoint for every key that it would save itself. torch's loader is strict, so a checkpoint that was written on a CPU
cannot be resumed on a GPU: ``Missing key in checkpoint state_dict: fsdp_checkpoint.rng.cuda``. That one key is left
out here when the checkpoint lacks it; everything else that is missing stays an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RNG = "fsdp_checkpoint.rng."
_OF_EVERY_MACHINE = ("cpu", "numpy", "random")
"""What ``rlinf.utils.utils.set_rng_state`` insists on."""


@contextmanager
def random_state_of(load_path: str | Path) -> Iterator[list[str]]:
    """Let RLinf ask a checkpoint only for the accelerator's random state that it has.

    Args:
        load_path: What RLinf's ``load_checkpoint`` is given.

    Yields:
        One text for each random state that is on one side only; filled while the checkpoint is loaded.
    """
    from rlinf.hybrid_engines.fsdp.strategy import checkpoint

    saved, notices = _saved_devices(Path(load_path)), []
    complete = checkpoint.get_rng_state

    def present() -> dict:
        state = complete()
        if saved is None:
            return state
        absent = [name for name in state if name not in (*saved, *_OF_EVERY_MACHINE)]
        surplus = [name for name in saved if name not in state]
        notices[:] = [
            *(f"random numbers on {name} start from the seed: the checkpoint was written without" for name in absent),
            *(f"the checkpoint's random state of {name} is not used: there is none here" for name in surplus),
        ]
        return {name: value for name, value in state.items() if name not in absent}

    checkpoint.get_rng_state = present
    try:
        yield notices
    finally:
        checkpoint.get_rng_state = complete


def _saved_devices(load_path: Path) -> list[str] | None:
    """Return the names of the random states in a distributed checkpoint, None when there is no such checkpoint."""
    from torch.distributed.checkpoint import FileSystemReader

    directory = load_path / "dcp_checkpoint"
    directory = directory if directory.is_dir() else load_path
    if not (directory / ".metadata").is_file():
        return None
    keys = FileSystemReader(directory).read_metadata().state_dict_metadata
    return sorted({key.removeprefix(_RNG).partition(".")[0] for key in keys if key.startswith(_RNG)})
