# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Recording in the simulator process: what each frame shows, against a fake whose every moment is identifiable."""

from types import SimpleNamespace

import imageio
import numpy as np
import pytest
from fake_simulator import BLOCK, FAILURE, SUCCESS, TIME_OUT, FakeSimulator, make_spec, schedule_from_table

from isaaclab_rlinf.env.chunk import ChunkStepper
from isaaclab_rlinf.env.protocol import VideoSpec
from isaaclab_rlinf.env.shared_buffers import allocate, buffer_specs
from isaaclab_rlinf.env.video import VideoRecorder
from isaaclab_rlinf.env.video_frame import Tile, draw_tile, margin_height, side_by_side, wrap
from isaaclab_rlinf.mapping.observations import ObservationMap

TABLE = [[(2, SUCCESS), (90, SUCCESS)], [(3, FAILURE), (90, SUCCESS)], [(6, TIME_OUT), (90, SUCCESS)]]
LINGER = 8
"""0.8 seconds at the fake's 10 frames per second."""


class Recording:
    """A stepper that records the fake; ``shown`` has a copy of the tiles of every frame in place of a file."""

    def __init__(self, tmp_path, monkeypatch=None, viewed=0, auto_reset=True, **settings):
        self.env = FakeSimulator(3, schedule_from_table(TABLE))
        self.env.viewed = viewed
        first = self.env.reset()
        mapping = ObservationMap.build(BLOCK, self.env.layout(first), self.env.instructions)
        spec = VideoSpec(str(tmp_path / "videos"), **{"height": 64, "fps": 10, **settings})
        self.video = VideoRecorder(spec, mapping, 3, 0.1, viewed)
        self.shown, self.frames = [], []
        if monkeypatch is not None:
            monkeypatch.setattr(self.video, "_open", self._open)
        self.stepper = ChunkStepper(
            self.env,
            make_spec(3, 4, auto_reset=auto_reset),
            mapping,
            allocate(buffer_specs(mapping.shapes(3), 3, 4, 2)),
            self.video,
        )
        self.stepper.begin(first)

    def _open(self):
        self.video._path = "a file"
        self.video._writer = SimpleNamespace(append_data=self._append, close=lambda: None)

    def _append(self, frame):
        self.frames.append(frame)
        self.shown.append([(tuple(t.picture[0, 0].tolist()), t.step, t.outcome) for t in self.video._tiles])

    def of(self, env):
        """What the frames show of an environment: (episode, step) of the picture, step and outcome of the margin."""
        return [(*frame[env][0][1:], *frame[env][1:]) for frame in self.shown]


def read(path):
    with imageio.get_reader(path) as reader:
        return list(reader.iter_data())


@pytest.mark.parametrize("viewed", [0, 3])
def test_an_episodes_last_picture_stays_until_the_next_reset(tmp_path, monkeypatch, viewed):
    """As in an evaluation: an environment that has ended rests."""
    run = Recording(tmp_path, monkeypatch, viewed, auto_reset=False)
    run.stepper.step_chunk()
    run.stepper.step_chunk()
    assert run.of(0) == [(0, 0, 0, "running"), (0, 1, 1, "running"), *[(0, 2, 2, "success")] * 5]
    assert run.of(1) == [(0, k, k, "running") for k in range(3)] + [(0, 3, 3, "failure")] * 4
    assert run.of(2) == [(0, k, k, "running") for k in range(6)] + [(0, 6, 6, "time-out")]
    run.stepper.step_chunk()
    assert len(run.shown) == 7, "nothing is recorded while everything rests"
    run.stepper.begin(run.env.reset())
    assert run.shown[7:] == [run.shown[6]] * LINGER, "the last outcome can be read as well"
    run.stepper.step_chunk()
    episode = int(run.env.episode[2])
    assert run.of(2)[7 + LINGER :][:2] == [(episode, 0, 0, "running"), (episode, 1, 1, "running")]


@pytest.mark.parametrize("viewed", [0, 3])
def test_in_training_the_outcome_never_stands_over_a_picture_of_the_next_episode(tmp_path, monkeypatch, viewed):
    run = Recording(tmp_path, monkeypatch, viewed)
    for _ in range(3):
        run.stepper.step_chunk()
    # Two ends in the first chunk, one in the second: the grid stands still at the boundary, then the policy's episode.
    boundary = [(0, 2, 2, "success")] * LINGER + [(2, 0, 0, "running"), (2, 1, 1, "running")]
    assert run.of(0)[:5] == [(0, 0, 0, "running"), (0, 1, 1, "running"), *[(0, 2, 2, "success")] * 3]
    assert run.of(0)[5:15] == boundary, "the throw-away episode in the rest of the chunk is nobody's"
    for env in range(3):
        for episode, pictured, step, outcome in run.of(env):
            assert pictured == step, "the margin is of the picture"
            assert outcome == "running" or episode == 0


