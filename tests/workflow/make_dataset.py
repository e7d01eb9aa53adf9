# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A small dataset as LeRobot's own writer makes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SIZE = 32


def make_dataset(
    root: Path, lengths: tuple[int, ...] = (3, 2), *, video: bool = False, change=lambda episode, frame, row: None
) -> Path:
    """Write episodes of random pictures, states and actions.

    Args:
        root: Directory to create.
        lengths: Frames of each episode.
        video: Pictures go to video files.
        change: Called with (episode, frame, row) before a row is written.
    """
    from lerobot.configs.video import RGBEncoderConfig
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    picture = {"dtype": "video" if video else "image", "shape": (SIZE, SIZE, 3), "names": ["h", "w", "c"]}
    vector = {"dtype": "float32", "shape": (2,), "names": ["arm", "gripper"]}
    features = {"observation.images.main_images": picture, "observation.state": vector, "action": vector}
    dataset = LeRobotDataset.create(
        "local/small", fps=10, features=features, root=root, use_videos=video, rgb_encoder=RGBEncoderConfig("h264")
    )
    random = np.random.default_rng(sum(lengths))
    for episode, length in enumerate(lengths):
        for frame in range(length):
            row = {
                "observation.images.main_images": random.integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8),
                "observation.state": random.normal(size=2).astype(np.float32),
                "action": random.normal(size=2).astype(np.float32),
                "task": f"touch ball {episode % 2} of {len(lengths)}",
            }
            change(episode, frame, row)
            dataset.add_frame(row)
        dataset.save_episode()
    dataset.finalize()
    return root
