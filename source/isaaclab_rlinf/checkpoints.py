# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which checkpoint is meant by ``--checkpoint``: a path in any documented form, ``latest`` or ``best``.

A training run lies in ``<log_root>/<timestamp>-<task>/``: Isaac Lab's ``run.json`` says whose it is, RLinf writes
``<experiment_name>/checkpoints/global_step_<N>/actor/{dcp_checkpoint, model_state_dict/full_weights.pt}`` below it, and
our train backend names the best one in ``best_checkpoint.json``. Nothing here imports torch.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from isaaclab_rlinf.config.errors import ConfigError, Issue, listing
from isaaclab_rlinf.models.weight_files import is_lfs_pointer
from isaaclab_rlinf.run_lineage import MANIFEST_FILENAME, lineage
from isaaclab_rlinf.run_lineage import STEP_NAME as _STEP_NAME

SELECTORS = ("latest", "best")
BEST_FILENAME = "best_checkpoint.json"
_MANIFEST_VERSION = 1
_WEIGHTS = Path("actor", "model_state_dict", "full_weights.pt")
_FLAG = "--checkpoint"
_FORMS = "a global_step_N directory, a directory with one full_weights.pt below it, that file, 'latest' or 'best'"


@dataclass(frozen=True)
class ResolvedCheckpoint:
    """One complete checkpoint."""

    weights: Path
    """``full_weights.pt``: the whole model's state dict."""
    step_dir: Path
    """The ``global_step_N`` directory, as RLinf's ``runner.resume_dir`` wants it (no trailing slash)."""
    step: int
    """N; -1 for weights that lie outside a ``global_step_N`` directory."""
    missing: tuple[str, ...] = ()
    """What training would need to resume from it and is absent; empty for a resumable checkpoint."""
    notices: tuple[str, ...] = ()
    """What was skipped on the way, one line each."""

    @property
    def resumable(self) -> bool:
        """Whether optimizer, scheduler, counters and RNG state are there too."""
        return not self.missing


def resolve_checkpoint(
    value: str, *, log_root: Path, task: str, config_name: str, for_resume: bool = False, where: str = _FLAG
) -> ResolvedCheckpoint:
    """Return the checkpoint that a value of ``--checkpoint``, or of a key like it, means.

    ``latest`` is the highest step of the newest run of the same task and YAML that has a complete checkpoint; ``best``
    is the best that is named by the ``best_checkpoint.json`` of the newest run that has one, or of the runs it was
    resumed from.

    Args:
        value: Path (relative to the working directory) or selector.
        log_root: Directory of training runs, ``logs/rlinf``.
        task: Gym id that the run must have been for; read for the selectors only.
        config_name: Name of the YAML without extension that the run must have used; read for the selectors only.
        for_resume: Whether training goes on from it, so that the weights alone do not do.
        where: Flag or key that the value is from, for the issue.

    Raises:
        ConfigError: If there is none, or more than one, or it cannot be resumed from; the issue says what was found
            and what to do.
    """
    try:
        return _resolve(value, Path(log_root), task, config_name, for_resume)
    except ConfigError as error:
        raise ConfigError(replace(issue, where=where) for issue in error.issues) from None


def _resolve(value: str, log_root: Path, task: str, config_name: str, for_resume: bool) -> ResolvedCheckpoint:
    selected = value in SELECTORS and not Path(value).exists()
    checkpoint = _select(value, log_root, task, config_name) if selected else _from_path(value)
    if for_resume and not checkpoint.resumable:
        found = f"{str(checkpoint.step_dir)!r} lacks {' and '.join(checkpoint.missing)}, which training resumes from"
        raise _error(
            found, "a global_step_N directory as training wrote it", "to start from weights alone: runner.ckpt_path"
        )
    return checkpoint


def _from_path(value: str) -> ResolvedCheckpoint:
    path = Path(value).expanduser().absolute()
    if not path.exists():
        raise _error(f"{value!r} does not exist (relative paths start at {str(Path.cwd())!r})", *_beside(path))
    if path.is_file():
        _require_whole(path)
        return _resolved(path)
    if _STEP_NAME.fullmatch(path.name):
        weights = path / _WEIGHTS
        if not weights.is_file():
            inside = listing(sorted(str(entry.relative_to(path)) for entry in path.rglob("*") if entry.is_file()), 8)
            found = f"{value!r} is half-written: {_WEIGHTS} is missing (it holds: {inside})"
            raise _error(found, "a complete checkpoint", _neighbours(path))
        _require_whole(weights)
        return _resolved(weights)
    files = [file for file in path.rglob("full_weights.pt") if not _in_progress(file.relative_to(path))]
    files.sort(key=_natural)
    if len(files) != 1:
        steps = _names(files, path)
        found = f"{value!r} has {len(files)} full_weights.pt below it" + (f": {listing(steps, 12)}" if steps else "")
        raise _error(found, _FORMS, f"e.g. --checkpoint {path / steps[-1]}" if steps else "")
    _require_whole(files[0])
    return _resolved(files[0])


