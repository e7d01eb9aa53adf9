# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What passes the check is read by the rest of the run without an exception: play without the training's keys first."""

from __future__ import annotations

import random

import pytest
from mutate import changed, nonsense, removed
from omegaconf import OmegaConf
from second_paths import prepared, read_everything

from isaaclab_rlinf.config.checks_sections import TRAIN_SECTIONS
from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError

MODEL = ("actor", "model")


@pytest.fixture(scope="module")
def base(bundled_yaml):
    return OmegaConf.to_container(compose_config(bundled_yaml), resolve=False)


@pytest.fixture(scope="module")
def evaluation(base):
    """The bundled YAML without anything that only a training reads."""
    raw = changed(base, ("rollout", "model"), dict(base["actor"]["model"]))
    for path in TRAIN_SECTIONS:
        raw = removed(raw, tuple(path.split(".")))
    for key in ("noise_anneal", "noise_params"):  # exploration over the steps of a training
        raw = removed(raw, ("rollout", "model", "rl_head_config", key))
    return changed(raw, ("runner",), {key: raw["runner"][key] for key in ("task_type", "logger")})


@pytest.fixture
def go(bundled_yaml, tmp_path):
    def run(raw, mode, **given):
        prepared_run = prepared(raw, bundled_yaml, mode, **given)
        read_everything(prepared_run, mode, tmp_path / "run")
        return prepared_run

    return run


@pytest.mark.parametrize("mode", ["train", "play"])
def test_the_bundled_yaml_is_read_to_the_end(base, go, mode):
    go(base, mode, seed=2**32 - 1, num_envs=None)


def test_play_needs_nothing_of_the_training(evaluation, go):
    cfg = go(evaluation, "play", task="Isaac-Touch-Color-Arm3-v0", model_path="bundled").cfg
    assert "train" not in cfg.env and "algorithm" not in cfg
    assert cfg.actor == {"seed": 1042, "group_name": "ActorGroup"}


@pytest.mark.parametrize(
    "key",
    [
        "env.train",
        "env.train.video_cfg",
        "env.train.init_params",
        "env.train.init_params.id",
        "env.train.env_type",
        "env.train.isaaclab",
        "env.train.seed",
        "actor.group_name",
        "actor.seed",
        "actor.training_backend",
        "actor.fsdp_config",
        "actor.micro_batch_size",
        "algorithm.loss_type",
        "weight_syncer.bucket",
    ],
)
def test_play_needs_none_of_these_keys_alone(base, go, key):
    path = tuple(key.split("."))
    assert go(removed(base, path), "play", task="Isaac-Touch-Color-Arm3-v0").episodes == 50
    with pytest.raises(ConfigError):
        go(removed(base, path), "train")


def test_what_the_rollout_inherits_is_missed_where_it_is_written(base, go):
    with pytest.raises(ConfigError) as error:
        go(removed(base, ("actor", "model", "action_dim")), "play")
    assert [issue.where for issue in error.value.issues] == ["actor.model.action_dim"]


def test_training_without_videos_of_an_evaluation_that_it_does_not_make(base, go):
    raw = changed(removed(base, ("env", "eval", "video_cfg")), ("runner", "val_check_interval"), -1)
    assert "video_cfg" not in go(raw, "train").cfg.env.eval


@pytest.mark.parametrize("flag", [{"num_episodes": 7}, {"num_envs": 7}])
def test_episodes_fill_whole_groups(base, go, flag):
    run = go(changed(base, ("env", "eval", "group_size"), 4), "play", **flag)
    assert (run.episodes, run.cfg.env.eval.total_num_envs) == (7, 8)


def test_lora_without_a_rank_is_refused(base, go):
    for mode in ("train", "play"):
        with pytest.raises(ConfigError, match="lora_rank"):
            go(changed(base, (*MODEL, "is_lora"), True), mode)


@pytest.mark.parametrize("mode", ["train", "play"])
def test_nonsense_is_refused_or_read_to_the_end(base, go, mode):
    # a sample of some thousand
    for name, path, value in random.Random(7).sample(nonsense(base), 40):
        raw = removed(base, path) if value is ... else changed(base, path, value)
        try:
            go(raw, mode)
        except ConfigError:
            continue
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {error}")
