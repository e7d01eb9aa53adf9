# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Renders the picture of the bundled task for the README: both cameras, while the scripted expert acts.

Usage: ``uv run python scripts/task_gallery.py [--output docs/images/task.png] [--seed 4]``
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from isaaclab_rlinf.compat.warp_settings import configure_warp
from isaaclab_rlinf.tasks import TOUCH_COLOR_ID

COLUMNS = 4
SCALE = 4
GAP = 8
CAPTION = 30
CAMERAS = ("front_camera", "wrist_camera")


def render(seed: int) -> list[dict]:
    """Runs the expert until each environment has ended its episode, or to the end of the first 48 steps.

    Args:
        seed: Seed of the environments.

    Returns:
        One dictionary per environment: ``instruction``, and per camera the images at the start and just before the
        end of the episode, (64, 64, 3) uint8 each; ``steps`` and ``success``.
    """
    configure_warp()
    import gymnasium
    import torch
    from isaaclab_tasks.utils import parse_env_cfg

    from isaaclab_rlinf.tasks.touch_color.expert import expert_actions

    cfg = parse_env_cfg(TOUCH_COLOR_ID, num_envs=COLUMNS)
    cfg.seed = seed
    # The picture shows the touch itself, before the automatic reset.
    cfg.compute_final_obs = True
    env = gymnasium.make(TOUCH_COLOR_ID, cfg=cfg).unwrapped
    observation, _ = env.reset(seed=seed)
    index = observation["policy"]["instruction"][:, 0].long().tolist()
    panels = [{"instruction": cfg.instructions[i], "steps": None} for i in index]
    for row, panel in enumerate(panels):
        panel["start"] = {name: observation["camera_images"][name][row].cpu().numpy() for name in CAMERAS}
    for step in range(1, env.max_episode_length + 1):
        with torch.no_grad():
            *_, terminated, truncated, extras = env.step(expert_actions(env, 1)[:, 0])
        success = env.termination_manager.get_term("success")
        for row in (terminated | truncated).nonzero().flatten().tolist():
            if panels[row]["steps"] is None:
                images = extras["final_obs"]["camera_images"]
                panels[row]["end"] = {name: images[name][row].cpu().numpy() for name in CAMERAS}
                panels[row].update(steps=step, success=bool(success[row]))
        if all(panel["steps"] for panel in panels):
            break
    env.close()
    return panels


def compose(panels: list[dict]) -> Image.Image:
    """Arranges the images: a column per environment; start, end and wrist view at the end from top to bottom.

    Args:
        panels: What ``render`` returns.

    Returns:
        The picture.
    """
    size = 64 * SCALE
    rows = [("start", "front_camera"), ("end", "front_camera"), ("end", "wrist_camera")]
    width = GAP + len(panels) * (size + GAP)
    height = CAPTION + len(rows) * (size + CAPTION) + GAP
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    font, small = ImageFont.load_default(17), ImageFont.load_default(13)
    for column, panel in enumerate(panels):
        left = GAP + column * (size + GAP)
        draw.text((left + size / 2, CAPTION / 2), panel["instruction"], fill="black", font=font, anchor="mm")
        for row, (moment, camera) in enumerate(rows):
            top = CAPTION + row * (size + CAPTION)
            image = Image.fromarray(np.ascontiguousarray(panel[moment][camera]))
            picture.paste(image.resize((size, size), Image.Resampling.NEAREST), (left, top))
            when = "step 0" if moment == "start" else f"step {panel['steps']}"
            label = f"{camera.replace('_', ' ')}, {when}"
            if moment == "end":
                label += ", success" if panel["success"] else ", no success"
            draw.text((left + size / 2, top + size + CAPTION / 2), label, fill="black", font=small, anchor="mm")
    return picture


def main() -> None:
    """Renders and saves the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("docs/images/task.png"), help="file to write")
    parser.add_argument("--seed", type=int, default=4, help="seed of the environments")
    arguments = parser.parse_args()
    picture = compose(render(arguments.seed))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    picture.save(arguments.output, optimize=True)
    print(f"wrote {arguments.output} ({arguments.output.stat().st_size / 1024:.0f} KiB)")


if __name__ == "__main__":
    main()
