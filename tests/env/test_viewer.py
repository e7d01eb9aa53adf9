# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The camera of videos: in the scene only when one is recorded, read before a reset, for a few environments."""

from types import SimpleNamespace

import pytest
import torch
from fake_simulator import BLOCK, make_spec
from test_isaac_env import NUM_ENVS, FakeIsaacEnv

from isaaclab_rlinf.compat.newton_cameras import WorldSelection
from isaaclab_rlinf.env.isaac_env import IsaacEnv
from isaaclab_rlinf.env.protocol import VideoSpec
from isaaclab_rlinf.env.viewer import ViewerCamera, add_viewer_camera

VIDEO = VideoSpec("videos", width=200, height=100, max_envs=1)


def configuration(**scene):
    camera = SimpleNamespace(width=1, height=1)
    return SimpleNamespace(viewer_camera=camera, scene=SimpleNamespace(**scene))


def test_the_camera_joins_the_scene_only_for_a_video_and_in_its_size():
    cfg = configuration()
    add_viewer_camera(cfg, None)
    assert not hasattr(cfg.scene, "viewer_camera")
    add_viewer_camera(cfg, VIDEO)
    assert (cfg.scene.viewer_camera.width, cfg.scene.viewer_camera.height) == (200, 100)
    assert cfg.viewer_camera.width == 1, "the task's own configuration stays as it is"


def test_tasks_without_one_and_scenes_with_their_own_are_left_alone():
    own = object()
    cfg = configuration(viewer_camera=own)
    add_viewer_camera(cfg, VIDEO)
    assert cfg.scene.viewer_camera is own
    plain = SimpleNamespace(scene=SimpleNamespace())
    add_viewer_camera(plain, VIDEO)
    assert vars(plain.scene) == {}


class Sensor:
    """A camera whose every pixel is the clock of its environment, in one live buffer as simulators have it."""

    def __init__(self, env):
        self.env, self.reads = env, 0
        self.buffer = torch.zeros(NUM_ENVS, 2, 2, 4, dtype=torch.uint8)

    @property
    def data(self):
        self.reads += 1
        self.buffer[:] = self.env.episode_length_buf[:, None, None, None].to(torch.uint8)
        return SimpleNamespace(output={"rgb": self.buffer})


@pytest.fixture
def recorded():
    env = FakeIsaacEnv()
    env.scene = SimpleNamespace(sensors={"viewer_camera": Sensor(env)})
    return env, IsaacEnv(env, make_spec(NUM_ENVS, 4, BLOCK, video=VIDEO))


def test_pictures_are_of_the_end_of_the_step_before_any_reset(recorded):
    env, isaac = recorded
    assert isaac.viewed == 1
    everyone = torch.ones(NUM_ENVS, dtype=torch.bool)
    env.termination_manager.fire["success"][0] = True
    first = isaac.step(torch.zeros(NUM_ENVS, 2), render=False, active=everyone, pictures=True)
    env.termination_manager.fire["success"][0] = False
    isaac.step(torch.zeros(NUM_ENVS, 2), render=False, active=everyone, pictures=True)
    second = isaac.step(torch.zeros(NUM_ENVS, 2), render=False, active=everyone, pictures=True)
    assert first.pictures.shape == (1, 2, 2, 3)
    assert first.pictures.unique().tolist() == [1], "the ended episode's last one, and no view of a live buffer"
    assert second.pictures.unique().tolist() == [2]


def test_nothing_is_read_when_no_picture_is_wanted(recorded):
    env, isaac = recorded
    sensor = env.scene.sensors["viewer_camera"]
    result = isaac.step(torch.zeros(NUM_ENVS, 2), render=True, active=torch.ones(NUM_ENVS, dtype=torch.bool))
    assert result.pictures is None and sensor.reads == 0
    assert isaac.pictures().shape == (1, 2, 2, 3)


def test_only_the_shown_environments_are_looked_at(recorded):
    env, _ = recorded
    selection = WorldSelection()
    seen = []

    class Watched(Sensor):
        @property
        def data(self):
            seen.append(selection.worlds)
            return super().data

    ViewerCamera(Watched(env), 1, selection, NUM_ENVS, torch.device("cpu")).read()
    assert seen[0].tolist() == [True, False] and selection.worlds is None
