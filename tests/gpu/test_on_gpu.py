# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The GPU lane as tests: `pytest -m gpu`. The same checks, and the same processes, as `scripts/gpu_smoke.sh`."""

import functools

import pytest

from gpu_smoke.identity import identity
from gpu_smoke.outcome import FAILED, NOT_RUN, PASSED
from gpu_smoke.plan import CHECKS
from gpu_smoke.runner import Lane

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def results_of(tmp_path_factory):
    """Return a function that gives a group's results, run when first asked for."""
    lane = Lane("cuda", tmp_path_factory.mktemp("gpu_smoke"), identity("cuda"))

    @functools.cache
    def of_group(group):
        lane.run_group([check for check in CHECKS if check.group == group])
        return dict(lane.results)

    yield of_group
    lane.stop()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_check(check, results_of):
    result = results_of(check.group)[check.name]
    print(result.measured)
    if result.status in (FAILED, NOT_RUN):
        pytest.fail(result.reason, pytrace=False)
    if result.status != PASSED:
        pytest.skip(result.reason)
