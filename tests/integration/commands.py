# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Running the host's command as a user does, and looking for what it leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

TASK_YAML = "isaaclab_ppo_tiny_vla_touch_color"
ISAACLAB = str(Path(sys.executable).with_name("isaaclab"))

# A run small enough for a test: the shipped YAML with fewer environments and smaller batches.
SMALL = (
    "env.train.total_num_envs=8",
    "env.train.rollout_epoch=1",
    "env.train.max_steps_per_rollout_epoch=16",
    "actor.global_batch_size=16",
    "actor.micro_batch_size=16",
    "runner.save_interval=2",
    "runner.val_check_interval=-1",
)

EVALUATED = ("runner.val_check_interval=2", "env.eval.total_num_envs=4")
"""After :data:`SMALL`: evaluate before training and every second step."""


@dataclass(frozen=True)
class Ended:
    """An ended command."""

    code: int
    out: str
    err: str


def start(*args: str, cwd: Path, **env: str) -> subprocess.Popen:
    """Start ``isaaclab`` in its own process group, open to Ctrl-C also where the tests run in a shell's background."""
    return subprocess.Popen(
        [ISAACLAB, *args],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **env},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells ignore it for `command &`
    )


def run(*args: str, cwd: Path, timeout: float = 400, **env: str) -> Ended:
    """Run ``isaaclab`` to its end."""
    process = start(*args, cwd=cwd, **env)
    out, err = process.communicate(timeout=timeout)
    return Ended(process.returncode, out, err)


def run_directory(cwd: Path, kind: str = "rlinf") -> Path:
    """Return the newest run directory of a kind (``rlinf`` or ``rlinf/eval``)."""
    runs = [path for path in (cwd / "logs" / kind).iterdir() if path.name[0].isdigit()]
    return max(runs, key=lambda path: path.stat().st_mtime_ns)


def metrics(run_dir: Path) -> list[dict]:
    """Return a training run's records, one per step."""
    return [record for record in _records(run_dir) if "time/step" in record]


def evaluated_steps(run_dir: Path) -> list[int]:
    """Return the steps after which a training run was evaluated; 0 is before its first."""
    return [record["step"] for record in _records(run_dir) if "eval/success_once" in record]


def _records(run_dir: Path) -> list[dict]:
    return [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]


def processes_of(marker: Path) -> list[psutil.Process]:
    """Return the living processes whose working directory is, or lies below, a test's directory."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(marker) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def assert_clean(marker: Path, seconds: float = 20) -> None:
    """Require that nothing of :func:`processes_of` lives; on a busy machine Ray's processes take a moment to end."""
    deadline = time.monotonic() + seconds
    while processes_of(marker) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert processes_of(marker) == []
