# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Fresh weights that depend on a seed of their own, and leave the process's random numbers as they were."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from ``seed`` on the CPU in the body; afterwards the default generator goes on where it was.

    Args:
        seed: For torch's default CPU generator.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        # not torch.manual_seed, which would also give the GPUs of all ranks one seed
        torch.default_generator.manual_seed(seed)
        yield
