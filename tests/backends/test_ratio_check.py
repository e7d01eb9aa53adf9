# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The ratio before a step's first update: measured over the right micro batches, and said when it is off."""

from __future__ import annotations

import pytest

from isaaclab_rlinf.backends.ratio_check import INITIAL_RATIO_ERROR, ratio_warning


@pytest.mark.parametrize(
    "metrics", [{}, {f"train/{INITIAL_RATIO_ERROR}": 1e-6}, {f"train/{INITIAL_RATIO_ERROR}": 1e-2}]
)
def test_no_warning_within_the_tolerance_or_without_a_ratio(metrics):
    assert ratio_warning(metrics) is None


def test_warning_has_the_value_and_the_causes():
    warning = ratio_warning({f"train/{INITIAL_RATIO_ERROR}": 0.1234})
    precision = (
        "rollout.model.precision",
        "mixed_precision.param_dtype",
        "exact_inputs",
        "bucket_dtype",
        "amp_autocast",
    )
    for text in ("0.123", "first minibatch", "dropout", *precision, "not sent", "check_policy"):
        assert text in warning


@pytest.mark.integration
def test_only_micro_batches_before_the_first_update_are_recorded(monkeypatch):
    from isaaclab_rlinf.workers.actor import ActorWorker, EmbodiedFSDPActor

    errors = iter([1.0, 3.0, 50.0, 60.0])

    def upstream(self, micro_batch, metrics, *, is_last):
        metrics.setdefault("actor/ratio_abs", []).append(next(errors))

    monkeypatch.setattr(EmbodiedFSDPActor, "train_micro_batch", upstream)
    actor = object.__new__(ActorWorker)
    actor.gradient_accumulation = 2
    metrics = {}
    for last in (False, True, False, True):
        actor.train_micro_batch({}, metrics, is_last=last)
    assert metrics[INITIAL_RATIO_ERROR] == [1.0, 3.0]
