# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A third-party policy as a user would register it through ``extensions:``: a Gaussian over joint targets.

With ``TOY_LOGPROB_ERROR`` set, its training-time log-probabilities are off by that much, as a faulty model's would be.
"""

import os

import torch
from torch import nn


def register():
    """RLinf's hook."""
    from rlinf.models import register_model

    register_model("toy_gaussian", build, category="embodied", force=True)


def build(cfg, torch_dtype):
    """RLinf's builder."""
    from rlinf.models.embodiment.base_policy import BasePolicy

    class ToyLayer(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs)

        def forward(self, x):
            return torch.tanh(self.linear(x))

    class ToyPolicy(nn.Module, BasePolicy):
        _no_split_modules = ["ToyLayer"]  # noqa: RUF012
        forward = BasePolicy.forward  # nn.Module's would win otherwise

        def __init__(self):
            nn.Module.__init__(self)
            self.body = ToyLayer(6, 32)
            self.mean = nn.Linear(32, cfg.num_action_chunks * cfg.action_dim)
            self.value_head = nn.Linear(32, 1)

        def distribution(self, states):
            hidden = self.body(states)
            mean = self.mean(hidden).unflatten(-1, (cfg.num_action_chunks, cfg.action_dim))
            return torch.distributions.Normal(mean, 0.1), self.value_head(hidden)

        def predict_action_batch(self, env_obs, mode="train", **kwargs):
            states = env_obs["states"].float()
            normal, values = self.distribution(states)
            actions = normal.sample() if mode == "train" else normal.mean
            inputs = {"states": states, "action": actions}
            return actions, {
                "prev_logprobs": normal.log_prob(actions),
                "prev_values": values,
                "forward_inputs": inputs,
            }

        def default_forward(self, forward_inputs, **kwargs):
            normal, values = self.distribution(forward_inputs["states"])
            error = float(os.environ.get("TOY_LOGPROB_ERROR", "0"))
            logprobs = normal.log_prob(forward_inputs["action"]) + error
            return {"logprobs": logprobs, "values": values, "entropy": normal.entropy()}

    return ToyPolicy().to(torch_dtype)
