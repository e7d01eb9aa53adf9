# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The GPU lane as tests: `pytest -m gpu`. The same checks, and the same processes, as `scripts/gpu_smoke.sh`."""

import pytest

from gpu_smoke.outcome import FAILED, NOT_RUN, PASSED
from gpu_smoke.plan import CHECKS

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(2400)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_check(check, results_on):
    result = results_on("cuda", check.group)[check.name]
    print(result.measured)
    if result.status in (FAILED, NOT_RUN):
        pytest.fail(result.reason, pytrace=False)
    if result.status != PASSED:
        pytest.skip(result.reason)
