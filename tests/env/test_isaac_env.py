# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``IsaacEnv`` on a fake with Isaac Lab's interface and order of events: dones, resets, final observations, success."""

import dataclasses
from types import SimpleNamespace

import pytest
import torch
from fake_simulator import BLOCK, make_spec

from isaaclab_rlinf.config.schema import SuccessSpec
from isaaclab_rlinf.env.isaac_env import IsaacEnv
from isaaclab_rlinf.env.success import _assumption
from isaaclab_rlinf.mapping.errors import MappingError

NUM_ENVS = 2


class FakeTerminations:
    active_terms = ("success", "dropped", "time_out")

    def __init__(self, env):
        self.env = env
        self.fire = {name: torch.zeros(NUM_ENVS, dtype=torch.bool) for name in self.active_terms}

    def get_term_cfg(self, name):
        return SimpleNamespace(time_out=name == "time_out", func=SimpleNamespace(__name__=name))

    def get_term(self, name):
        return self.fire[name]

    def compute(self):
        self.terminated = self.fire["success"] | self.fire["dropped"]
        self.time_outs = self.fire["time_out"].clone()
        return self.terminated | self.time_outs


class FakeIsaacEnv:
    """The parts of ``ManagerBasedRLEnv`` that the bridge uses, in the order of its ``step()``."""

    num_envs, device, step_dt, max_episode_length = NUM_ENVS, "cpu", 0.05, 100

    def __init__(self):
        self.cfg = SimpleNamespace(compute_final_obs=False, instructions=("a",))
        self.termination_manager = FakeTerminations(self)
        self.action_manager = SimpleNamespace(
            active_terms=["joints"], action_term_dim=[2], get_term=lambda name: SimpleNamespace()
        )
        self.observation_manager = SimpleNamespace(
            active_terms={"policy": ["moment"]},
            group_obs_concatenate={"policy": False},
            group_obs_term_dim={"policy": [(1,)]},
        )
        self.episode_length_buf = torch.zeros(NUM_ENVS, dtype=torch.long)
        self.extras, self.resets = {}, []

    def observe(self):
        return {"policy": {"moment": self.episode_length_buf.clone()[:, None].float()}}

    def reset(self, seed=None):
        self.episode_length_buf[:] = 0
        return self.observe(), {}

    def close(self):
        pass

    def step(self, action):
        self.episode_length_buf += 1
        reset = self.termination_manager.compute()
        terminated, time_outs = self.termination_manager.terminated, self.termination_manager.time_outs
        if reset.any():
            if self.cfg.compute_final_obs:
                self.extras["final_obs"] = self.observe()
            self.resets.append(reset.tolist())
            self.episode_length_buf[reset] = 0
        return self.observe(), torch.ones(NUM_ENVS), terminated, time_outs, self.extras


def build(success=SuccessSpec(termination="success"), **changes):  # noqa: B008  frozen
    block = dataclasses.replace(BLOCK, success=success, main_images=None)
    env = FakeIsaacEnv()
    return env, IsaacEnv(env, make_spec(NUM_ENVS, 4, block, **changes))


def step(env, *fired, active=(True, True), **request):
    wrapped, isaac = env
    for term in wrapped.termination_manager.fire.values():
        term[:] = False
    for name, index in fired:
        wrapped.termination_manager.fire[name][index] = True
    return isaac.step(torch.zeros(NUM_ENVS, 2), render=True, active=torch.tensor(active), **request)


def test_named_success_is_not_any_termination():
    env = build()
    result = step(env, ("dropped", 0), ("success", 1))
    assert result.terminated.tolist() == [True, True]
    assert result.success.tolist() == [False, True]
    assert env[0].resets == [[True, True]]


def test_terminated_wins_over_truncated():
    result = step(build(), ("success", 0), ("time_out", 0), ("time_out", 1))
    assert result.terminated.tolist() == [True, False] and result.truncated.tolist() == [False, True]


def test_ignored_terminations_reset_nothing_but_still_tell_success():
    env = build(ignore_terminations=True)
    result = step(env, ("success", 0), ("dropped", 1))
    assert not result.terminated.any() and not result.truncated.any() and env[0].resets == []
    assert result.success.tolist() == [True, False]
    assert step(env, ("time_out", 0)).truncated.tolist() == [True, False]
    assert env[0].resets == [[True, False]]


def test_shorter_episode_truncates_although_no_term_fires():
    env = build(max_episode_steps=2)
    assert not step(env).truncated.any()
    result = step(env)
    assert result.truncated.all() and env[0].resets == [[True, True]]
    assert result.final_observation["policy"]["moment"].flatten().tolist() == [2.0, 2.0]
    assert result.observation["policy"]["moment"].flatten().tolist() == [0.0, 0.0]


def test_longer_episode_than_the_tasks_own_is_said():
    _, isaac = build(max_episode_steps=500)
    assert isaac.max_episode_steps == 100
    assert any("500" in notice and "100" in notice for notice in isaac.notices)


def test_forced_restart_is_not_reported_as_an_end():
    env = build()
    result = step(env, restart=torch.tensor([False, True]))
    assert env[0].resets == [[False, True]]
    assert not result.terminated.any() and not result.truncated.any() and result.final_observation is None


def test_final_observation_only_for_ends_of_active_environments():
    env = build()
    assert step(env, ("success", 0)).final_observation is None
    assert step(env, ("time_out", 0), active=(False, True)).final_observation is None
    assert step(env, ("time_out", 0), final="none").final_observation is None
    assert step(env, ("success", 0), final="done").final_observation is not None
    assert step(env, ("time_out", 1)).final_observation is not None
    assert step(env).final_observation is None, "not the one of the step before"


def test_success_conditions_are_checked_against_the_task():
    with pytest.raises(MappingError, match=r"no termination term 'sucess'\. Did you mean 'success'"):
        build(SuccessSpec(termination="sucess"))
    _, isaac = build(SuccessSpec())
    assert any("success, dropped" in notice for notice in isaac.notices)
    assert "'dropped' counts as success" in _assumption(["dropped"])
    assert step(build(SuccessSpec(reward_above=0.5))).success.all()
    assert not step(build(SuccessSpec(reward_above=1.5))).success.any()


@pytest.mark.parametrize(("sensors", "given", "then"), [(True, 0, 1), (True, 3, 3), (False, 0, 0)])
def test_no_episode_begins_with_the_image_of_another(sensors, given, then):
    """RTX shows the last render, which came before the reset; Isaac Lab's default is not to render again."""
    wrapped = FakeIsaacEnv()
    wrapped.has_rtx_sensors, wrapped.cfg.num_rerenders_on_reset = sensors, given
    isaac = IsaacEnv(wrapped, make_spec(NUM_ENVS, 4, dataclasses.replace(BLOCK, main_images=None)))
    assert wrapped.cfg.num_rerenders_on_reset == then
    assert any("num_rerenders_on_reset" in notice for notice in isaac.notices) == (then != given)
