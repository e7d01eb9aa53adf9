# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Memory of the environment path over thousands of chunks on the bundled task: worker, simulator, shared memory.

Prints the three sizes at regular intervals, and their growth after the first tenth, which is warm-up. /dev/shm is the
whole machine's: let nothing else use it meanwhile.

    uv run python scripts/benchmark_memory.py --chunks 2000
"""

from __future__ import annotations

import argparse
import shutil
import tempfile

import psutil
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.tasks import TOUCH_COLOR_ID

MIB = 2**20
ACTION_DIM = 3


def main() -> None:
    """Steps random chunks and prints sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--num_envs", type=int, default=16)
    parser.add_argument("--chunk", type=int, default=8, help="actions per chunk")
    args = parser.parse_args()
    torch.set_num_threads(1)
    env = make_env(args.num_envs, args.chunk)
    env.reset()
    generator = torch.Generator().manual_seed(0)
    every = max(1, args.chunks // 10)
    samples = []
    for done in range(1, args.chunks + 1):
        env.chunk_step(torch.rand(args.num_envs, args.chunk, ACTION_DIM, generator=generator) * 3 - 1.5)
        if done % every == 0:
            samples.append(sizes())
            print(f"{done:6} chunks  " + "  ".join(f"{name} {size:8.1f} MiB" for name, size in samples[-1].items()))
    env.close()
    growth = {name: samples[-1][name] - samples[0][name] for name in samples[0]}
    print("growth after warm-up: " + ", ".join(f"{name} {size:+.1f} MiB" for name, size in growth.items()))


def sizes() -> dict[str, float]:
    """Returns resident memory of this process and of its children, and the use of /dev/shm, in MiB."""
    here = psutil.Process()
    children = sum(child.memory_info().rss for child in here.children(recursive=True))
    shared = shutil.disk_usage("/dev/shm").used  # torch unlinks its segments, so that a listing shows none
    return {"worker": here.memory_info().rss / MIB, "simulator": children / MIB, "/dev/shm": shared / MIB}


def make_env(num_envs: int, chunk: int) -> object:
    """Returns the bundled task behind our bridge, as RLinf's environment worker makes it."""
    from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

    cfg = OmegaConf.create(
        {
            "seed": 1,
            "max_episode_steps": 48,
            "video_cfg": {"save_video": False},
            "init_params": {
                "id": TOUCH_COLOR_ID,
                "device": "cpu",
                "action_chunk": chunk,
                "log_dir": tempfile.mkdtemp(prefix="benchmark-memory-"),
            },
            "isaaclab": {
                "task_description": {"obs": "instruction"},
                "main_images": "front_camera",
                "wrist_images": "wrist_camera",
                "states": ["joint_pos", "joint_vel"],
                "success": {"termination": "success"},
            },
        }
    )
    return IsaacLabGenericEnv(cfg, num_envs, 0, 1, None)


if __name__ == "__main__":
    main()
