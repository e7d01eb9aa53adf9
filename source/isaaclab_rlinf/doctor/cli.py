# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf doctor``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isaaclab_rlinf.doctor.finding import Finding

_STYLES = {"ok": "green", "info": "cyan", "warn": "yellow", "fail": "bold red"}


def add_doctor_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf doctor``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--config_name", metavar="NAME", help="Task YAML whose model is looked at.")
    parser.add_argument("--config_path", metavar="DIR", help="Directory of the YAML; searched for when left out.")
    parser.add_argument("--model_path", type=Path, metavar="DIR", help="Checkpoint whose kind is looked at.")
    parser.add_argument("--model_type", metavar="TYPE", help="Model type to look at when there is no YAML.")


def run_doctor(args: argparse.Namespace) -> int:
    """Print the report.

    Args:
        args: Namespace with the arguments of :func:`add_doctor_args`.

    Returns:
        0 when nothing needed is missing, else 1.

    Raises:
        ConfigError: If the YAML or the checkpoint cannot be read, or the arguments exclude each other.
    """
    sections = diagnose(args)
    _print(sections)
    return int(any(line.status == "fail" for _, lines in sections for line in lines))


def diagnose(args: argparse.Namespace) -> list[tuple[str, list[Finding]]]:
    """Return the report as titled sections.

    Args:
        args: Namespace with the arguments of :func:`add_doctor_args`.

    Raises:
        ConfigError: As :func:`run_doctor`.
    """
    from isaaclab_rlinf.doctor.known_good import ENVIRONMENTS
    from isaaclab_rlinf.doctor.machine import machine_findings
    from isaaclab_rlinf.doctor.software import environment_kind, package_findings

    needs = _needs(args)
    environment = environment_kind()
    sections = [
        (f"Packages ({ENVIRONMENTS[environment]} environment)", package_findings(environment)),
        ("Machine", machine_findings()),
    ]
    return [*sections, ("What you want to run", needs)] if needs else sections


def _needs(args: argparse.Namespace) -> list[Finding]:
    """Return the lines about the YAML, model type and checkpoint that the arguments name."""
    from isaaclab_rlinf.config.errors import ConfigError, Issue
    from isaaclab_rlinf.doctor.needs import checkpoint_findings, checkpoint_type, model_findings

    named_yaml = args.config_name is not None or args.config_path is not None
    if named_yaml and args.model_type is not None:
        found = f"{args.model_type!r} together with a YAML, which has a model_type"
        raise ConfigError([Issue("--model_type", found, "one of the two", "leave --model_type out")])
    model = _model_section(args) if named_yaml else {"model_type": args.model_type}
    path, where = _checkpoint(args, model)
    kind = model.get("model_type")
    if path is not None and where != "--model_path" and not path.is_dir():
        fix = f"set {where} to a checkpoint directory, or give --model_path DIR to train and play"
        absent = Finding("checkpoint", "fail", f"{where}: {str(path)!r} is not a directory", "a directory", fix)
        return [*model_findings(str(kind), model.get("implementation")), absent]
    if kind is None and path is not None:
        kind = checkpoint_type(path, where)
    lines = [] if kind is None else model_findings(str(kind), model.get("implementation"))
    return lines if path is None else [*lines, *checkpoint_findings(path, where, model.get("model_type"))]


def _model_section(args: argparse.Namespace) -> dict[str, Any]:
    """Return ``actor.model``, or ``rollout.model`` of a YAML that only evaluates."""
    from isaaclab_rlinf.config.compose import compose_config, resolve
    from isaaclab_rlinf.config.discover import find_config
    from isaaclab_rlinf.config.errors import ConfigError, Issue

    source = find_config(args.config_name, args.config_path)
    cfg, _ = resolve(compose_config(source))
    for section in ("actor", "rollout"):
        model = (cfg.get(section) or {}).get("model") or {}
        if model.get("model_type"):
            return model
    found = "neither actor.model.model_type nor rollout.model.model_type is set"
    raise ConfigError([Issue("actor.model.model_type", found, "a model type", file=source)])


def _checkpoint(args: argparse.Namespace, model: dict[str, Any]) -> tuple[Path | None, str]:
    """Return the checkpoint to look at and where it was named; None when a YAML needs or names none."""
    from isaaclab_rlinf.config.checks_model import BUNDLED, FROM_SCRATCH

    if args.model_path is not None:
        return args.model_path.expanduser(), "--model_path"
    named = model.get("model_path")
    if not isinstance(named, str) or named in ("", "???", BUNDLED) or model.get("model_type") in FROM_SCRATCH:
        return None, ""
    return Path(named).expanduser(), "actor.model.model_path"


def _print(sections: Sequence[tuple[str, list[Finding]]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if Console().is_terminal else 160)
    for title, lines in sections:
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in ("", "", "found", "known good"):
            table.add_column(column, overflow="fold")
        for line in lines:
            table.add_row(Text(line.status, _STYLES[line.status]), line.subject, line.found, line.good)
        console.print(table, "")
    repairs: dict[str, list[Finding]] = {}
    for line in (line for _, lines in sections for line in lines if line.fix):
        repairs.setdefault(line.fix, []).append(line)
    for fix, lines in repairs.items():
        worst = max((line.status for line in lines), key=list(_STYLES).index)
        subjects = ", ".join(line.subject for line in lines)
        console.print(Text.assemble((f"{worst}  {subjects}: ", _STYLES[worst]), fix))
    failed = sum(line.status == "fail" for _, lines in sections for line in lines)
    console.print(f"{failed} problem{'s' if failed > 1 else ''} to repair" if failed else "Nothing needed is missing.")
