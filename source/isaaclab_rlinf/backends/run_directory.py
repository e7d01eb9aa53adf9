# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The run directory: what a run leaves behind to be found, understood and repeated."""

from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from .prepare import PreparedRun

TRAIN_LOG_ROOT = Path("logs") / "rlinf"
EVAL_LOG_ROOT = TRAIN_LOG_ROOT / "eval"


def open_run_directory(root: Path, run: PreparedRun, argv: list[str]) -> Path:
    """Create a run's directory, direct its outputs there, and write down what it was started with.

    Args:
        root: Directory that holds the runs.
        run: The run; its config is changed in place.
        argv: Arguments of the backend.

    Returns:
        The directory's absolute path.
    """
    run_dir = create_run_directory(root, run.task)
    point_outputs(run.cfg, run_dir)
    write_params(run_dir, run.cfg, run.source, argv)
    return run_dir


def create_run_directory(root: Path, task: str) -> Path:
    """Create a directory that did not exist before.

    Args:
        root: Directory that holds the runs.
        task: Gym id, part of the name.

    Returns:
        The absolute path ``<root>/<timestamp>-<task>``, with a numeric suffix when two runs start in one second.
    """
    root = root.absolute()
    root.mkdir(parents=True, exist_ok=True)
    stem = f"{datetime.now():%Y%m%d-%H-%M-%S}-{task.replace('/', '_').replace(':', '_')}"
    for suffix in ("", *(f"-{n}" for n in range(1, 1000))):
        path = root / f"{stem}{suffix}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{root / stem} and 999 numbered variants of it exist")


def point_outputs(cfg: DictConfig, run_dir: Path) -> None:
    """Let everything that a run writes go to its directory.

    Args:
        cfg: Config of the run, changed in place.
        run_dir: The run directory.
    """
    from omegaconf import open_dict

    with open_dict(cfg):
        cfg.runner.logger.log_path = str(run_dir)
        for mode in ("train", "eval"):
            section = cfg.env.get(mode, None)
            if section is None:
                continue
            section.init_params.log_dir = str(run_dir / "simulator")
            if section.get("video_cfg", None) is not None:  # environments that the run does not make may lack it
                section.video_cfg.video_base_dir = str(run_dir / "videos" / mode)


def write_params(run_dir: Path, cfg: DictConfig, source: Path, argv: list[str]) -> None:
    """Write the resolved config, the YAML it came from and the command line under ``params/``.

    Args:
        run_dir: The run directory.
        cfg: Resolved config of the run.
        source: The task YAML.
        argv: Arguments of the backend.
    """
    import shlex

    from omegaconf import OmegaConf

    params = run_dir / "params"
    params.mkdir()
    OmegaConf.save(cfg, params / "resolved.yaml", resolve=True)
    (params / source.name).write_bytes(source.read_bytes())
    (params / "command.txt").write_text(shlex.join(argv) + "\n", encoding="utf-8")


def write_git_state(run_dir: Path, *places: Path) -> None:
    """Write commit, status and diff of each git repository that holds one of the places, under ``git/``.

    A place outside any repository, or a machine without git, leaves no file; neither is an error.

    Args:
        run_dir: The run directory.
        places: Files or directories, usually the working directory and this package.
    """
    roots = {root for place in places if (root := _git(place, "rev-parse", "--show-toplevel").strip())}
    for root in sorted(roots):
        folder = run_dir / "git"
        folder.mkdir(exist_ok=True)
        head = _git(Path(root), "rev-parse", "HEAD").strip() or "no commit"
        text = f"commit: {head}\n\n{_git(Path(root), 'status', '--short')}\n{_git(Path(root), 'diff', 'HEAD')}"
        (folder / f"{Path(root).name}.diff").write_text(text, encoding="utf-8")


def _git(place: Path, *arguments: str) -> str:
    """Return git's answer at a place, or an empty string when there is none."""
    folder = place if place.is_dir() else place.parent
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout if result.returncode == 0 else ""
