# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf init``: a first task YAML, from what the task shows and what the checkpoint's files say."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import ConfigError, Issue

if TYPE_CHECKING:
    from isaaclab_rlinf.config.task_facts import TaskFacts
    from isaaclab_rlinf.inspection.draft import Draft
    from isaaclab_rlinf.inspection.model_files import ModelFacts
    from isaaclab_rlinf.inspection.record import TaskRecord


def add_init_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf init``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--task", required=True, metavar="ID", help="Gym id of the task.")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="YAML to write; must not exist.")
    parser.add_argument("--model_path", metavar="DIR", help="Base checkpoint: 'bundled', tiny_vla, GR00T N1.5 or N1.7.")
    parser.add_argument("--model_type", metavar="TYPE", help="RLinf's model type; default: the checkpoint's.")
    parser.add_argument("--embodiment_tag", metavar="TAG", help="GR00T embodiment, where the checkpoint has several.")
    parser.add_argument(
        "--extension", action="append", default=[], metavar="MODULE", help="Module that registers the task; repeatable."
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="Where the simulator runs.")


def run_init(args: argparse.Namespace) -> int:
    """Write a task YAML.

    The simulator is started once: widths of observations and what is an image cannot be known without it.

    Args:
        args: Namespace with the arguments of :func:`add_init_args`.

    Returns:
        0; 1 when the task's own configuration or the simulator failed.

    Raises:
        ConfigError: If the task or the checkpoint cannot be found or read.
        FileExistsError: If the file exists.
    """
    out = args.out.absolute()
    _refuse_out(out)
    from isaaclab_rlinf.inspection.model_files import read_model

    model = read_model(args.model_path, args.model_type, args.embodiment_tag)
    facts, failure = _task_facts(args.task, args.extension)
    if facts is None:
        print(f"[ERROR] {failure}", file=sys.stderr)
        return 1
    print(f"[INFO] Starting the simulator of {args.task} once, for shapes and widths ...", flush=True)
    record, failure = _look(args)
    if record is None:
        print(f"[ERROR] {failure}", file=sys.stderr)
        return 1
    from isaaclab_rlinf.inspection.draft import draft_block
    from isaaclab_rlinf.inspection.template import Outline, task_yaml

    draft = draft_block(record, facts, model)
    outline = Outline(
        task=args.task,
        name=out.stem,
        extensions=tuple(args.extension),
        model=model,
        action_dim=model.action_dim or record.action_dim,
        episode_steps=record.max_episode_steps,
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("x", encoding="utf-8") as file:
        file.write(task_yaml(outline, draft))
    _conclude(out, args, model, draft)
    return 0


def _refuse_out(out: Path) -> None:
    if out.suffix != ".yaml":
        raise ConfigError([Issue("--out", f"{str(out)!r} does not end in .yaml", "a .yaml file")])
    if out.exists():
        raise FileExistsError(f"{out} exists; nothing is overwritten. Choose another --out.")


def _task_facts(task: str, extensions: list[str]) -> tuple[TaskFacts | None, str]:
    """Return what the task's configuration declares, or what its own code raised.

    Raises:
        ConfigError: If the task is not registered, or is not an Isaac Lab task.
    """
    import importlib

    from isaaclab_rlinf.config.light_import import end_child
    from isaaclab_rlinf.config.task_facts import read_task
    from isaaclab_rlinf.config.tasks import find_task

    for module in extensions:
        try:
            importlib.import_module(module)
        except Exception as error:
            found = f"module {module!r} cannot be imported: {type(error).__name__}: {error}"
            raise ConfigError([Issue("--extension", found)]) from error
    spec, issues = find_task(task)
    if spec is None:
        raise ConfigError(issues)
    if "env_cfg_entry_point" not in spec.kwargs:
        raise ConfigError([Issue("--task", f"{task!r} has no env_cfg_entry_point", "an Isaac Lab task")])
    try:
        return read_task(spec), ""
    except Exception as error:  # whatever the user's module raises
        last = traceback.extract_tb(error.__traceback__)[-1]
        found = f"the env cfg of {task!r} cannot be loaded: {type(error).__name__}: {error}"
        return None, f"{found}\n        raised in {last.filename}, line {last.lineno}"
    finally:
        end_child()


def _look(args: argparse.Namespace) -> tuple[TaskRecord | None, str]:
    """Start the task and return what it shows, or why it failed; what a failed simulator wrote is kept.

    The block given names a camera, so that cameras are on.
    """
    from isaaclab_rlinf.config.schema import IsaacLabBlock, TaskDescription
    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.inspection.simulate import look_at, open_output

    block = IsaacLabBlock(TaskDescription(text="?"), main_images="?", render_every_action=True)
    spec = SimulatorSpec(
        task_id=args.task,
        num_envs=1,
        seed=0,
        device=args.device,
        block=block,
        chunk_length=1,
        import_modules=tuple(args.extension),
    )
    with tempfile.TemporaryDirectory() as directory:
        look = look_at(spec, Path(directory))
        if look.record is None:
            kept = open_output(None, f"{args.task}-init")
            shutil.copytree(directory, kept, dirs_exist_ok=True)
            return None, f"{look.failure.replace(directory, str(kept))}\n        Everything it said is in {kept}"
    # The block fits no task, so the mapping is refused after the first reset; by then everything is recorded.
    return look.record, look.failure


def _conclude(out: Path, args: argparse.Namespace, model: ModelFacts, draft: Draft) -> None:
    """Name the file, what is left to decide, and the next command."""
    print(f"[INFO] Wrote {out}")
    left = [f"env.train.isaaclab.{key}" for key in draft.open_keys]
    if model.path is None:
        left.append("actor.model.model_path")
    if model.is_gr00t and model.tag is None:
        left.append("env.train.isaaclab.embodiment_tag")
    if model.model_type == "gr00t":
        left.append("env.train.isaaclab.data_config_class")
    if left:
        print(
            f"[INFO] {len(left)} left for you to decide (??? in the file, possibilities beside it): {', '.join(left)}"
        )
    print(f"[INFO] Next: isaaclab-rlinf check --config_name {args.out}")
