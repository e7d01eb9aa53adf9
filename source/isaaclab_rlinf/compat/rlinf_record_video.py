# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf 0.3.0 wraps every environment in its own video recorder when ``video_cfg.save_video`` is set.

``EnvWorker._setup_env_and_wrappers`` calls ``RecordVideo(env, video_cfg)``, which keeps every frame of a rollout in
memory and would see only the observations at chunk boundaries. Our environment records in the simulator process, where
every step is; the wrapper is therefore left out for it, and only for it.

Private name touched: the module global ``rlinf.workers.env.env_worker.RecordVideo``.
"""

from __future__ import annotations

import sys
from typing import Any


def keep_own_recorder() -> None:
    """Makes RLinf's env worker, if it is imported in this process, leave our environment unwrapped. Idempotent."""
    worker = sys.modules.get("rlinf.workers.env.env_worker")
    if worker is None or getattr(worker.RecordVideo, "keeps_own_recorder", False):
        return
    record_video = worker.RecordVideo

    def wrap(env: Any, *args: Any, **kwargs: Any) -> Any:
        from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

        return env if isinstance(env, IsaacLabGenericEnv) else record_video(env, *args, **kwargs)

    wrap.keeps_own_recorder = True
    worker.RecordVideo = wrap
