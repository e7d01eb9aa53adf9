# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.5 through the real pipeline on the CPU, with a stand-in for the ``gr00t`` package (tests/standin_gr00t)."""

import importlib.util
from pathlib import Path

import pytest
import torch
from commands import SMALL, metrics, run, run_directory
from omegaconf import OmegaConf

from n1d5_kit import HEAD, STANDIN, standin_package, write_checkpoint

pytestmark = [pytest.mark.integration, pytest.mark.slow]

BASE = "tasks/touch_color/config/isaaclab_ppo_gr00t_n1d7_touch_color.yaml"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a checkpoint and a task YAML for it."""
    place = tmp_path_factory.mktemp("n1d5")
    (place / "config").mkdir()
    parts = {"arm": 3}
    with standin_package():
        write_checkpoint(
            place / "config", ("arm3",), dict.fromkeys(("front", "wrist"), (64, 64)), {"pos": 3, "vel": 3}, parts
        )
    cfg = OmegaConf.load(Path(importlib.util.find_spec("isaaclab_rlinf").origin).parent / BASE)
    block = {
        "embodiment_tag": "arm3",
        "embodiment_tag_id": 5,
        "data_config_class": "my_config.py:Config",
        "obs_converter_type": "touch",
        "gr00t_mapping": {
            "video": {"main_images": "video.front", "wrist_images": "video.wrist"},
            "state": [{"gr00t_key": "state.pos", "slice": [0, 3]}, {"gr00t_key": "state.vel", "slice": [3, 6]}],
        },
        "action_mapping": {"keys": ["action.arm"], "scale": 0.1},
    }
    for mode in ("train", "eval"):
        cfg.env[mode].isaaclab = OmegaConf.merge(cfg.env[mode].isaaclab, {"gr00t_mapping": None}, block)
    keep = {key: cfg.actor.model[key] for key in ("action_dim", "num_action_chunks", "denoising_steps")}
    model = {"model_type": "gr00t", "model_path": str(place / "config"), "precision": "fp32", "is_lora": False}
    cfg.actor.model = {**model, **keep, "add_value_head": True, "rl_head_config": HEAD}
    OmegaConf.save(cfg, place / "config/n1d5.yaml")
    return place


def command(place, mode, *rest, **env):
    return run(mode, "--rl_library", "rlinf", "--config_name", "n1d5", "--device", "cpu", *rest, cwd=place, **env)


def test_without_the_package_nothing_starts(place):
    ended = command(place, "train", *SMALL)
    assert ended.code == 2
    assert "scripts/install_gr00t_n1d5.sh" in (ended.out + ended.err).replace("\n", " ")
    assert not (place / "logs").exists()


def test_train_and_play(place):
    path = {"PYTHONPATH": str(STANDIN)}
    ended = command(place, "train", "--max_iterations", "2", *SMALL, **path)
    assert ended.code == 0, ended.out + ended.err
    run_dir = run_directory(place)
    assert [record["step"] for record in metrics(run_dir)] == [1, 2]
    assert "ratio" not in "".join(line for line in ended.out.splitlines() if "WARNING" in line)
    weights = next(run_dir.rglob("global_step_2/actor/model_state_dict/full_weights.pt"))
    after = torch.load(weights, weights_only=True)
    from safetensors.torch import load_file

    before = load_file(place / "config/model.safetensors")
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert any(key.startswith("action_head.") for key in changed)
    assert not any(key.startswith("backbone.") for key in changed)
    assert {key for key in after if key not in before} == {key for key in after if "action_head.value_head." in key}
    ended = command(place, "play", "--checkpoint", "latest", "--num_episodes", "4", "--num_envs", "4", **path)
    assert ended.code == 0, ended.out + ended.err
