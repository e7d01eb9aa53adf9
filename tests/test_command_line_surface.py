# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The command-line surface is frozen: scripts of users call it. Commands are entered as Isaac Lab and pip enter them.

``python tests/test_command_line_surface.py`` writes ``command_line_surface.txt`` anew; a flag that was there goes only
with a line in CHANGELOG.md.
"""

import argparse
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from isaaclab_rlinf import cli, plugin

TABLE = Path(__file__).with_name("command_line_surface.txt")


class _ParserMade(BaseException):
    """Leave a command as soon as its parser is complete."""


def parser_of(command: Callable[[list[str]], object]) -> argparse.ArgumentParser:
    """The parser with which a command reads its arguments."""
    made: list[argparse.ArgumentParser] = []

    def parse_known_args(self, args=None, namespace=None):
        made.append(self)
        raise _ParserMade

    with mock.patch.object(argparse.ArgumentParser, "parse_known_args", parse_known_args):
        try:
            command(["--help"])
        except _ParserMade:
            return made[0]
    raise AssertionError("the command reads no arguments")


def described(action: argparse.Action) -> str:
    """One argument in one line."""
    names = " ".join(action.option_strings) or action.dest
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    if action.choices is not None:
        value = f" {{{','.join(map(str, action.choices))}}}"
    told = f"{names}{value}"
    told += ", required" if action.required else ""
    told += ", repeatable" if isinstance(action, argparse._AppendAction) else ""
    has_default = action.nargs != 0 and action.default not in (None, [], argparse.SUPPRESS)
    return told + (f", default {action.default}" if has_default else "")


def arguments(parser: argparse.ArgumentParser) -> list[str]:
    """Arguments of a parser, sorted, without --help and subcommands."""
    passed_over = (argparse._HelpAction, argparse._SubParsersAction)
    return sorted(described(action) for action in parser._actions if not isinstance(action, passed_over))


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (choices,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(choices)


def surface() -> Iterator[str]:
    """All commands and their arguments, as lines."""
    for action, module in sorted(plugin.BACKENDS.items()):
        yield f"isaaclab {action} --rl_library rlinf"
        yield from (f"    {line}" for line in arguments(parser_of(importlib.import_module(module).run)))
    parser = parser_of(cli.main)
    assert arguments(parser) == []
    for name, command in sorted(subcommands(parser).items()):
        overrides = " [key=value ...]" if command.get_default("takes_overrides") else ""
        yield f"isaaclab-rlinf {name}{overrides}"
        yield from (f"    {line}" for line in arguments(command))


def test_the_surface_is_the_recorded_one():
    assert "\n".join(surface()) + "\n" == TABLE.read_text()


def test_the_installed_commands_are_those_of_the_table():
    from importlib.metadata import entry_points

    (script,) = (entry for entry in entry_points(group="console_scripts") if entry.name == "isaaclab-rlinf")
    assert script.load() is cli.main
    assert {entry.value for entry in entry_points(group="isaaclab.tasks")} >= {plugin.__name__}


if __name__ == "__main__":
    TABLE.write_text("\n".join(surface()) + "\n", encoding="utf-8")