def test_margin_has_instruction_step_return_and_outcome_and_leaves_the_picture_alone(tmp_path, monkeypatch):
    run = Recording(tmp_path, monkeypatch, 3, reward_scale=0.5, first_env=6)
    run.stepper.step_chunk()
    tile = run.video._tiles[2]
    assert (tile.instruction, tile.status) == ("zero", "env 8 · step 4 · return +7.00 · running")
    margin = run.video._margin
    drawn = draw_tile(tile, margin)
    assert (drawn[margin:] == tile.picture).all(), "no text over the picture"
    assert drawn.shape == (120 + margin, 160, 3)
    assert drawn[:margin].max() == 255, "white letters"
    # Environments 0 and 1 above, 2 below, the fourth place empty.
    frame = run.frames[-1]
    assert frame.shape[:2] == (2 * (120 + margin), 2 * 160)
    assert frame[-1, 10].tolist() == tile.picture[0, 0].tolist() and not frame[-1, -1].any()
    plain = Recording(tmp_path, monkeypatch, 3, captions=False)
    plain.stepper.step_chunk()
    assert plain.frames[0].shape[:2] == (240, 320)


def test_long_instructions_are_wrapped_whole():
    text = "put the very small red cube that lies behind the bowl into the open drawer " + "x" * 90
    lines = wrap(text, 320)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert margin_height(["short", text], 320) == margin_height(["short"], 320) + 17 * (len(lines) - 1)
    picture = np.zeros((24, 320, 3), np.uint8)
    drawn = draw_tile(Tile("env 0", picture, text), margin_height([text], 320))
    assert (drawn[-24:] == 0).all()


def test_policy_views_are_enlarged_by_whole_factors():
    main, wrist = (np.random.default_rng(0).integers(0, 256, (size, 64, 3), np.uint8) for size in (64, 48))
    shown = side_by_side([main, wrist], 240)
    assert shown.shape == (256, 256 + 320, 3)
    assert (shown[:, :256].reshape(64, 4, 64, 4, 3) == main[:, None, :, None]).all()
    assert (shown[:240, 256:].reshape(48, 5, 64, 5, 3) == wrist[:, None, :, None]).all()


def test_a_viewer_camera_leaves_what_is_rendered_for_the_policy_as_it_is(tmp_path, monkeypatch):
    with_video, without = Recording(tmp_path, monkeypatch, 2), FakeSimulator(3, schedule_from_table(TABLE))
    without.reset()
    with_video.stepper.step_chunk()
    assert with_video.env.renders == 1 + 1, "the reset's and the chunk's end"
    assert with_video.env.views == 1 + 3 + 1, "the reset, each step until both shown episodes had ended, the next ones"
    assert all(len(frame) == 2 for frame in with_video.shown)


def test_a_real_file_has_every_frame_and_the_size_asked_for(tmp_path):
    run = Recording(tmp_path, viewed=1)
    for _ in range(2):
        run.stepper.step_chunk()
    (path,) = run.video.flush()
    shown = read(path)
    # First picture, two steps, the pause, then the next episode's first picture and four steps.
    assert len(shown) == 1 + 2 + LINGER + 1 + 4
    height = 120 + run.video._margin
    assert shown[0].shape == (height + height % 2, 160, 3), "H.264 wants even sizes"


def test_files_are_never_overwritten_and_empty_ones_not_written(tmp_path):
    runs = [Recording(tmp_path), Recording(tmp_path), Recording(tmp_path, suffix="-worker1")]
    assert runs[0].video.flush() == (), "a reset alone is no video"
    names = set()
    for run in runs:
        run.stepper.step_chunk()
        names |= {line.rsplit("/", 1)[-1] for line in run.video.flush()}
    assert names == {"rollout-000.mp4", "rollout-001.mp4", "rollout-000-worker1.mp4"}
    assert runs[0].video.flush() == ()
    assert len(list((tmp_path / "videos").iterdir())) == 3


def test_length_is_bounded_and_what_is_left_out_is_said(tmp_path):
    run = Recording(tmp_path, max_seconds=0.5, max_envs=1, viewed=0)
    run.stepper.step_chunk()
    run.stepper.step_chunk()
    # Steps 3 and 4 are of no shown episode. The frames: first picture, two steps, a pause; then there is no room.
    # The second chunk is as without a video: its end, and the last observation of a time-out.
    assert run.env.renders == 1 + (1 + 2 + 1) + 2
    (line,) = run.video.flush()
    assert line.endswith(".mp4 (4 steps more are not in it: video_cfg.max_seconds is 0.5)")
    run.stepper.step_chunk()
    assert run.video.flush()[0].endswith("rollout-001.mp4"), "the next rollout is recorded again"


def test_without_cameras_the_reason_is_said():
    mapping = ObservationMap((), (), None, ("text",))
    with pytest.raises(ValueError, match="names no camera and the task has no `viewer_camera`"):
        VideoRecorder(VideoSpec("unused"), mapping, 1, 0.1)
