# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.5 on the real ``gr00t`` package and a real checkpoint; the same tests as with the stand-in.

Run in the environment that ``scripts/install_gr00t_n1d5.sh`` makes, with

* ``GR00T_N1D5_CHECKPOINT``: a checkpoint directory (``config.json``, weights, ``experiment_cfg/metadata.json``),
* ``GR00T_N1D5_TAG`` and ``GR00T_N1D5_TAG_ID``: embodiment and projector it was trained with,
* ``GR00T_N1D5_DATA_CONFIG``: ``/path/file.py:Class`` or ``module:Class``.
"""

from __future__ import annotations

import os

import pytest
import torch
from n1d5_bodies import *  # noqa: F403 - the tests that also run on the stand-in

from isaaclab_rlinf.models.gr00t.checkpoint import read_facts
from isaaclab_rlinf.models.gr00t.n1d5 import build_policy
from isaaclab_rlinf.models.gr00t.packages import missing_package
from isaaclab_rlinf.models.gr00t.tags import projector_id
from n1d5_kit import block_for, model_cfg

CHECKPOINT = os.environ.get("GR00T_N1D5_CHECKPOINT")
pytestmark = pytest.mark.skipif(
    missing_package("gr00t") is not None or CHECKPOINT is None,
    reason=missing_package("gr00t") or "GR00T_N1D5_CHECKPOINT names no checkpoint",
)


@pytest.fixture(scope="module")
def facts():
    return read_facts(CHECKPOINT, os.environ.get("GR00T_N1D5_TAG", "new_embodiment"))


@pytest.fixture(scope="module")
def projector(facts):
    asked = os.environ.get("GR00T_N1D5_TAG_ID")
    return projector_id(facts.tag, None if asked is None else int(asked), facts.max_embodiments)


@pytest.fixture(scope="module")
def policy(facts, projector):
    block = block_for(facts, embodiment_tag_id=projector, data_config_class=os.environ.get("GR00T_N1D5_DATA_CONFIG"))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return build_policy(model_cfg(facts, block, {"padding_value": 256 * len(facts.video) + 88})).to(device)
