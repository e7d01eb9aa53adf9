# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is wrong with a configuration, as data: :class:`Issue`, and the exception that carries all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Issue:
    """One mistake, with everything a user needs to repair it."""

    where: str
    """YAML key path (``env.train.isaaclab.main_images``) or command-line flag (``--config_name``)."""
    found: str
    """What stands there now."""
    allowed: str = ""
    """What may stand there; empty when the fix says it all."""
    fix: str = ""
    """The next step to take."""
    file: Path | None = None
    line: int | None = None
    given: bool = False
    """Whether it was given on the command line, as a flag or an override, so that no file shows it."""

    @property
    def on_command_line(self) -> bool:
        """Whether the mistake was made on the command line."""
        return self.given or (self.file is None and self.where.startswith("-"))

    def in_file(self, file: Path) -> Issue:
        """Return the same issue with a file, unless it already names one or is about a flag."""
        return self if self.file is not None or self.on_command_line else replace(self, file=file)

    def __str__(self) -> str:
        """Return the issue on one line, for exceptions and logs."""
        parts = [f"{self.where}: {self.found}"]
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.fix:
            parts.append(f"fix: {self.fix}")
        return "; ".join(parts)


class ConfigError(ValueError):
    """A configuration that cannot be used.

    Attributes:
        issues: Every mistake found, never empty.
    """

    def __init__(self, issues: Iterable[Issue]):
        """Store the issues.

        Args:
            issues: At least one issue.
        """
        self.issues: tuple[Issue, ...] = tuple(issues)
        super().__init__("\n".join(str(issue) for issue in self.issues))


def near(name: object, candidates: Iterable[object], limit: int = 3) -> list[str]:
    """Return the candidates that look most like a name, best first; else those that contain it.

    Args:
        name: What the user wrote.
        candidates: Names that exist.
        limit: The most names to return.
    """
    known = sorted({str(candidate) for candidate in candidates})
    by_fold = {entry.casefold(): entry for entry in known}
    wanted = str(name).casefold()
    matches = difflib.get_close_matches(wanted, list(by_fold), n=limit, cutoff=0.6)
    if not matches and len(wanted) > 2:
        return [by_fold[entry] for entry in by_fold if wanted in entry][:limit]
    ratios = [difflib.SequenceMatcher(None, match, wanted).ratio() for match in matches]
    # names clearly less alike than the best one only distract
    return [by_fold[match] for match, ratio in zip(matches, ratios, strict=True) if ratio > ratios[0] - 0.12]


def did_you_mean(name: object, candidates: Iterable[object]) -> str:
    """Return ``did you mean 'a' or 'b'?``, or an empty string when nothing is near."""
    matches = near(name, candidates)
    return f"did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def listing(names: Iterable[object], limit: int = 40) -> str:
    """Return names joined by commas, saying how many are left out beyond a limit."""
    items = [str(name) for name in names]
    shown = ", ".join(items[:limit]) or "(none)"
    return shown + (f", and {len(items) - limit} more" if len(items) > limit else "")


def show(value: object, limit: int = 120) -> str:
    """Return a value as it would be read in YAML, shortened, with its type when that is the point."""
    text = "null" if value is None else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def raise_if(issues: Sequence[Issue], file: Path | None = None) -> None:
    """Raise :class:`ConfigError` when there are issues.

    Args:
        issues: What was found.
        file: The file to name in issues that name none.

    Raises:
        ConfigError: If ``issues`` is not empty.
    """
    if issues:
        raise ConfigError(issue.in_file(file) if file is not None else issue for issue in issues)
