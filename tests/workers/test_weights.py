# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import pytest
import torch

from isaaclab_rlinf.workers.weights import load_full_weights


@pytest.fixture
def checkpoint(tmp_path):
    file = tmp_path / "full_weights.pt"
    torch.save({"weight": torch.full((2, 3), 7.0), "bias": torch.full((2,), 8.0)}, file)
    return str(file)


def test_report_counts_matched_keys(checkpoint):
    model = torch.nn.Linear(3, 2)
    report = load_full_weights(model, checkpoint)
    assert (report.matched, report.total, report.file) == (2, 2, checkpoint)
    assert torch.equal(model.weight, torch.full((2, 3), 7.0))


def test_no_matching_key_is_an_error_and_changes_nothing(checkpoint):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2))
    before = model[0].weight.clone()
    with pytest.raises(ValueError, match=r"0 of 2 keys match; 2 missing \(first: 0\.bias, 0\.weight\); 2 unexpected"):
        load_full_weights(model, checkpoint)
    assert torch.equal(model[0].weight, before)


def test_other_shape_is_an_error(checkpoint):
    with pytest.raises(ValueError, match="1 of another shape"):
        load_full_weights(torch.nn.Linear(4, 2), checkpoint)
