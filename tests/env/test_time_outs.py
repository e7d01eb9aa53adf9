# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Time-outs without their flag are told, from the configuration where it says so and else from what happens."""

from types import SimpleNamespace

import pytest
import torch
from test_isaac_env import NUM_ENVS, FakeIsaacEnv, build, step

from isaaclab_rlinf.config.schema import SuccessSpec
from isaaclab_rlinf.env.time_outs import TimeOutWatch, decided_time_outs, unflagged_time_outs


def term(function, flag=False):
    return SimpleNamespace(func=function, time_out=flag)


def time_out():
    """A function by whose name a time-out is known."""


def touched():
    """Another one."""


@pytest.mark.parametrize(
    ("name", "function", "flag", "told"),
    [
        ("time_out", touched, False, True),
        ("timeout", touched, False, True),
        ("max_episode_length", touched, False, True),
        ("over", time_out, False, True),
        ("over", "isaaclab.envs.mdp:time_out", False, True),
        ("time_out", time_out, True, False),
        ("success", touched, False, False),
        ("dropped", "module:dropped", False, False),
    ],
)
def test_terms_that_look_like_time_outs(name, function, flag, told):
    assert unflagged_time_outs({name: term(function, flag), "other": term(touched)}) == ((name,) if told else ())


def test_the_simulator_tells_it_with_the_override_that_helps(monkeypatch):
    assert not any("looks like a time-out" in notice for notice in build()[1].notices)
    flagless = lambda self, name: SimpleNamespace(time_out=False, func=SimpleNamespace(__name__=name))  # noqa: E731
    monkeypatch.setattr("test_isaac_env.FakeTerminations.get_term_cfg", flagless)
    _, isaac = build()
    assert any("{terminations.time_out.time_out: true}" in notice for notice in isaac.notices)


def test_a_flag_that_the_yaml_sets_is_a_decision_and_not_told(monkeypatch):
    flagless = lambda self, name: SimpleNamespace(time_out=False, func=SimpleNamespace(__name__=name))  # noqa: E731
    monkeypatch.setattr("test_isaac_env.FakeTerminations.get_term_cfg", flagless)
    env, isaac = build(env_overrides=(("terminations.time_out.time_out", False),))
    for _ in range(3):
        env.episode_length_buf[:] = FakeIsaacEnv.max_episode_length - 1
        step((env, isaac), ("time_out", 0), ("time_out", 1))
    assert not any("time-out" in notice for notice in isaac.notices)
    assert decided_time_outs(["rewards.x.weight", "terminations.over.time_out"]) == {"over"}


def watch(watcher, clocks, terminated, truncated=None):
    clock = torch.tensor(clocks)
    return watcher.observe(clock, torch.tensor(terminated), torch.tensor(truncated or [False] * len(clocks)))


def test_terminations_just_when_the_time_is_over_are_told_once():
    watcher = TimeOutWatch(100)
    assert watch(watcher, [40, 100], [True, True]) is None
    assert watch(watcher, [99, 100], [True, True]) is None
    told = watch(watcher, [100, 100], [True, True])
    assert "5 episodes ended as terminations" in told and "_get_dones" in told
    assert watch(watcher, [100, 100], [True, True]) is None


def test_tasks_that_report_a_time_out_are_left_alone():
    watcher = TimeOutWatch(100)
    assert watch(watcher, [100, 100], [False, False], [True, True]) is None
    assert all(watch(watcher, [100, 100], [True, True]) is None for _ in range(9))
    early = TimeOutWatch(100)
    assert all(watch(early, [40, 7], [True, True]) is None for _ in range(9))


def test_a_late_notice_of_a_live_environment():
    env, isaac = build(success=SuccessSpec(termination="success"))
    before = isaac.notices
    for _ in range(3):
        env.episode_length_buf[:] = FakeIsaacEnv.max_episode_length - 1
        step((env, isaac), ("dropped", 0), ("dropped", 1))
    assert len(isaac.notices) == len(before) + 1 and f"{3 * NUM_ENVS} episodes" in isaac.notices[-1]
