# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every key of both base configurations, broken in several ways: each gets a report that names it."""

from __future__ import annotations

import time

import pytest
from mutate import changed, mutations, paths, removed
from omegaconf import OmegaConf

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.validate import examine


def base_of(source, model_dir):
    overrides = [f"actor.model.model_path={model_dir}", f"rollout.model.model_path={model_dir}"]
    return OmegaConf.to_container(compose_config(source, overrides), resolve=False)


def outcome_of(raw, source):
    cfg = OmegaConf.create(raw)
    migrate(cfg)
    return examine(cfg, source=source, mode="train", num_accelerators=0)


def unnamed(source, model_dir, keep=lambda name: True):
    """Return how many mutations were tried and those whose key the report does not name."""
    missed, tried = [], 0
    for mutation in mutations(base_of(source, model_dir)):
        if not keep(mutation.name):
            continue
        tried += 1
        where = [issue.where for issue in outcome_of(mutation.cfg, source).issues]
        named = any(
            path == key or path.startswith((f"{key}.", f"{key}[")) for path in where for key in mutation.expected
        )
        if not named:
            missed.append((mutation.name, where))
    return tried, missed


def test_the_bases_are_valid(bundled_yaml, trocar_yaml, model_dir):
    for source in (bundled_yaml, trocar_yaml):
        assert outcome_of(base_of(source, model_dir), source).issues == ()


def test_every_mutation_of_the_bundled_yaml_is_named(bundled_yaml, model_dir):
    tried, missed = unnamed(bundled_yaml, model_dir)
    assert tried >= 400
    assert missed == []


def test_every_mutation_of_the_shipped_yamls_blocks_is_named(trocar_yaml, model_dir):
    # its other sections have the same keys as the bundled YAML's
    tried, missed = unnamed(
        trocar_yaml, model_dir, keep=lambda name: ".isaaclab" in name or name.startswith("actor.model")
    )
    assert tried >= 200
    assert missed == []


REQUIRED = [
    "cluster.component_placement",
    "runner.logger.log_path",
    "runner.max_epochs",
    "runner.save_interval",
    "algorithm.adv_type",
    "algorithm.gamma",
    "algorithm.clip_ratio_high",
    "env.group_name",
    "env.train.total_num_envs",
    "env.train.max_steps_per_rollout_epoch",
    "env.train.init_params.id",
    "env.train.isaaclab",
    "env.train.isaaclab.task_description",
    "env.train.isaaclab.main_images",
    "env.eval.init_params",
    "rollout.pipeline_stage_num",
    "actor.micro_batch_size",
    "actor.model.model_type",
    "actor.model.action_dim",
    "actor.optim.lr",
    "actor.fsdp_config.mixed_precision",
]


@pytest.mark.parametrize("key", REQUIRED)
@pytest.mark.parametrize("how", ["removed", "null"])
def test_required_keys(key, how, bundled_yaml, model_dir):
    base = base_of(bundled_yaml, model_dir)
    path = tuple(key.split("."))
    raw = removed(base, path) if how == "removed" else changed(base, path, None)
    assert key in [issue.where for issue in outcome_of(raw, bundled_yaml).issues]


def test_the_generator_reaches_every_key(bundled_yaml, model_dir):
    base = base_of(bundled_yaml, model_dir)
    names = " ".join(mutation.name for mutation in mutations(base))
    leaves = [path for path in paths(base) if path[0] != "hydra" and isinstance(path[-1], str)]
    assert all(".".join(map(str, path)) in names for path in leaves if not any(isinstance(p, int) for p in path))


def test_a_report_takes_a_fraction_of_a_second(bundled_yaml, model_dir):
    raw = changed(base_of(bundled_yaml, model_dir), ("env", "train", "isaaclab", "main_images"), "front_camra")
    outcome_of(raw, bundled_yaml)
    began = time.process_time()
    assert outcome_of(raw, bundled_yaml).issues
    assert time.process_time() - began < 0.3
