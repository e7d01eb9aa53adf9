# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``play``: evaluate what ``train`` made, with a video, while the same checkpoint is exported beside it."""

from __future__ import annotations

import json
import shutil

from gpu_smoke import policies
from gpu_smoke.commands import isaaclab, newest_run, start, trained_checkpoint
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

BASE_SUCCESS = 0.585
"""Of the shipped base on CPUs, in 200 episodes; two steps of training do not make it worse."""


def run(context: Context) -> None:
    """Play and export at the same time."""
    trained = str(trained_checkpoint(context))
    exported, log = context.work / "exported", context.work / "export.out"
    shutil.rmtree(exported, ignore_errors=True)
    arguments = ("export", "--checkpoint", trained, "--out", str(exported))
    export = start("isaaclab-rlinf", *arguments, cwd=context.work, log=log)
    try:
        episodes = context.size(20, 4)
        ended = isaaclab(
            context, "play", policies.TINY_VLA_YAML, "--checkpoint", trained, "--num_episodes",
            str(episodes), "--num_envs", str(episodes), "--video", limit=150,
        )  # fmt: skip
        code = export.wait(120 * (1 if context.full else 6))
    finally:
        export.kill()
    require(
        code == 0 and (exported / "model.safetensors").is_file(), f"export failed\n{log.read_text(errors='replace')}"
    )
    played = newest_run(context, "rlinf/eval")
    content = json.loads((played / "metrics.json").read_text(encoding="utf-8"))
    low, high = content["success_rate_95"]
    context.measured["success"] = f"{content['success_rate']:.2f} ({low:.2f} to {high:.2f})"
    context.measured["whole command"] = f"{ended.seconds:.0f} s"
    require(content["episodes"] == episodes, f"{content['episodes']} episodes were counted, {episodes} asked for")
    require(content["weights"]["matched_keys"] == content["weights"]["model_keys"] > 0, "not all weights were loaded")
    require(list(played.glob("videos/**/*.mp4")), "there is no video")
    require(
        not context.full or high >= BASE_SUCCESS,
        f"success is {low:.2f} to {high:.2f}, below the base's {BASE_SUCCESS} on CPUs",
    )
