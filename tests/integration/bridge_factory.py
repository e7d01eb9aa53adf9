# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The real simulator with two switches in a reset's seed.

From 1000 on every action is rendered until the next seeded reset. From 2000 on the child itself checks that hold
actions hold, and fails if not.
"""

from __future__ import annotations

from contextlib import contextmanager

import torch

from isaaclab_rlinf.compat.isaaclab_actions import pose_holder
from isaaclab_rlinf.env.isaac_factory import open_isaac_env

RENDER_EVERY_ACTION = 1000
CHECK_HOLD = 2000


class Switchable:
    def __init__(self, env):
        self._wrapped, self._every = env, False

    def __getattr__(self, name):
        return getattr(self._wrapped, name)

    def reset(self, seed=None):
        if seed is None:
            return self._wrapped.reset()
        self._every = RENDER_EVERY_ACTION <= seed < CHECK_HOLD
        if seed >= CHECK_HOLD:
            self._check_hold()
        return self._wrapped.reset(seed=seed % RENDER_EVERY_ACTION)

    def _check_hold(self):
        """Stops every arm in full motion and wants it to stay within 0.02 rad of where the hold action says."""
        env = self._wrapped._env
        hold = pose_holder(env)
        generator = torch.Generator().manual_seed(0)
        active = torch.ones(env.num_envs, dtype=torch.bool)
        self._wrapped.reset(seed=3)
        self._wrapped.step(torch.rand(env.num_envs, 3, generator=generator) * 2 - 1, render=False, active=active)
        actions = hold()
        joints = env.scene["arm"].data.joint_pos.torch
        assert torch.equal(actions, joints), "scale 1 and offset 0: the action is the pose"
        result = None
        for _ in range(5):
            result = self._wrapped.step(actions, render=False, active=active)
            assert not (result.terminated | result.truncated).any(), "choose another seed"
        drift = (result.observation["policy"]["joint_pos"] - actions).abs().max()
        assert drift < 0.02, f"drifted {drift:.3f} rad"
        assert result.observation["camera_images"] == {}, "not asked for, not rendered, and no old image either"

    def step(self, actions, *, render, **request):
        return self._wrapped.step(actions, render=render or self._every, **request)


@contextmanager
def open_switchable(spec, report):
    with open_isaac_env(spec, report) as env:
        yield Switchable(env)
