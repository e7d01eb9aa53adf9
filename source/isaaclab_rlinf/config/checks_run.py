# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check what a run is called and where its metrics go: names that become directories, and logins of loggers."""

from __future__ import annotations

import importlib.util
import netrc
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing, show

THREAD_VARIABLES = ("ISAACLAB_RLINF_NUM_THREADS", "ISAACLAB_RLINF_SIM_THREADS")
BACKENDS = ("tensorboard", "wandb", "swanlab")
_GROUPS = ("actor", "rollout", "env")
_NAME_BYTES = 200
"""File systems take 255, and a run adds to its names."""


def check_run(ctx: Context) -> None:
    """Check names, loggers and what the environment says of threads.

    Args:
        ctx: The validation in progress.
    """
    _check_experiment_name(ctx)
    _check_group_names(ctx)
    _check_threads(ctx)
    for mode in ("train", "eval"):
        _tell_unread(ctx, mode)
    for backend in _backends(ctx):
        _check_login(ctx, backend)


def _check_experiment_name(ctx: Context) -> None:
    """RLinf makes a directory of this name inside the run's."""
    where, name = "runner.logger.experiment_name", ctx.get("runner.logger.experiment_name", None)
    if not isinstance(name, str) or not name.strip():
        return
    if reason := _no_file_name(name):
        fix = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[:_NAME_BYTES]
        ctx.issue(
            where, f"{show(name)} {reason}; it names a directory of the run", "a plain name", f"e.g. {fix or 'run'}"
        )


def _check_threads(ctx: Context) -> None:
    for variable in THREAD_VARIABLES:
        given = os.environ.get(variable)
        if given is not None and not (given.isdecimal() and int(given) > 0):
            where, found = f"environment variable {variable}", f"{show(given)} is no number of threads"
            ctx.issues.append(Issue(where, found, "a whole number from 1", f"unset {variable}", given=True))


def _no_file_name(name: str) -> str:
    """Return why a text cannot name a directory, an empty string when it can."""
    if "/" in name or "\\" in name:
        return "has a slash"
    if name.startswith(".") or name != name.strip():
        return "begins with a dot or a space, or ends with a space"
    if not name.isprintable():
        return "has characters that cannot be printed"
    return f"is longer than {_NAME_BYTES} bytes" if len(name.encode()) > _NAME_BYTES else ""


def _check_group_names(ctx: Context) -> None:
    """Ray names each worker after its group; an environment variable lists them, joined by commas."""
    names: dict[str, str] = {}
    for section in _GROUPS:
        where, name = f"{section}.group_name", ctx.get(f"{section}.group_name", None)
        if not isinstance(name, str) or not name.strip() or (section == "actor" and not ctx.training):
            continue
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            ctx.issue(where, show(name), "letters, digits, '_', '-' and '.'", "e.g. " + section.capitalize() + "Group")
        elif name in names:
            ctx.issue(where, f"{show(name)}, which {names[name]} has already", "a name of its own")
        names.setdefault(name, where)


def _tell_unread(ctx: Context, mode: str) -> None:
    """Two keys that Isaac Lab's YAMLs repeat below ``init_params``, where nothing reads them."""
    for key, read in (("num_envs", "total_num_envs"), ("max_episode_steps", "max_episode_steps")):
        unread, value = ctx.get(f"env.{mode}.init_params.{key}", None), ctx.get(f"env.{mode}.{read}", None)
        if unread is not None and value is not None and unread != value:
            ctx.notices.append(f"env.{mode}.init_params.{key}: {unread} is not read; env.{mode}.{read} ({value}) is")


def _backends(ctx: Context) -> list[str]:
    """Return the loggers that are asked for, an empty list when the key is wrong."""
    value = ctx.get("runner.logger.logger_backends", None)
    entries = [value] if isinstance(value, str) else value
    if entries is None:
        return []
    if not (isinstance(entries, list) and all(entry in BACKENDS for entry in entries)):
        wrong = next((entry for entry in entries if entry not in BACKENDS), "") if isinstance(entries, list) else ""
        where = "runner.logger.logger_backends"
        ctx.issue(where, show(value), f"a list of {listing(BACKENDS)}", did_you_mean(wrong, BACKENDS))
        return []
    return list(dict.fromkeys(entries))


def _check_login(ctx: Context, backend: str) -> None:
    """A logger that asks for a key does so after the workers have started, or ends the run there."""
    where = "runner.logger.logger_backends"
    if backend == "tensorboard":
        return
    if importlib.util.find_spec(backend) is None:
        ctx.issue(where, f"{backend!r}, which is not installed here", "a logger that is", f"install {backend}")
    elif backend == "wandb" and not _wandb_may_start(os.environ):
        fix = "run `wandb login`, set WANDB_API_KEY, or log offline with WANDB_MODE=offline"
        ctx.issue(where, "'wandb', but there is no login for it on this machine", "a login, or offline mode", fix)
    elif backend == "swanlab" and not _swanlab_may_start(os.environ):
        if ctx.get("runner.logger.swanlab_mode", "cloud") != "cloud":
            return
        found = "'swanlab' in its cloud mode, but there is no login for it on this machine"
        fix = "run `swanlab login`, set SWANLAB_API_KEY, or set runner.logger.swanlab_mode: offline"
        ctx.issue(where, found, "a login, or swanlab_mode local or offline", fix)


def _wandb_may_start(environment: Mapping[str, str]) -> bool:
    if environment.get("WANDB_MODE") in ("offline", "disabled", "dryrun", "shared"):
        return True
    if environment.get("WANDB_API_KEY") or environment.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname
    logins = [environment.get("NETRC"), Path.home() / ".netrc", Path.home() / "_netrc"]
    settings = Path(environment.get("WANDB_CONFIG_DIR", Path.home() / ".config/wandb")) / "settings"
    offline = any(_says_offline(file) for file in (settings, Path("wandb/settings")))
    return offline or any(_has_login(file, host) for file in filter(None, logins))


def _swanlab_may_start(environment: Mapping[str, str]) -> bool:
    home = environment.get("SWANLAB_ROOT") or environment.get("SWANLAB_SAVE_DIR") or Path.home() / ".swanlab"
    files = (Path(home) / ".netrc", Path(".swanlab/.netrc"))
    return bool(environment.get("SWANLAB_API_KEY")) or any(_has_login(file, None) for file in files)


def _has_login(file: Any, host: str | None) -> bool:
    """Return whether a netrc file has a login for a host; any host when it is None."""
    try:
        hosts = netrc.netrc(str(file)).hosts
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        return False
    return bool(hosts) if host is None else host in hosts


def _says_offline(file: Path) -> bool:
    try:
        return re.search(r"^\s*(mode\s*=\s*(offline|disabled)|disabled\s*=\s*true)", file.read_text(), re.M) is not None
    except (OSError, UnicodeDecodeError):
        return False
