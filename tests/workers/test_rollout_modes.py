# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from isaaclab_rlinf.workers.rollout import RolloutWorker


@pytest.mark.parametrize(
    ("module", "told"), [("rlinf.models.embodiment.openvla.openvla_action_model", False), ("my_vla", True)]
)
def test_the_mode_travels_in_the_sampling_parameters_unless_generate_would_refuse_it(module, told):
    model = type("Policy", (), {"__module__": module})()
    for policy in (model, SimpleNamespace(get_base_model=lambda: model)):
        worker = object.__new__(RolloutWorker)
        worker.cfg, worker.expert_model, worker.hf_model = OmegaConf.create({"rollout": {}}), None, policy
        worker.setup_sample_params()
        assert worker._train_sampling_params == ({"mode": "train"} if told else {})
        assert worker._eval_sampling_params == ({"mode": "eval"} if told else {})
