# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf check --sim``: start the task as a worker does, show what it shows, step once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT, create_run_directory
from isaaclab_rlinf.env.protocol import SimulatorError, SimulatorSpec
from isaaclab_rlinf.env.simulator import START_SECONDS, Simulator
from isaaclab_rlinf.inspection.record import (
    RECORD_FILE,
    STEP_FILE,
    StepRecord,
    TaskRecord,
    read_step_record,
    read_task_record,
)
from isaaclab_rlinf.waiting import waiting

if TYPE_CHECKING:
    from isaaclab_rlinf.backends.prepare import PreparedRun

CHECK_LOG_ROOT = TRAIN_LOG_ROOT / "check"
_FACTORY = "isaaclab_rlinf.inspection.probe:open_probed_env"
SIMULATOR_LOG = "simulator.log"


@dataclass(frozen=True)
class Look:
    """What one simulator start gave."""

    record: TaskRecord | None
    """None when the simulator did not come as far as its first reset."""
    step: StepRecord | None = None
    images: tuple[Path, ...] = ()
    """The first environment's view of each camera that the YAML uses."""
    ended: bool = False
    """Whether an episode ended in the neutral step."""
    notices: tuple[str, ...] = ()
    failure: str = ""
    """The simulator's own traceback; empty when all went well."""


def inspect_runs(runs: dict[str, PreparedRun], device: str, num_envs: int, out: Path | None) -> int:
    """Start the simulator of each distinct environment section, and print what it shows.

    Args:
        runs: Prepared runs by ``train`` and ``play``.
        device: ``cpu`` or ``cuda``.
        num_envs: Environments to simulate.
        out: Directory for images and records; None makes a new one below ``logs/rlinf/check``.

    Returns:
        0; 1 when a simulator failed; 2 when a YAML does not fit its task.

    Raises:
        FileExistsError: If ``out`` holds something already.
    """
    from isaaclab_rlinf.env.settings import simulator_timeouts
    from isaaclab_rlinf.inspection.sim_report import print_failure, print_look

    specs = _distinct_specs(runs, device, num_envs)
    directory = open_output(out, next(iter(specs.values())).task_id)
    codes = []
    for mode, spec in specs.items():
        place = directory / mode if len(specs) > 1 else directory
        place.mkdir(exist_ok=True)
        section = runs[mode].cfg.env["train" if mode == "train" else "eval"]
        look = look_at(spec, place, simulator_timeouts(section))
        model = runs[mode].cfg.actor.model if mode == "train" else runs[mode].cfg.rollout.model
        fits = print_look(mode if len(specs) > 1 else "", look, spec, model)
        codes.append(print_failure(look, spec) if look.failure else 0 if fits else 2)
        _name_outputs(place, look)
    return 1 if 1 in codes else max(codes)


def open_output(out: Path | None, task: str) -> Path:
    """Create the output directory.

    Args:
        out: The one asked for, new or empty; None makes ``logs/rlinf/check/<timestamp>-<task>``.
        task: Gym id.

    Raises:
        FileExistsError: If ``out`` holds something already.
    """
    if out is None:
        return create_run_directory(CHECK_LOG_ROOT, task)
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} exists; nothing is overwritten. Choose another --out.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def look_at(spec: SimulatorSpec, directory: Path, timeouts: Mapping[str, float] | None = None) -> Look:
    """Start a task's simulator, reset it, apply one neutral action and end it.

    Args:
        spec: What to simulate; process, mapping and stepping are those of a training run.
        directory: Existing directory for the records, images and the simulator's own output.
        timeouts: ``start_timeout`` and ``step_timeout``, where they are not the usual ones.
    """
    timeouts = dict(timeouts or {})
    spec = replace(spec, log_file=str(directory / SIMULATOR_LOG), factory=_FACTORY, video=None)
    try:
        with waiting("starting the simulator", _tell, timeouts.get("start_timeout", START_SECONDS)):
            simulator = Simulator(spec, **timeouts)
    except SimulatorError as error:
        return Look(read_task_record(directory), failure=str(error))
    record = read_task_record(directory)
    notices, images, ended = simulator.handshake.notices, (), False
    try:
        images = _save_images(simulator.buffers, spec, directory)
        actions = simulator.buffers["actions"]
        actions.zero_()
        if record.hold is not None:
            actions.copy_(actions.new_tensor(record.hold)[:, None])
        simulator.step_chunk()
        ended = bool(simulator.buffers["finished"].any())
    except SimulatorError as error:
        return Look(record, images=images, notices=notices, failure=str(error))
    finally:
        simulator.close()
    return Look(record, read_step_record(directory), images, ended, notices)


def _tell(text: str) -> None:
    print(f"[INFO] {text}", flush=True)


def _distinct_specs(runs: dict[str, PreparedRun], device: str, num_envs: int) -> dict[str, SimulatorSpec]:
    """Return what to start: one simulator for train and play when they would show the same."""
    from isaaclab_rlinf.env.settings import simulator_spec_from_config

    specs: dict[str, SimulatorSpec] = {}
    for mode, run in runs.items():
        spec = simulator_spec_from_config(run.cfg.env["train" if mode == "train" else "eval"], num_envs)
        # One action per chunk: the record is of one step.
        spec = replace(spec, device=device, chunk_length=1, auto_reset=True, log_file=None, video=None)
        if all(_scene(spec) != _scene(other) for other in specs.values()):
            specs[mode] = spec
    return specs


def _scene(spec: SimulatorSpec) -> tuple[Any, ...]:
    """Return what a look depends on: not the overrides of rewards, nor whether an end counts as a time-out."""
    unseen = lambda path: path.startswith("rewards.") or path.endswith(".time_out")  # noqa: E731
    overrides = {path: value for path, value in spec.env_overrides if not unseen(path)}
    return spec.task_id, spec.block, spec.presets, spec.import_modules, overrides


def _save_images(buffers: Any, spec: SimulatorSpec, directory: Path) -> tuple[Path, ...]:
    """Write what the policy sees of environment 0, one PNG per camera."""
    from PIL import Image

    block, paths = spec.block, []
    cameras = {"main_images": (block.main_images,), "wrist_images": (block.wrist_images,)}
    for slot, keys in {**cameras, "extra_view_images": block.extra_view_images}.items():
        for index, key in enumerate(key for key in keys if key):
            image = buffers[f"obs.{slot}"][0]
            pixels = image[index] if slot == "extra_view_images" else image
            path = directory / f"{slot}-{''.join(c if c.isalnum() or c in '-_.' else '_' for c in key)}.png"
            Image.fromarray(pixels.numpy()).save(path)
            paths.append(path)
    return tuple(paths)


def _name_outputs(directory: Path, look: Look) -> None:
    """Say where everything is."""
    print(f"[INFO] Outputs in {directory}")
    names = [(path.name, "what the policy sees, environment 0") for path in look.images]
    names += [(RECORD_FILE, "observations, joints and actions"), (STEP_FILE, "the neutral step")]
    for name, what in [*names, (SIMULATOR_LOG, "everything the simulator said")]:
        if (directory / name).is_file():
            print(f"       {name}: {what}")
    sys.stdout.flush()
