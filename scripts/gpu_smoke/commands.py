# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Running the commands of this environment as a user does, and reading what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .context import Context
from .outcome import CheckFailed, require

SMALL = (
    "env.train.total_num_envs=8",
    "env.train.max_steps_per_rollout_epoch=16",
    "actor.global_batch_size=16",
    "actor.micro_batch_size=16",
)
"""Overrides that make the bundled YAMLs small enough for a CPU that has other work."""


@dataclass(frozen=True)
class Ended:
    """A command that ended.

    Attributes:
        code: Exit code.
        out: Its output, errors included.
        seconds: How long it took.
    """

    code: int
    out: str
    seconds: float


def start(name: str, *args: str, cwd: Path, log: Path) -> subprocess.Popen:
    """Start a command of this environment; its output goes to a file."""
    command = [str(Path(sys.executable).with_name(name)), *args]
    print(f"$ {name} {' '.join(args)}   (output: {log})", flush=True)
    cwd.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        return subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)


def tool(name: str, *args: str, cwd: Path, limit: float) -> Ended:
    """Run a command of this environment to its end.

    Args:
        name: Such as ``isaaclab``.
        *args: Its arguments.
        cwd: Where it runs.
        limit: Seconds until it counts as hung.

    Raises:
        CheckFailed: If it does not end in time.
    """
    log = cwd / f"{name}-{time.strftime('%H%M%S')}-{os.getpid()}.out"
    started = time.monotonic()
    process = start(name, *args, cwd=cwd, log=log)
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(60)
        raise CheckFailed(f"{name} {args[0]} did not end within {limit:.0f} s; its output is in {log}") from None
    out = log.read_text(encoding="utf-8", errors="replace")
    print(out, flush=True)
    return Ended(code, out, time.monotonic() - started)


def isaaclab(context: Context, command: str, yaml: str, *args: str, limit: float, device: str | None = None) -> Ended:
    """Run ``isaaclab train`` or ``play`` in the work directory and require that it succeeds.

    Args:
        context: Of the check.
        command: ``train`` or ``play``.
        yaml: Task YAML.
        *args: Further arguments.
        limit: Seconds on a GPU until it counts as hung; on a CPU six times as many.
        device: ``--device``; default the check's.
    """
    flags = ("--rl_library", "rlinf", "--config_name", yaml, "--device", device or context.device)
    ended = tool("isaaclab", command, *flags, *args, cwd=context.work, limit=limit * (1 if context.full else 6))
    require(ended.code == 0, f"isaaclab {command} ended with exit code {ended.code}: {told(ended.out)}\n{ended.out}")
    return ended


def told(out: str) -> str:
    """Return the first line of an output that says what is wrong, else the last."""
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    return next((line for line in lines if "[ERROR]" in line), lines[-1] if lines else "no output")


def newest_run(context: Context, kind: str = "rlinf") -> Path:
    """Return the newest run directory of a kind (``rlinf`` or ``rlinf/eval``)."""
    runs = [path for path in (context.work / "logs" / kind).iterdir() if path.name[0].isdigit()]
    return max(runs, key=lambda path: path.stat().st_mtime_ns)


def step_records(run_dir: Path) -> list[dict]:
    """Return a training's metrics, one record per step."""
    lines = (run_dir / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if "time/step" in record]


def checkpoint(run_dir: Path, step: int) -> Path:
    """Return a checkpoint's directory, and require that it is whole."""
    found = list(run_dir.glob(f"*/checkpoints/global_step_{step}"))
    require(len(found) == 1, f"{run_dir} has no checkpoint of step {step}")
    weights = found[0] / "actor/model_state_dict/full_weights.pt"
    require(
        weights.is_file() and list((found[0] / "actor/dcp_checkpoint").glob("*.distcp")), f"{found[0]} is incomplete"
    )
    return found[0]


def trained_checkpoint(context: Context) -> Path:
    """Return the second checkpoint of the newest run of ``train``."""
    found = (context.work / "logs/rlinf").glob("*/touch_color/checkpoints/global_step_2")
    newest = max(found, key=lambda path: path.parents[2].stat().st_mtime_ns, default=None)
    require(newest is not None, f"no checkpoint of step 2 below {context.work / 'logs/rlinf'}")
    return newest


def require_sound_training(context: Context, run_dir: Path, steps: list[int], tolerance: float = 1e-2) -> None:
    """Require that a run did these steps, that each began at ratio 1, and that no update was skipped."""
    records = step_records(run_dir)
    done = [record["step"] for record in records]
    require(done == steps, f"steps {done} were done, expected {steps}")
    errors = [record["train/actor/initial_ratio_error"] for record in records]
    context.measured["ratio error"] = f"{max(errors):.1e}"
    require(
        max(errors) < tolerance, f"mean |ratio - 1| is {max(errors):.2g} before an update, expected below {tolerance:g}"
    )
    skipped = sum(record.get("train/actor/skipped_updates", 0) for record in records)
    require(not skipped, f"{skipped:.0f} updates were skipped, their gradient was not finite")
    context.measured["s per step"] = f"{records[-1]['time/step']:.1f}"
