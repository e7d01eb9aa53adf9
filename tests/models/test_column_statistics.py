# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Columns that hardly move, or rarely: what both models' normalisation makes of them."""

import pytest
import torch

from isaaclab_rlinf.models.column_statistics import column_bounds, column_notices
from isaaclab_rlinf.models.gr00t_n1d7.normalization import Normalizer
from isaaclab_rlinf.models.tiny_vla import TinyVLAProcessor, build_tokenizer, min_max_statistics

FRAMES = 1000


def columns():
    """A plain column, a constant one, one with a span of 1e-6, and a gripper that is mostly 0."""
    plain = torch.linspace(-1.0, 3.0, FRAMES)
    gripper = torch.zeros(FRAMES)
    gripper[500:504] = 1.0
    nearly = 0.5 + 1e-6 * torch.rand(FRAMES, generator=torch.Generator().manual_seed(0))
    return torch.stack([plain, torch.full((FRAMES,), 0.7), nearly, gripper], dim=1)


def normalizer(values, role, kind="min_max", low="min", high="max"):
    bounds = column_bounds(values, role)
    return Normalizer(kind, bounds[low], bounds[high], clip=True)


@pytest.mark.parametrize(("low", "high"), [("min", "max"), ("q01", "q99")])
def test_states_are_never_blown_up_nor_silenced(low, high):
    values = columns()
    seen = normalizer(values, "state", low=low, high=high).normalize(values)
    assert seen.abs().max() <= 1 and seen[:, 1:3].abs().max() < 1e-5
    assert torch.equal(seen[:, 3].unique(), torch.tensor([-1.0, 1.0])), "the rare value is seen"
    moved = values + 0.25
    later = normalizer(values, "state", low=low, high=high).normalize(moved)
    assert torch.allclose(later[:, 1:3], torch.full((FRAMES, 2), 0.25), atol=1e-5), "it moves later: unscaled"


@pytest.mark.parametrize(("low", "high"), [("min", "max"), ("q01", "q99")])
def test_actions_keep_a_constant_and_reach_what_is_rare(low, high):
    values = columns()
    normal = normalizer(values, "action", low=low, high=high)
    assert normal.normalize(values)[:, 1:3].abs().max() == 0
    acted = normal.unnormalize(torch.tensor([[9.0] * 4, [-9.0] * 4]))
    assert torch.allclose(acted[:, 1:3], torch.tensor([0.7, 0.5]).expand(2, 2), atol=1e-6), "whatever the noise"
    assert acted[:, 3].tolist() == [1.0, 0.0]


def test_mean_and_deviation():
    values = columns()
    for role in ("state", "action"):
        seen = normalizer(values, role, "mean_std", "mean", "std").normalize(values)
        assert seen.isfinite().all() and seen.abs().max() < 20


def test_statistics_of_each_step():
    chunk = columns()[:, None, :].repeat(1, 3, 1)
    chunk[:, 0] = 0
    bounds = column_bounds(chunk, "action")
    assert bounds["max"].shape == (3, 4) and bounds["max"][0].tolist() == bounds["min"][0].tolist() == [0.0] * 4
    told = list(column_notices(chunk, "action", "abcd", str))
    assert told[0].startswith("a is constant in all 1000 frames at steps [0]") and len(told) == 4


def test_what_is_decided_is_said_for_each_column_with_count_and_place():
    names = ["plain", "constant", "nearly", "gripper"]
    told = list(column_notices(columns(), "state", names, lambda row: f"row {row}", percentiles=True))
    assert told[0] == "constant is 0.7 in all 1000 frames: left unscaled, centered"
    assert told[1].startswith("nearly spans only 9.5e-07") or told[1].startswith("nearly spans only 1e-06")
    assert told[2].startswith("gripper lies in [0, 0] but for 4 of 1000 frames, first row 500, and in [0, 1] in all")
    assert len(told) == 3
    assert len(list(column_notices(columns(), "state", names, str))) == 2, "min and max see the gripper"
    (first, _) = column_notices(columns(), "action", names, str)
    assert first.endswith("the model always gives 0.7")


def test_ordinary_columns_are_what_they_were():
    values = torch.randn(200, 3, generator=torch.Generator().manual_seed(1))
    bounds = column_bounds(values, "state")
    assert torch.equal(bounds["min"], values.amin(0)) and torch.equal(bounds["max"], values.amax(0))
    assert torch.equal(bounds["q01"], torch.quantile(values, 0.01, dim=0))
    assert torch.allclose(bounds["std"], values.std(0))
    large = torch.full((50, 1), 20_000.0) + torch.linspace(0, 0.015, 50)[:, None]
    assert (column_bounds(large, "action")["min"] == column_bounds(large, "action")["max"]).all(), "float32 noise"
    assert (column_bounds(torch.linspace(0, 1e-3, 50)[:, None], "action")["max"] > 9e-4).all()


def test_tiny_vla_uses_them():
    values = columns()
    processor = TinyVLAProcessor(build_tokenizer(["go"], 8), min_max_statistics(values, values), max_text_length=8)
    assert processor.normalize("state", values + 0.25)[:, 1:3].abs().max() < 0.3
    acted = processor.unnormalize("action", torch.tensor([[5.0] * 4]))
    assert torch.allclose(acted, torch.tensor([[3.0, 0.7, 0.5, 1.0]]), atol=1e-5)
