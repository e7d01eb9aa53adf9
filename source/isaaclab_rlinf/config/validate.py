# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check a whole configuration before anything starts: all mistakes at once, no torch, no RLinf, no simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.accelerators import count_accelerators
from isaaclab_rlinf.config.checks_algorithm import check_algorithm
from isaaclab_rlinf.config.checks_arithmetic import check_arithmetic
from isaaclab_rlinf.config.checks_effects import check_effects
from isaaclab_rlinf.config.checks_gpus import check_gpus
from isaaclab_rlinf.config.checks_model import check_model, check_weights
from isaaclab_rlinf.config.checks_placement import check_placement
from isaaclab_rlinf.config.checks_precision import check_precision
from isaaclab_rlinf.config.checks_run import check_run
from isaaclab_rlinf.config.checks_schedule import check_schedule
from isaaclab_rlinf.config.checks_sections import check_sections
from isaaclab_rlinf.config.checks_task import check_blocks, check_tasks
from isaaclab_rlinf.config.compose import resolve
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import Issue, raise_if
from isaaclab_rlinf.config.migrate import migrate

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.config.schema import IsaacLabBlock

MODES = ("train", "play")
CHECKS = (
    check_sections,
    check_run,
    check_blocks,
    check_placement,
    check_arithmetic,
    check_gpus,
    check_algorithm,
    check_precision,
    check_schedule,
    check_effects,
    check_model,
    check_weights,
    check_tasks,
)
"""In this order; each takes the :class:`~isaaclab_rlinf.config.context.Context` and adds to it."""
COLLECT_CHECKS = (check_sections, check_blocks, check_tasks)
"""What ``collect`` needs of them: it has neither a model nor a training."""


@dataclass(frozen=True)
class Validation:
    """The outcome of :func:`examine`."""

    issues: tuple[Issue, ...]
    """Mistakes; the run must not start."""
    notices: tuple[str, ...]
    """What the user should know, one line each."""
    blocks: dict[str, IsaacLabBlock]
    """The valid ``isaaclab`` blocks, by ``train`` and ``eval``."""


def examine(
    cfg: DictConfig,
    *,
    source: Path,
    mode: str,
    num_accelerators: int | None = -1,
    checks: Sequence[Callable[[Context], None]] = CHECKS,
) -> Validation:
    """Check a composed and migrated configuration.

    Args:
        cfg: The configuration, with the command line applied.
        source: The YAML it comes from, named in the issues.
        mode: ``train`` or ``play``.
        num_accelerators: Accelerators the run may use: 0 for ``--device cpu``, None when they are another cluster's;
            left out, they are counted.
        checks: What to check, in order.

    Returns:
        Every mistake, every notice, and the typed blocks.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}, allowed: {', '.join(MODES)}")
    plain, unresolved = resolve(cfg)
    count = count_accelerators() if num_accelerators == -1 else num_accelerators
    ctx = Context(plain, source, mode, count)
    for check in checks:
        check(ctx)
    # a key that does not resolve was left out, so the checks call it missing; its own issue says more
    paths = {issue.where for issue in unresolved}
    rest = [issue for issue in _each_once(ctx) if issue.where not in paths]
    issues = tuple(issue.in_file(source) for issue in [*unresolved, *rest])
    blocks = {name: block for name, block in ctx.blocks.items() if ctx.intact(f"env.{name}.isaaclab")}
    return Validation(issues, tuple(dict.fromkeys(ctx.notices)), blocks)


def _each_once(ctx: Context) -> list[Issue]:
    """Return the issues without those that repeat for ``env.eval.isaaclab`` what an equal block of training has."""
    train, evaluation = "env.train.isaaclab", "env.eval.isaaclab"
    if ctx.get(train, None) != ctx.get(evaluation, None):
        return ctx.issues
    first = {issue for issue in ctx.issues if issue.where.startswith(train)}
    moved = lambda issue: replace(issue, where=issue.where.replace(evaluation, train, 1))  # noqa: E731
    return [issue for issue in ctx.issues if not issue.where.startswith(evaluation) or moved(issue) not in first]


def validate(cfg: DictConfig, *, source: Path, mode: str, num_accelerators: int | None = -1) -> list[Issue]:
    """Return the mistakes that :func:`examine` finds; same arguments."""
    return list(examine(cfg, source=source, mode=mode, num_accelerators=num_accelerators).issues)


def require_sound(
    cfg: DictConfig, *, source: Path, mode: str, checks: Sequence[Callable[[Context], None]] = CHECKS
) -> None:
    """Raise when sections or keys that the command line reads or writes are missing or of the wrong kind.

    For use before the command line is applied, so that applying it needs no checks of its own.

    Args:
        cfg: A composed and migrated configuration.
        source: The YAML it comes from.
        mode: ``train`` or ``play``.
        checks: See :func:`examine`.

    Raises:
        ConfigError: With everything :func:`examine` finds, not only what is missing.
    """
    plain, unresolved = resolve(cfg)
    ctx = Context(plain, source, mode, 0)
    check_sections(ctx)
    if ctx.issues or unresolved:
        raise_if(examine(cfg, source=source, mode=mode, checks=checks).issues, source)


def report_unresolved(cfg: DictConfig, source: Path) -> list[Issue]:
    """Return every issue of a configuration with unresolved interpolations, whose cause may be another mistake.

    Args:
        cfg: A composed configuration; it is migrated here.
        source: The YAML it comes from.
    """
    migrate(cfg)
    return validate(cfg, source=source, mode="train")
