# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The lane's package lies below scripts/, which is on no path by itself."""

import functools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))


@pytest.fixture(scope="module")
def results_on(tmp_path_factory):
    """Return a function that gives a group's results on a device; a group is run when it is first asked for."""
    from gpu_smoke.identity import identity
    from gpu_smoke.plan import CHECKS
    from gpu_smoke.runner import Lane

    lanes = {}

    @functools.cache
    def results(device, group):
        if device not in lanes:
            lanes[device] = Lane(device, tmp_path_factory.mktemp("gpu_smoke"), identity(device))
        lanes[device].run_group([check for check in CHECKS if check.group == group])
        return dict(lanes[device].results)

    yield results
    for lane in lanes.values():
        lane.stop()