def _names(files: list[Path], path: Path) -> list[str]:
    """Return the steps that weight files belong to, or the files where several belong to one step."""
    steps = [_step_dir(file)[0] for file in files]
    shown = [file if steps.count(step) > 1 else step for file, step in zip(files, steps, strict=True)]
    return [str(place.relative_to(path)) if place.is_relative_to(path) else str(place) for place in shown]


def _in_progress(relative: Path) -> bool:
    """Whether a file lies in a checkpoint that is still being written (`.global_step_N.partial`)."""
    return any(part.startswith(".") for part in relative.parts)


def _beside(path: Path) -> tuple[str, str]:
    """Return what is allowed and the fix for a path that does not exist: the steps beside it, if there are any."""
    steps = sorted((str(entry) for entry in path.parent.glob("global_step_*")), key=_natural)
    return (listing(steps, 12) if steps else _FORMS), "--checkpoint latest selects the newest of this task and YAML"


def _neighbours(step_dir: Path) -> str:
    complete = [entry.name for entry in step_dir.parent.glob("global_step_*") if _incomplete(entry / _WEIGHTS) is None]
    return f"complete ones beside it: {listing(sorted(complete, key=_natural))}" if complete else "train again"


def _require_whole(weights: Path) -> None:
    reason = _incomplete(weights)
    if reason:
        raise _error(f"{str(weights)!r} {reason}", "weights written by torch.save", "use an earlier checkpoint")


def _incomplete(weights: Path) -> str | None:
    """Return what is wrong with a weights file, None when it is whole.

    ``torch.save`` writes a zip archive whose directory comes last, so that a file cut short is not one.
    """
    if not weights.is_file():
        return "is missing"
    if is_lfs_pointer(weights):
        return f"is a Git LFS pointer (run 'git lfs pull' in {weights.parent})"
    return None if zipfile.is_zipfile(weights) else "is half-written or not a torch file"


def _resolved(weights: Path, notices: tuple[str, ...] = ()) -> ResolvedCheckpoint:
    step_dir, step = _step_dir(weights)
    missing = [] if step >= 0 else ["a global_step_N directory"]
    # torch.distributed.checkpoint writes `.metadata` last
    if not (step_dir / "actor" / "dcp_checkpoint" / ".metadata").is_file():
        missing.append("actor/dcp_checkpoint (optimizer, scheduler and RNG state)")
    if not _counters_readable(step_dir / "actor" / "trainer_state.json"):
        missing.append("a readable actor/trainer_state.json (number of optimizer steps)")
    return ResolvedCheckpoint(weights, step_dir, step, tuple(missing), notices)


def _counters_readable(file: Path) -> bool:
    """Whether training can take its counters from a file; checkpoints of RLinf itself have none."""
    try:
        return not file.exists() or json.loads(file.read_text(encoding="utf-8"))["optimizer_steps"] >= 0
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return False


def _step_dir(weights: Path) -> tuple[Path, int]:
    for parent in weights.parents:
        match = _STEP_NAME.fullmatch(parent.name)
        if match:
            return parent, int(match[1])
    return weights.parent, -1


def _select(selector: str, log_root: Path, task: str, config_name: str) -> ResolvedCheckpoint:
    runs, others, unreadable = _runs(log_root, task, config_name)
    notices = [f"skipped {run}: its {MANIFEST_FILENAME} cannot be read or is not complete" for run in unreadable]
    for run in runs:
        weights = _best(run, notices) if selector == "best" else _latest(run, notices)
        if weights is not None:
            return _resolved(weights, tuple(notices))
    found = f"{selector!r}: no run of task {task!r} with YAML {config_name!r} below {str(log_root.absolute())!r}"
    if runs:
        found = f"{selector!r}: none of {len(runs)} run(s) of this task and YAML has one ({'; '.join(notices)})"
    fix = "name a path, or train first"
    if selector == "best" and runs:
        fix = "--checkpoint latest, or name a path"
    raise _error(found, f"runs found there: {listing(others, 8)}" if others and not runs else _FORMS, fix)


