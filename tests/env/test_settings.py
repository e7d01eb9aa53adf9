# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From RLinf's env section to a simulator specification, and the overrides of a task's configuration."""

import pickle
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from isaaclab_rlinf.env.isaac_factory import build_env_cfg
from isaaclab_rlinf.env.settings import ConfigError, simulator_spec_from_config


def section(**changes):
    base = {
        "seed": 10,
        "auto_reset": False,
        "max_episode_steps": 48,
        "video_cfg": {"save_video": False, "video_base_dir": "videos"},
        "init_params": {"id": "Task-v0", "action_chunk": 8, "env_overrides": {"a.b": 2}, "log_dir": "logs"},
        "isaaclab": {"task_description": "do it", "main_images": "front", "states": ["joint_pos"]},
    }
    return OmegaConf.merge(OmegaConf.create(base), OmegaConf.create(changes))


def test_spec_from_config():
    spec = simulator_spec_from_config(section(), num_envs=4, seed_offset=3)
    assert (spec.task_id, spec.num_envs, spec.seed, spec.chunk_length) == ("Task-v0", 4, 13, 8)
    assert (spec.max_episode_steps, spec.auto_reset, spec.video) == (48, False, None)
    assert spec.env_overrides == (("a.b", 2),)
    assert spec.block.main_images == "front" and spec.log_file.startswith("logs/")
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_video_settings():
    spec = simulator_spec_from_config(section(video_cfg={"save_video": True, "max_envs": 9}), 4)
    assert spec.video.directory == "videos" and spec.video.max_envs == 9


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"init_params": {"final_observation": "always"}}, "allowed are 'truncated' and 'done'"),
        ({"data_collection": {"enabled": True}}, "isaaclab-rlinf collect"),
        ({"isaaclab": {"main_imagse": "front"}}, "main_imag"),
        ({"video_cfg": {"save_video": True, "video_base_dir": None}}, "video_base_dir"),
    ],
)
def test_mistakes(changes, needle):
    with pytest.raises(ConfigError, match=needle):
        simulator_spec_from_config(section(**changes), 4)


def test_missing_chunk_length():
    cfg = section()
    del cfg.init_params.action_chunk
    with pytest.raises(ConfigError, match="action_chunk is missing"):
        simulator_spec_from_config(cfg, 4)


def test_unknown_task_names_the_nearest_and_what_could_not_be_loaded():
    spec = SimpleNamespace(task_id="Isaac-Touch-Colour-Arm3-v0")
    with pytest.raises(ValueError, match="Did you mean 'Isaac-Touch-Color-Arm3-v0'") as caught:
        import isaaclab_rlinf.tasks  # noqa: F401

        build_env_cfg(spec, ["entry point 'x = y': ImportError: z"])
    assert "could not load entry point 'x = y'" in str(caught.value)
