# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is read of a task's configuration where it holds presets."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import gymnasium
import pytest

from isaaclab_rlinf.config.task_facts import _is_preset, _values_read, read_task

REACH = "Isaac-Reach-Franka"


@pytest.fixture(scope="module")
def reach():
    import isaaclab_tasks  # noqa: F401  registers it

    return gymnasium.registry[REACH]


def test_presets_inside_sections_are_chosen_as_the_simulator_chooses(reach):
    facts, hold = read_task(reach), read_task(reach, presets=["presets=hold"])
    assert "success" in facts.terminations and "success" not in hold.terminations
    assert "ee_target_error" in hold.groups["policy"] and "ee_target_error" not in facts.groups["policy"]
    assert facts.rewards["action_magnitude"] < 0 and hold.rewards["success"] == 10.0
    assert facts.episode_steps > 1


def test_an_override_may_go_through_a_preset(reach):
    before = read_task(reach)
    after = read_task(reach, {"sim.physics.num_substeps": 3, "rewards.action_magnitude.weight": 0.5})
    assert after.rewards == {**before.rewards, "action_magnitude": 0.5}
    (problem,) = read_task(reach, {"sim.physics.nonsense": 3}).problems
    assert (problem.where, problem.found) == ("sim.physics.nonsense", "sim.physics has no 'nonsense'")


class PresetCfg:
    """Known by its name, so that its module need not be imported."""


@dataclass
class Group:
    speed: object = None


@dataclass
class Observations:
    policy: Group = field(default_factory=Group)


@pytest.mark.parametrize(
    ("changes", "paths", "expected"),
    [
        ({}, (), False),
        ({"decimation": PresetCfg()}, (), True),
        ({"sim": SimpleNamespace(dt=PresetCfg())}, (), True),
        ({"observations": Observations(Group(PresetCfg()))}, (), True),
        ({"rewards": Observations(Group(PresetCfg()))}, (), True),
        ({"sim": SimpleNamespace(dt=1, physics=PresetCfg())}, (), False),
        ({"sim": SimpleNamespace(dt=1, physics=PresetCfg())}, ("sim.physics.substeps",), True),
        ({"scene": {"robot": PresetCfg()}}, ("scene.robot.mass", "decimation"), True),
        ({"scene": {"robot": PresetCfg()}}, ("scene.robot",), False),
    ],
)
def test_presets_are_resolved_only_where_they_matter(changes, paths, expected):
    cfg = SimpleNamespace(**{"observations": Observations(), "rewards": None, "decimation": 2, **changes})
    assert any(map(_is_preset, _values_read(cfg, paths))) is expected