def _runs(log_root: Path, task: str, config_name: str) -> tuple[list[Path], list[str], list[Path]]:
    """Return the compatible runs, newest first, a description of the others, and those that cannot be read."""
    runs: list[tuple[datetime, Path]] = []
    others: list[str] = []
    unreadable: list[Path] = []
    for manifest in sorted(log_root.glob(f"*/{MANIFEST_FILENAME}")):
        kind = read_manifest(manifest)
        if kind is None:
            others.append(f"{manifest.parent.name} (unreadable {MANIFEST_FILENAME})")
            unreadable.append(manifest.parent)
        elif kind.ours and (kind.task, kind.config_name) == (task.split(":")[-1], config_name):
            runs.append((kind.created, manifest.parent))
        else:
            others.append(f"{manifest.parent.name} ({kind.task}, {kind.config_name})")
    return [run for _, run in sorted(runs, reverse=True)], others, unreadable


@dataclass(frozen=True)
class RunKind:
    """What a run's manifest says about it."""

    task: str
    config_name: str
    created: datetime
    ours: bool
    """Whether it is of this library, in the version that is read here."""


def read_manifest(manifest: Path) -> RunKind | None:
    """Read a run's ``run.json``; None when it cannot be read or is not complete, whoever wrote it."""
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
        created = datetime.fromisoformat(data["created_at"])
        created = created if created.tzinfo else created.replace(tzinfo=UTC)
        ours = data["version"] == _MANIFEST_VERSION and data["library"] == "rlinf"
        return RunKind(str(data["task"]), str(data["metadata"].get("config_name")), created, ours)
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return None


def _latest(run: Path, notices: list[str]) -> Path | None:
    """Return the weights of the highest complete step of a run."""
    steps = [path for path in run.rglob("global_step_*") if path.is_dir() and _STEP_NAME.fullmatch(path.name)]
    for step_dir in sorted(steps, key=_natural, reverse=True):
        reason = _incomplete(step_dir / _WEIGHTS)
        if reason is None:
            return (step_dir / _WEIGHTS).absolute()
        notices.append(f"skipped {step_dir}: {_WEIGHTS.name} {reason}")
    notices.append(f"{run.name} has no complete checkpoint")
    return None


def _best(run: Path, notices: list[str]) -> Path | None:
    """Return the weights of the best checkpoint of a run and of the runs it was resumed from.

    Evaluated success outranks success in training: the two are not comparable. Of equals the newest run's is taken.
    """
    candidates = []
    for segment in lineage(run):
        best = _read_best(segment.run_dir, notices)
        if best is not None:
            evaluated = best["metric"].startswith("eval/")
            candidates.append((evaluated, float(best["value"]), segment.run_dir, best["step_dir"]))
    if not candidates:
        return None
    evaluated, value, home, step_dir = max(candidates, key=lambda candidate: candidate[:2])
    if home != run:
        kind = "evaluated success" if evaluated else "success in training"
        notices.append(f"the best checkpoint is of {home.name}, which {run.name} was resumed from ({kind} {value:.3f})")
    return (home / step_dir / _WEIGHTS).absolute()


def _read_best(run: Path, notices: list[str]) -> dict | None:
    """Return what a run's best file says, if it names a whole checkpoint."""
    file = run / BEST_FILENAME
    try:
        best = json.loads(file.read_text(encoding="utf-8"))
        step_dir, _, _ = run / best["step_dir"], float(best["value"]), best["metric"].startswith
    except FileNotFoundError:
        notices.append(f"{run.name} has no {BEST_FILENAME}")
        return None
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        notices.append(f"{file} cannot be read: {error}")
        return None
    reason = _incomplete(step_dir / _WEIGHTS)
    if reason is not None:
        notices.append(f"{file} names {step_dir.name}, whose {_WEIGHTS.name} {reason}")
        return None
    return best


def _natural(path: Path | str) -> list[tuple[int, int | str]]:
    """Sort key that orders numbers by value: step 9 before step 10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", str(path)) if part]


def _error(found: str, allowed: str = "", fix: str = "") -> ConfigError:
    return ConfigError([Issue(_FLAG, found, allowed, fix)])
