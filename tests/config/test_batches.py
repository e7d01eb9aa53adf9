# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Numbers that are advised are accepted when they are put in, whatever they are advised for."""

import itertools
import re
import shlex
from dataclasses import replace

import pytest
from bases import only

from isaaclab_rlinf.config.batches import Advice, Batches, advise, divisors, nearest_multiple
from isaaclab_rlinf.config.checks_arithmetic import check_arithmetic
from isaaclab_rlinf.config.checks_gpus import check_gpus
from isaaclab_rlinf.config.checks_placement import check_placement
from isaaclab_rlinf.config.validate import examine

CHECKS = (check_placement, check_arithmetic, check_gpus)
MICRO, BATCH = "actor.micro_batch_size", "actor.global_batch_size"


def accepted(cut: Batches) -> bool:
    """RLinf's own two conditions."""
    whole = cut.batch % (cut.micro * cut.ranks) == 0
    return whole and (cut.samples is None or (cut.samples // cut.ranks) % (cut.batch // cut.ranks) == 0)


def test_each_alternative_is_accepted():
    grid = itertools.product((1, 2, 3, 4, 8), (1, 2, 24, 100, 192), (1, 2, 7, 24, 64, 192, 500), (None, 1, 6, 96, 750))
    refused = 0
    for ranks, micro, batch, per_rank in grid:
        cut = Batches(batch, micro, ranks, per_rank and per_rank * ranks)
        assert accepted(cut) == (cut.is_whole and cut.divides)
        if accepted(cut):
            continue
        refused += 1
        advice = advise(cut)
        options = [replace(cut, batch=size) for size in advice.batches]
        options += [replace(cut, micro=advice.micro)] if advice.micro is not None else []
        options += [replace(cut, micro=advice.pair[0], batch=advice.pair[1])] if advice.pair is not None else []
        assert options and all(map(accepted, options)), (cut, advice)
        assert str(advice)
    assert refused > 500


def test_a_batch_that_can_stay_stays():
    assert advise(Batches(192, 192, 8, 768)) == Advice(micro=24)
    assert str(advise(Batches(192, 64, 2, 768))) == "actor.micro_batch_size: 48; or use 128 or 256 here"


def test_numbers_beyond_all_measure_take_no_time():
    assert divisors(10**30)[:3] == [1, 2, 4]
    assert nearest_multiple(52, 8) == 56 and nearest_multiple(3, 8) == 8


@pytest.fixture(scope="module")
def base(bundled_yaml):
    """The bundled configuration, migrated."""
    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.migrate import migrate

    cfg = compose_config(bundled_yaml)
    migrate(cfg)
    return cfg


def numbers_checked(base, source, gpus: int, values: dict):
    """Check the numbers of the bundled configuration with others in it."""
    from omegaconf import OmegaConf

    cfg = base.copy()
    for key, value in values.items():
        OmegaConf.update(cfg, key, value, merge=False, force_add=True)
    return examine(cfg, source=source, mode="train", num_accelerators=gpus, checks=CHECKS)


def alternatives(issue) -> list[dict]:
    """Return what the fix of an issue says to put in, each alternative as keys and values."""
    advice = issue.fix.partition("; or leave the numbers and take fewer GPUs: ")[0]
    if pair := re.fullmatch(rf"use {MICRO}: (\d+) with {BATCH}: (\d+)", advice):
        found = [{MICRO: int(pair[1]), BATCH: int(pair[2])}]
    else:
        micro = re.match(rf"{MICRO}: (\d+)", advice)
        found = [{MICRO: int(micro[1])}] if micro else []
        own = re.search(r"use (\d+)(?: or (\d+))?", advice)
        found += [{issue.where: int(number)} for number in (own.groups() if own else ()) if number]
    return found


def fewer_gpus(issue) -> dict:
    (override,) = shlex.split(issue.fix.partition("fewer GPUs: ")[2]) or [""]
    key, _, value = override.partition("=")
    return {key: {"actor,env,rollout": value}} if key else {}


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
@pytest.mark.parametrize("envs", [64, 50, 7])
def test_whatever_a_refusal_advises_is_accepted(gpus, envs, base, bundled_yaml):
    refused = 0
    for micro, batch in itertools.product((1, 24, 192), (8, 192, 500)):
        values = {
            "cluster.component_placement": {"actor,env,rollout": "all"},
            "env.train.total_num_envs": envs,
            "env.train.max_steps_per_rollout_epoch": 96,
            "env.train.rollout_epoch": 1,
            "env.eval.total_num_envs": 50,
            MICRO: micro,
            BATCH: batch,
        }
        issues = numbers_checked(base, bundled_yaml, gpus, values).issues
        for choice in itertools.product(*map(alternatives, issues)):
            refused += bool(issues)
            put_in = values | {key: value for part in choice for key, value in part.items()}
            again = numbers_checked(base, bundled_yaml, gpus, put_in).issues
            assert again == (), (values, [str(issue) for issue in issues], choice, list(map(str, again)))
        for fewer in filter(None, map(fewer_gpus, issues)):
            again = numbers_checked(base, bundled_yaml, gpus, values | fewer).issues
            assert again == (), (values, fewer, list(map(str, again)))
    assert refused


@pytest.mark.parametrize(
    "values",
    [
        {"env.train.max_steps_per_rollout_epoch": 50},
        {"env.train.max_steps_per_rollout_epoch": 7},
        {"env.eval.max_steps_per_rollout_epoch": 50, "env.eval.max_episode_steps": 50},
        {"env.eval.max_steps_per_rollout_epoch": 40},
        {"runner.val_check_interval": 4, "runner.save_interval": 10},
        {"runner.val_check_interval": 7, "runner.save_interval": 3},
    ],
    ids=str,
)
def test_lengths_and_intervals_that_are_advised_are_accepted(values, base, bundled_yaml):
    issues = numbers_checked(base, bundled_yaml, 0, values).issues
    assert issues
    for choice in itertools.product(*map(alternatives, issues)):
        put_in = values | {key: value for part in choice for key, value in part.items()}
        assert numbers_checked(base, bundled_yaml, 0, put_in).issues == ()


def test_without_gpus_no_gpus_are_advised(check):
    assert "GPU" not in only(check("actor.global_batch_size=500")).fix
