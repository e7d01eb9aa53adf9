# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A direct-workflow task through the whole bridge, from RLinf's env section on."""

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv
from isaaclab_rlinf.mapping.errors import MappingError

pytestmark = pytest.mark.integration

NUM_ENVS, CHUNK, EPISODE = 3, 4, 10


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    cfg = OmegaConf.create(
        {
            "seed": 1,
            "auto_reset": True,
            "ignore_terminations": False,
            "max_episode_steps": EPISODE,
            "reward_coef": 2.0,
            "video_cfg": {"save_video": False},
            "init_params": {
                "id": "Test-Direct-Arm-v0",
                "device": "cpu",
                "action_chunk": CHUNK,
                "import_modules": ["direct_task"],
                "log_dir": str(tmp_path_factory.mktemp("log")),
                "env_overrides": {"scene.front_camera.width": 48, "scene.front_camera.height": 32},
            },
            "isaaclab": {
                "task_description": "lift the arm",
                "main_images": "camera",
                "states": [{"key": "policy", "slice": [0, 3]}],
                "success": {"reward_above": 0.5},
                "action_mapping": {"suffix_pad": 1},
            },
        }
    )
    environment = IsaacLabGenericEnv(cfg, NUM_ENVS, 0, 1, None)
    yield environment
    environment.close()


def targets(joint_1):
    return torch.tensor(joint_1)[:, None, None].expand(-1, CHUNK, 2) * torch.tensor([1.0, 0.0])


def test_direct_task(env):
    assert any("rendered for every action" in notice for notice in env.simulator.handshake.notices)
    rows = [line.split() for line in env.describe_mapping().splitlines()]
    assert ["main_images", "camera"] in rows and ["states[0:3]", "policy[0:3]"] in rows
    assert ["actions", "3", "direct-workflow", "task"] in rows
    obs, _ = env.reset()
    assert obs["main_images"].shape == (NUM_ENVS, 32, 48, 3) and obs["main_images"].dtype == torch.uint8
    assert obs["states"].shape == (NUM_ENVS, 3) and obs["task_descriptions"] == ["lift the arm"] * NUM_ENVS
    assert (obs["states"][:, 0] < -0.4).all()

    # Environment 0 reaches the goal in the first chunk, the others stay below until they time out in the third.
    obs, rewards, terminations, truncations, infos = env.chunk_step(targets([1.0, 0.0, 0.0]))
    assert terminations[:, -1].tolist() == [True, False, False] and not truncations.any()
    assert (rewards[0].sum(), rewards[1:].sum()) == (2.0, 0.0), "one rewarded step, times reward_coef"
    info = infos[-1]
    assert info["final_info"]["episode"]["success_once"].tolist() == [True, False, False]
    assert info["final_info"]["episode"]["return"].tolist() == [2.0, 0.0, 0.0]
    assert "final_observation" not in info, "no time-out, no bootstrap"
    assert obs[-1]["states"][0, 0] < -0.4, "an initial state, not one that stale actions drove"

    env.chunk_step(targets([-0.5, 0.0, 0.0]))
    before = env.chunk_step(targets([-0.5, 0.5, 0.5]))
    obs, _, terminations, truncations, infos = before
    assert truncations[:, -1].tolist() == [False, True, True] and not terminations.any()
    final = infos[-1]["final_observation"]
    assert infos[-1]["final_info"]["episode"]["episode_len"].tolist()[1:] == [EPISODE, EPISODE]
    assert (final["states"][1:, 0] > 0.3).all(), "the old episode's pose"
    assert (obs[-1]["states"][1:, 0] < -0.4).all(), "the new one's"
    assert torch.equal(final["states"][0], obs[-1]["states"][0])
    # The image of the old pose is not the image of the new one: neither buffer was overwritten by the reset.
    changed = (final["main_images"][1:].int() - obs[-1]["main_images"][1:].int()).abs().amax(-1) > 24
    assert changed.float().mean(dim=(1, 2)).min() > 0.005


def test_wrong_actions_are_refused_before_they_reach_the_simulator(env):
    with pytest.raises(MappingError, match="expected \\(3, 4\\)"):
        env.chunk_step(torch.zeros(NUM_ENVS, CHUNK + 1, 2))
    with pytest.raises(MappingError, match="action_dim"):
        env.chunk_step(torch.zeros(NUM_ENVS, CHUNK, 5))
    with pytest.raises(MappingError, match="environment 2 is nan"):
        env.chunk_step(targets([0.0, 0.0, float("nan")]))
