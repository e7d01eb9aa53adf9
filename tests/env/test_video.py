# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Recording in the simulator process: a frame for every step, bounded, never overwriting."""

import imageio
import pytest
from fake_simulator import BLOCK, FAILURE, SUCCESS, FakeSimulator, make_spec, schedule_from_table

from isaaclab_rlinf.env.chunk import ChunkStepper
from isaaclab_rlinf.env.protocol import VideoSpec
from isaaclab_rlinf.env.shared_buffers import allocate, buffer_specs
from isaaclab_rlinf.env.video import VideoRecorder
from isaaclab_rlinf.mapping.observations import ObservationMap


def record(tmp_path, chunks, **settings):
    table = [[(2, SUCCESS), (90, SUCCESS)], [(3, FAILURE), (90, SUCCESS)], [(90, SUCCESS)]]
    env = FakeSimulator(3, schedule_from_table(table))
    first = env.reset()
    mapping = ObservationMap.build(BLOCK, env.layout(first), env.instructions)
    spec = VideoSpec(str(tmp_path / "videos"), tile_height=64, **settings)
    video = VideoRecorder(spec, mapping, 3, step_seconds=0.1)
    buffers = allocate(buffer_specs(mapping.shapes(3), 3, 4, 2))
    stepper = ChunkStepper(env, make_spec(3, 4), mapping, buffers, video)
    stepper.begin(first)
    verdicts = []
    for _ in range(chunks):
        stepper.step_chunk()
        verdicts.append([name for name, _ in video._verdicts])
    return env, video, verdicts


def frames(path):
    with imageio.get_reader(path) as reader:
        return list(reader.iter_data())


def test_every_step_is_shown_and_verdicts_follow_the_episodes(tmp_path):
    env, video, verdicts = record(tmp_path, 3)
    path = video.flush()
    shown = frames(path)
    assert len(shown) == 1 + 3 * 4
    assert verdicts[0] == ["success", "failure", "running"]
    assert verdicts[-1] == ["running"] * 3
    # A grid of 2 x 2 tiles of 64 + 34 pixels, the fourth one black.
    assert shown[0].shape[:2] == (2 * 98, 2 * 64)
    assert shown[0][110:, 70:].max() < 30
    assert env.renders >= 13


def test_files_are_never_overwritten_and_empty_ones_not_written(tmp_path):
    _, video, _ = record(tmp_path, 1)
    _, other, _ = record(tmp_path, 1)
    names = {video.flush().rsplit("/", 1)[-1], other.flush().rsplit("/", 1)[-1]}
    assert names == {"rollout-000.mp4", "rollout-001.mp4"}
    assert video.flush() is None
    assert len(list((tmp_path / "videos").iterdir())) == 2


def test_length_is_bounded_and_rendering_then_stops(tmp_path):
    env, video, _ = record(tmp_path, 2, max_seconds=0.5, max_envs=1)
    assert not video.recording
    # The reset; every step of the first chunk; the second chunk as without a video.
    assert env.renders == 1 + (4 + 2) + 1, "the ends of two episodes are rendered as well"
    assert len(frames(video.flush())) == 5
    assert video.recording, "the next rollout is recorded again"


def test_without_cameras_the_reason_is_said():
    mapping = ObservationMap((), (), None, ("text",))
    with pytest.raises(ValueError, match="names no camera"):
        VideoRecorder(VideoSpec("unused"), mapping, 1, 0.1)
