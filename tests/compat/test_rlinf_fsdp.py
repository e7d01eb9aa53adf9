# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Clipping and the inputs' precision in RLinf's FSDP manager, on one and on two gloo ranks."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

RANKS = Path(__file__).with_name("fsdp_ranks.py")
CLIP, RECORDED = 0.5, ("sample_before", "sample_after", "own_record", "prev_logprobs")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What each rank saw, by manager, number of ranks and rank."""
    folder = tmp_path_factory.mktemp("ranks")
    done = subprocess.run([sys.executable, str(RANKS), str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return lambda kind, ranks, rank=0: torch.load(folder / f"{kind}-{ranks}-{rank}.pt")


def norm_of(gradients):
    return math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))


def close(ours, theirs, **tolerance):
    assert ours.keys() == theirs.keys()
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance)


def test_two_ranks_give_the_gradient_the_norm_and_the_update_of_one(seen):
    one = seen("Mended", 1)["fp32"]
    for rank in range(2):
        two = seen("Mended", 2, rank)["fp32"]
        for ours, theirs in zip(two["steps"], one["steps"], strict=True):
            close(ours["before"], theirs["before"])
            close(ours["clipped"], theirs["clipped"])
            assert ours["norm"] == pytest.approx(theirs["norm"], rel=1e-5)
        close(two["parameters"], one["parameters"])
    assert {step["norm"] > CLIP for step in one["steps"]} == {True, False}, "the test clips some and leaves some"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(("case", "rounding"), [("fp32", 1e-5), ("mixed", 1e-5), ("bf16", 2**-8)])
def test_the_norm_is_the_whole_gradients_and_clipping_bounds_it(seen, case, rounding, ranks):
    for step in seen("Mended", ranks)[case]["steps"]:
        norm = norm_of(step["before"])
        assert step["norm"] == pytest.approx(norm, rel=1e-4)
        assert norm_of(step["clipped"]) == pytest.approx(min(norm, CLIP), rel=rounding)


def test_gradients_within_the_bound_are_left_alone(seen):
    small = [step for step in seen("Mended", 2)["bf16"]["steps"] if step["norm"] <= CLIP]
    assert small and all(
        torch.equal(step["clipped"][name], step["before"][name]) for step in small for name in step["clipped"]
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_gradient_that_is_not_finite_on_one_rank_skips_the_update_on_all(seen, ranks):
    for rank in range(ranks):
        outcome = seen("Mended", ranks, rank)["poison"]
        assert not math.isfinite(outcome["norm"]) and outcome["unchanged"]


@pytest.mark.parametrize(("case", "ranks"), [("receive", 1), ("receive", 2), ("receive_from_fsdp1", 2)])
def test_records_reach_the_model_in_float32_and_the_rest_in_its_compute_dtype(seen, case, ranks):
    received = seen("Mended", ranks)[case]
    assert {name: received[name] for name in RECORDED} == dict.fromkeys(RECORDED, (torch.float32, True))
    assert received["x"] == (torch.bfloat16, False)


def test_upstream_still_needs_all_of_it(seen):
    """Where this fails, RLinf has mended something: delete our part and its entry in docs/upstream.md."""
    first = seen("Upstream", 1)["bf16"]["steps"][0]
    assert norm_of(first["clipped"]) == norm_of(first["before"]) > CLIP, "bfloat16 gradients are clipped"
    norms = [seen("Upstream", 2, rank)["fp32"]["steps"][0]["norm"] for rank in range(2)]
    assert norms[0] != pytest.approx(norms[1], rel=1e-3), "ranks share one norm"
    assert math.hypot(*norms) == pytest.approx(seen("Mended", 1)["fp32"]["steps"][0]["norm"], rel=1e-4)
    assert math.isfinite(seen("Upstream", 2, 0)["poison"]["norm"]), "a rank hears of another one's infinity"
    for case in ("receive", "receive_from_fsdp1"):
        assert seen("Upstream", 2)[case]["prev_logprobs"] == (torch.bfloat16, False), "log-probabilities stay exact"
