# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Training on drawn scenes, without a simulator: are vision and language used, and how precisely?

``python tests/models/test_learning.py STEPS`` prints the same numbers for any number of steps.
"""

import sys
import tempfile
import time

import pytest
import torch
from synthetic import VIEWS, Scene, expert_chunk, make_scenes

from isaaclab_rlinf.models.tiny_vla.sft import TinyVLALearner
from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
from isaaclab_rlinf.workflow.sft import SftSettings
from isaaclab_rlinf.workflow.sft_loop import optimise

HORIZON = 8
PIXEL = 2 / 64


def as_demonstrations(scene: Scene) -> Demonstrations:
    """Each scene is an episode: its chunk's actions, all with the first frame's observation."""
    count = len(scene.tasks)
    repeat = lambda values: values.repeat_interleave(HORIZON, dim=0)  # noqa: E731
    return Demonstrations(
        views=VIEWS,
        images=repeat(scene.images),
        state=repeat(scene.state),
        action=expert_chunk(scene, HORIZON).flatten(0, 1),
        tasks=tuple(task for task in scene.tasks for _ in range(HORIZON)),
        last_frame=repeat(torch.arange(count) * HORIZON + HORIZON - 1),
        episodes=count,
        fps=20,
    )


def first_frames_only(data: Demonstrations) -> Demonstrations:
    """A view on ``data`` that draws only first frames, so that each chunk is the expert's whole approach."""

    class FirstFrames(Demonstrations):
        def action_chunks(self, frames, horizon):
            return data.action_chunks(frames * HORIZON, horizon)

    keep = slice(None, None, HORIZON)
    return FirstFrames(
        data.views,
        data.images[keep],
        data.state[keep],
        data.action,
        data.tasks[keep],
        data.last_frame,
        data.episodes,
        20,
    )


def train_and_measure(steps: int, scenes: int, tmp_path, on_step=None) -> dict[str, float]:
    """Median distance, in main-image pixels, between where the chunk ends and the named disc, on unseen scenes."""
    settings = SftSettings(steps=steps, batch_size=64, seed=0)
    data = first_frames_only(as_demonstrations(make_scenes(scenes, seed=0)))
    torch.manual_seed(0)
    learner = TinyVLALearner(data, settings)
    optimise(learner, data, settings, tmp_path, on_step)
    model, processor = learner.model, learner.processor
    unseen = make_scenes(256, seed=99)

    def median_pixels(images: torch.Tensor, tasks: list[str]) -> float:
        batch = processor(dict(zip(VIEWS, images.unbind(1), strict=True)), tasks, unseen.state)
        end = processor.unnormalize("action", model.generate_actions(**batch)[:, -1])[:, :2]
        return ((end - unseen.target).norm(dim=1).median() / PIXEL).item()

    return {
        "normal": median_pixels(unseen.images, unseen.tasks),
        "black images": median_pixels(torch.zeros_like(unseen.images), unseen.tasks),
        "shuffled instructions": median_pixels(unseen.images, unseen.tasks[1:] + unseen.tasks[:1]),
    }


@pytest.mark.slow
def test_finds_the_named_disc_to_two_pixels_and_needs_eyes_and_instruction(tmp_path):
    pixels = train_and_measure(200, 4000, tmp_path)
    assert pixels["normal"] < 2.5
    assert pixels["black images"] > 5 * pixels["normal"]
    assert pixels["shuffled instructions"] > 5 * pixels["normal"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    started = time.time()
    steps = int(sys.argv[1])
    every = max(1, steps // 10)

    def report(done: int, loss: float) -> None:
        if done % every == 0:
            print(done, round(loss, 4), f"{time.time() - started:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as events:
        print(train_and_measure(steps, 4000, events, report))
