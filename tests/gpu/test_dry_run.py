# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every check of the GPU lane in small on the CPU, so that its first use on a GPU does not fail by a slip."""

import pytest

from gpu_smoke.outcome import NEEDS_CUDA, PASSED
from gpu_smoke.plan import CHECKS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4000)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_check(check, results_on):
    result = results_on("cpu", check.group)[check.name]
    if result.status not in (PASSED, NEEDS_CUDA):
        pytest.fail(f"{result.status}: {result.reason}", pytrace=False)
