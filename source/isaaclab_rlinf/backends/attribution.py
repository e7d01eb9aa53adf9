# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Say where the user wrote what is wrong: with a flag, as an override, or in the YAML.

A check sees one resolved config and names key paths. A line of the YAML beside a value that came from the command line
shows another value, and a key that only a flag set is one that the user has never seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.command_overrides import override_key
from isaaclab_rlinf.config.errors import Issue

_TASK = ("env.train.init_params.id", "env.eval.init_params.id")
_FLAGS: dict[str, tuple[str, ...]] = {
    "task": _TASK,
    "seed": ("actor.seed", "env.train.seed", "env.eval.seed"),
    "model_path": ("actor.model.model_path", "rollout.model.model_path"),
    "max_iterations": ("runner.max_epochs",),
}
"""Flag -> key paths that it writes."""
_COUNTS: dict[str, dict[str, tuple[str, ...]]] = {
    "train": {"num_envs": ("env.train.total_num_envs",)},
    "play": {
        "num_envs": ("env.eval.total_num_envs",),
        "num_episodes": ("env.eval.total_num_envs", "env.eval.rollout_epoch"),
    },
}


def own_rollout_keys(cfg: Any) -> frozenset[str] | None:
    """Return what ``rollout.model`` sets itself, before it inherits the rest; None where there is nothing to inherit.

    Args:
        cfg: A composed configuration, not yet migrated.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        actor, own = OmegaConf.select(cfg, "actor.model"), OmegaConf.select(cfg, "rollout.model")
    except OmegaConfBaseException:
        return None
    if not OmegaConf.is_dict(actor):
        return None
    return frozenset(map(str, own)) if OmegaConf.is_dict(own) else frozenset()


def attribute(
    issues: Iterable[Issue], args: argparse.Namespace, mode: str, source: Path, own: frozenset[str] | None = None
) -> list[Issue]:
    """Return the issues with the flag or the file that each belongs to, each once.

    Args:
        issues: From the checks, or about a flag.
        args: Parsed command line.
        mode: ``train`` or ``play``.
        source: The task YAML.
        own: From :func:`own_rollout_keys`; a mistake in what ``rollout.model`` inherits is one of ``actor.model``.
    """
    flags = {
        path: f"--{flag}"
        for flag, paths in {**_FLAGS, **_COUNTS[mode]}.items()
        if getattr(args, flag, None) is not None
        for path in paths
    }
    keys = [override_key(override) for override in args.overrides]
    placed = (_inherited(issue, own) for issue in issues)
    return list(dict.fromkeys(_attributed(issue, flags, keys, source) for issue in placed))


def _inherited(issue: Issue, own: frozenset[str] | None) -> Issue:
    key = issue.where.removeprefix("rollout.model.")
    if own is None or key == issue.where or key.partition(".")[0].partition("[")[0] in own:
        return issue
    return replace(issue, where=f"actor.model.{key}", line=None)


def _attributed(issue: Issue, flags: dict[str, str], keys: list[str], source: Path) -> Issue:
    if issue.where in flags:
        return replace(issue, where=flags[issue.where], file=None, line=None, given=True)
    overridden = any(issue.where == key or issue.where.startswith((f"{key}.", f"{key}[")) for key in keys)
    if overridden or issue.where.startswith("-"):
        return replace(issue, file=None, line=None, given=True)
    return issue.in_file(source)
