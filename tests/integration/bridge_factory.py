# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The real simulator with one switch: a reset seed of 1000 or more renders every action until the next seeded reset."""

from __future__ import annotations

from contextlib import contextmanager

from isaaclab_rlinf.env.isaac_factory import open_isaac_env

RENDER_EVERY_ACTION = 1000


class Switchable:
    def __init__(self, env):
        self._wrapped, self._every = env, False

    def __getattr__(self, name):
        return getattr(self._wrapped, name)

    def reset(self, seed=None):
        if seed is None:
            return self._wrapped.reset()
        self._every = seed >= RENDER_EVERY_ACTION
        return self._wrapped.reset(seed=seed % RENDER_EVERY_ACTION)

    def step(self, actions, *, render, **request):
        return self._wrapped.step(actions, render=render or self._every, **request)


@contextmanager
def open_switchable(spec):
    with open_isaac_env(spec) as env:
        yield Switchable(env)
