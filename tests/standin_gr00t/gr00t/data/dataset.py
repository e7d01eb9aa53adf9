# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`."""

from pydantic import BaseModel


class ModalityConfig(BaseModel):
    """Which steps and keys of a modality are read."""

    delta_indices: list[int]
    modality_keys: list[str]
