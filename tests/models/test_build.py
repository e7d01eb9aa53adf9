# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Building a registered model outside a worker."""

from __future__ import annotations

import pickle

import pytest

from isaaclab_rlinf.models.build import build_registered
from isaaclab_rlinf.testing import registered_builder


@pytest.fixture
def accelerator(monkeypatch):
    """RLinf finds an accelerator; torch's meta device stands for it, to which a model can be moved anywhere."""
    from isaaclab_rlinf.compat import prepare_worker_imports

    prepare_worker_imports()
    from rlinf.scheduler import Worker

    monkeypatch.setattr(Worker, "torch_device_type", "meta")


def devices(model):
    return {parameter.device.type for parameter in model.parameters()}


def test_a_model_is_built_on_the_cpu_unless_told_otherwise(policy_cfg, accelerator):
    assert devices(build_registered(policy_cfg)) == {"cpu"}
    assert devices(pickle.loads(pickle.dumps(registered_builder(policy_cfg)))()) == {"cpu"}
    assert devices(build_registered({**policy_cfg, "load_to_device": True})) == {"meta"}
