# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The ``isaaclab-rlinf`` command: what surrounds training and playing."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Run a subcommand.

    Args:
        argv: Arguments without the program name; None takes the process's.

    Returns:
        0 done, 1 failed, 2 usage or config error.
    """
    from isaaclab_rlinf.backends.cli_args import not_overrides
    from isaaclab_rlinf.config.errors import ConfigError
    from isaaclab_rlinf.extension import search_working_directory

    search_working_directory()
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    args.overrides = rest
    if unknown := not_overrides(rest) if getattr(args, "takes_overrides", False) else rest:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        return args.run(args)
    except ConfigError as error:
        from isaaclab_rlinf.config.report import print_report

        print_report(error.issues)
        return 2
    except (FileExistsError, FileNotFoundError) as error:
        if not _names_an_argument(error, args):
            raise
        print(f"[ERROR] {error}", file=sys.stderr)
        return 2


def _names_an_argument(error: OSError, args: argparse.Namespace) -> bool:
    """Return whether an error is about a path of the command line; any other is a fault of ours, or of a library."""
    values = [value for value in vars(args).values() if isinstance(value, str | Path) and str(value)]
    if error.filename is not None:  # the system's
        return os.path.abspath(os.fsdecode(error.filename)) in map(os.path.abspath, values)
    paths = [str(value) for value in values if isinstance(value, Path) or os.sep in value]
    return any(path in str(error) for path in paths)


def _parser() -> argparse.ArgumentParser:
    """Return the parser; the subcommands' modules are light, their work is imported when they run."""
    from isaaclab_rlinf.doctor.cli import add_doctor_args, run_doctor
    from isaaclab_rlinf.inspection.check_cli import add_check_args, run_check
    from isaaclab_rlinf.inspection.init_cli import add_init_args, run_init
    from isaaclab_rlinf.workflow.collect_cli import add_collect_args, run_collect
    from isaaclab_rlinf.workflow.export_cli import add_export_args, run_export
    from isaaclab_rlinf.workflow.sft_cli import add_sft_args, run_sft

    parser = argparse.ArgumentParser(prog="isaaclab-rlinf", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, add, run, text in (
        ("init", add_init_args, run_init, "Write a first task YAML from a task's spaces and a checkpoint's files."),
        ("check", add_check_args, run_check, "Check a task YAML as train and play do; --sim starts the task as well."),
        ("doctor", add_doctor_args, run_doctor, "Say what is installed, what the machine has, and what a YAML needs."),
        ("collect", add_collect_args, run_collect, "Record a scripted expert's demonstrations as a LeRobot dataset."),
        ("sft", add_sft_args, run_sft, "Train a base model on demonstrations."),
        ("export", add_export_args, run_export, "Write a training checkpoint as a Hugging Face directory."),
    ):
        command = commands.add_parser(name, help=text, description=text)
        add(command)
        command.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
