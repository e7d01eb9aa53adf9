# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Overrides of a task's env cfg: what they may set, and to what."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from isaaclab_rlinf.config.overrides import OverrideError, apply_overrides, owned_overrides, set_by_path

WHERE = "env.train.init_params.env_overrides"


@dataclass
class Term:
    weight: float = 1
    time_out: bool = False
    func: object = print
    stiffness: dict[str, float] | float | None = 1.0
    limits: tuple[float, float] = (0.0, 1.0)
    anything: Any = 3


@dataclass
class Sim:
    dt: float = 0.05
    render_interval: int = 1


@dataclass
class Cfg:
    decimation: int = 4
    episode_length_s: float = 2.0
    name: str = "x"
    sim: Sim = field(default_factory=Sim)
    term: Term = field(default_factory=Term)
    table: dict[str, float] = field(default_factory=lambda: {"mass": 1.0})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("term.weight", 0.5),  # the default is a whole number, the type is not
        ("term", None),
        ("term.func", "module:function"),
        ("term.stiffness", {"joint": 1}),
        ("term.stiffness", None),
        ("term.anything", "text"),
        ("table.mass", 2),
        ("sim.dt", 1),
        ("decimation", 1),
    ],
)
def test_values_that_fit(path, value):
    cfg = Cfg()
    assert apply_overrides(cfg, {path: value}) == []
    target, last = cfg, path.split(".")[-1]
    for part in path.split(".")[:-1]:
        target = getattr(target, part)
    assert (target[last] if isinstance(target, dict) else getattr(target, last)) == value


def test_a_list_becomes_the_tuple_that_stands_there():
    cfg = Cfg()
    set_by_path(cfg, "term.limits", [2.0, 3.0])
    assert cfg.term.limits == (2.0, 3.0)


@pytest.mark.parametrize(
    ("path", "value", "found", "allowed"),
    [
        ("decimation", 0, "0", "a whole number >= 1"),
        ("decimation", -2, "-2", "a whole number >= 1"),
        ("decimation", 2.5, "2.5 in place of 4", "a whole number"),
        ("decimation", "4", "'4' in place of 4", "a whole number"),
        ("decimation", None, "null in place of 4", "a whole number"),
        ("decimation", True, "True in place of 4", "a whole number"),
        ("sim.render_interval", 0, "0", "a whole number >= 1"),
        ("sim.dt", 0, "0", "a number of seconds > 0"),
        ("sim.dt", -0.05, "-0.05", "a number of seconds > 0"),
        ("sim.dt", float("nan"), "nan is not finite", "a finite number"),
        ("episode_length_s", -1.0, "-1.0", "a number of seconds > 0"),
        ("term.weight", "high", "'high' in place of 1", "a number"),
        ("term.weight", float("inf"), "inf is not finite", "a finite number"),
        ("term.time_out", 1, "1 in place of False", "true or false"),
        ("term.limits", 3, "3 in place of (0.0, 1.0)", "a list"),
        ("term", 3, "3 in place of a Term", "null"),
        ("sim", {"dt": 1}, "{'dt': 1} in place of a Sim", "null"),
        ("term.wieght", 1, "term has no 'wieght'", "anything, func, limits, stiffness, time_out, weight"),
        ("tern.weight", 1, "the env cfg has no 'tern'", None),
    ],
)
def test_values_that_make_no_sense(path, value, found, allowed):
    cfg = Cfg()
    (issue,) = apply_overrides(cfg, {path: value})
    assert (issue.where, issue.found) == (path, found)
    assert allowed is None or issue.allowed == allowed
    assert cfg == Cfg(), "what is wrong is not set"
    with pytest.raises(OverrideError):
        set_by_path(cfg, path, value)


def test_every_mistake_is_reported_and_the_rest_is_set():
    cfg = Cfg()
    issues = apply_overrides(cfg, {"sim.dtt": 1, "term.weight": 2.0, "decimation": 0, "nane": ""})
    assert [issue.where for issue in issues] == ["sim.dtt", "decimation", "nane"]
    assert issues[0].fix == "did you mean 'dt'?" and cfg.term.weight == 2.0


def test_untyped_configurations_are_judged_by_what_stands_there():
    cfg = SimpleNamespace(count=3, sim=SimpleNamespace(dt=1))
    assert apply_overrides(cfg, {"count": 2.5, "sim.dt": 0.01}) == []
    assert [issue.where for issue in apply_overrides(cfg, {"count": "3"})] == ["count"]


def test_attributes_with_a_key_of_their_own_name_it():
    issues = owned_overrides({"scene.num_envs": 7, "seed": 3, "sim.device": "cuda:1", "decimation": 2}, "env.eval")
    assert [issue.fix for issue in issues] == [
        "set env.eval.total_num_envs",
        "set env.eval.seed",
        "set env.eval.init_params.device",
    ]
    assert issues[0].where == "env.eval.init_params.env_overrides.scene.num_envs"


def test_the_check_reports_all_of_them_before_anything_starts(check):
    given = "{scene.num_envs: 7, seed: 3, decimation: 0, sim.dt: -1, rewards.succes.weight: 1, rewards.success: 5}"
    outcome = check(f"++{WHERE}={given}")
    found = sorted(issue.where.removeprefix(f"{WHERE}.") for issue in outcome.issues)
    assert found == ["decimation", "rewards.succes.weight", "rewards.success", "scene.num_envs", "seed", "sim.dt"]


@pytest.mark.parametrize("key", ["actor.seed", "env.train.seed", "env.eval.seed"])
@pytest.mark.parametrize("value", [100_000_000_000, 2**32, -1])
def test_seeds_that_numpy_refuses(check, key, value):
    (issue,) = check(f"{key}={value}").issues
    assert (issue.where, issue.allowed) == (key, "a whole number >= 0 and <= 4294967295")
    assert check(f"{key}={2**32 - 1}").issues == ()
