# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Numbers that a restructuring must leave as they are: two seeded steps of each model family against a recorded table.

Tolerance: the same code on one and two threads, and with torch, MKL and oneDNN held to SSE4, AVX2 or AVX-512, differs
from the table by up to 7e-6 of max(1, |number|), a gradient norm; the limit is fourteen times that. The smallest fault
that is tried, an exploration noise 0.1 % too large, moves a log-probability by ten times the limit.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
import two_steps

LIMIT = 1e-4


def differences(found: Any, recorded: Any, where: str = "") -> Iterator[str]:
    """Numbers that are further apart than the limit, and places that only one side has."""
    if isinstance(recorded, dict) and isinstance(found, dict) and found.keys() == recorded.keys():
        for key, value in recorded.items():
            yield from differences(found[key], value, f"{where}.{key}")
    elif isinstance(recorded, list) and isinstance(found, list) and len(found) == len(recorded):
        for index, value in enumerate(recorded):
            yield from differences(found[index], value, f"{where}[{index}]")
    elif not isinstance(recorded, float) or not isinstance(found, float):
        yield f"{where}: {found!r} in place of {recorded!r}"
    elif not math.isclose(found, recorded, rel_tol=LIMIT, abs_tol=LIMIT):
        yield f"{where}: {found:.8g} in place of {recorded:.8g}"


@pytest.mark.parametrize("family", two_steps.FAMILIES)
def test_two_seeded_steps_give_the_recorded_numbers(family, tmp_path):
    recorded = json.loads(two_steps.TABLE.read_text())
    assert recorded.keys() == two_steps.FAMILIES.keys()
    assert list(differences(two_steps.numbers(family, tmp_path), recorded[family], family)) == []


@pytest.mark.parametrize("family", two_steps.FAMILIES)
def test_a_small_fault_is_noticed(family, tmp_path, monkeypatch):
    from isaaclab_rlinf.models.rl_head import RLHeadConfig

    from_mapping = RLHeadConfig.from_mapping
    louder = lambda mapping, steps: from_mapping({**mapping, "noise_level": 0.4 * 1.001}, steps)  # noqa: E731
    monkeypatch.setattr(RLHeadConfig, "from_mapping", louder)
    recorded = json.loads(two_steps.TABLE.read_text())[family]
    told = "\n".join(differences(two_steps.numbers(family, tmp_path), recorded, family))
    assert "ppo[0].logprobs[" in told and "ppo[1].logprobs_in_update[" in told
    assert ".sft_losses" not in told
