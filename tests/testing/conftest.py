# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import pytest


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Every test of this directory."""
