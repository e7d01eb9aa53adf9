# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: N1.5's embodiments."""

from enum import Enum


class EmbodimentTag(Enum):
    """Embodiments."""

    GR1 = "gr1"
    OXE_DROID = "oxe_droid"
    AGIBOT_GENIE1 = "agibot_genie1"
    NEW_EMBODIMENT = "new_embodiment"


EMBODIMENT_TAG_MAPPING = {"new_embodiment": 31, "oxe_droid": 17, "agibot_genie1": 26, "gr1": 24}
