# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A direct-workflow task's observations are its own live buffers: they are copied where they leave it."""

from types import SimpleNamespace

import torch

from isaaclab_rlinf.compat.isaaclab_dones import hook_direct_dones


class LiveTask:
    def __init__(self):
        self.cfg = SimpleNamespace(compute_final_obs=False)
        self.picture = torch.zeros(2, 4, 4, 3, dtype=torch.uint8)
        self.joints = torch.zeros(2, 3)

    def _get_dones(self):
        return torch.zeros(2, dtype=torch.bool), torch.zeros(2, dtype=torch.bool)

    def _compute_observations(self):
        return {"policy": {"joints": self.joints}, "front": self.picture}


def test_observations_of_every_step_stay_as_they_were():
    task = LiveTask()
    hook_direct_dones(task, lambda terminated, truncated: terminated | truncated)
    before = task._compute_observations()
    task.picture += 1
    task.joints += 1
    after = task._compute_observations()
    assert before["front"].max() == 0 and before["policy"]["joints"].max() == 0
    assert after["front"].min() == 1 and after["policy"]["joints"].min() == 1
