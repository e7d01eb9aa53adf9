# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Read a plain mapping key by key; every mistake becomes an :class:`~isaaclab_rlinf.config.errors.Issue`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing, near, show

_KINDS = {bool: "a boolean", int: "a whole number", float: "a number", str: "a text", list: "a list", dict: "a mapping"}


def kind_of(value: Any) -> str:
    """Return what a YAML value is, in words."""
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)


class Reader:
    """A view of one mapping that remembers which keys were asked for.

    Attributes:
        ok: Whether the value is a mapping at all.
        failed: Whether any key of this mapping had an issue.
        issues: The list that is appended to; shared with children.
        broken: Key paths that do not hold what was written there; shared with children.
    """

    def __init__(
        self, raw: Any, where: str, issues: list[Issue], allowed: str = "a mapping", broken: set[str] | None = None
    ):
        """Wrap a value.

        Args:
            raw: A dict, or whatever stands in its place.
            where: Its key path.
            issues: Where mistakes go.
            allowed: What to say when it is not a mapping.
            broken: Where the key paths of mistakes go.
        """
        self.where, self.issues = where, issues
        self.broken = set() if broken is None else broken
        self.ok = isinstance(raw, Mapping)
        self.failed = False
        self._raw: Mapping[str, Any] = raw if self.ok else {}
        self._asked: list[str] = []
        if not self.ok:
            self.issue("", f"{show(raw)} is {kind_of(raw)}" if raw is not None else "missing", allowed)

    def issue(self, key: str, found: str, allowed: str = "", fix: str = "") -> None:
        """Record a mistake at a key of this mapping ("" for the mapping itself)."""
        self.failed = True
        where = f"{self.where}.{key}" if key else self.where
        self.broken.add(where)
        self.issues.append(Issue(where, found, allowed, fix))

    def has_issue(self, key: str) -> bool:
        """Return whether a mistake was recorded at a key."""
        return any(issue.where == f"{self.where}.{key}" for issue in self.issues)

    def has_issue_in(self, key: str) -> bool:
        """Return whether a mistake was recorded at a key, or anywhere below it."""
        path = f"{self.where}.{key}"
        return any(broken == path or broken.startswith((f"{path}.", f"{path}[")) for broken in self.broken)

    def wrong_type(self, key: str, value: Any, allowed: str) -> None:
        """Record that a value is of the wrong kind."""
        self.issue(key, f"{show(value)} is {kind_of(value)}", allowed)

    def take(self, key: str) -> Any | None:
        """Return a raw value, None when absent; counts as asked for."""
        if key not in self._asked:
            self._asked.append(key)
        value = self._raw.get(key)
        if value == "???":
            self.issue(
                key, "the value is mandatory (???) and was not given", fix="set it in the YAML or on the command line"
            )
            return None
        return value

    def name(self, key: str, required: bool = False) -> str | None:
        """Return a non-empty text, or None when absent."""
        value = self.take(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None or (key in self._raw and required) or required:
            self._bad(key, value, "a non-empty text")
        return None

    def _bad(self, key: str, value: Any, allowed: str) -> None:
        if self.has_issue(key):
            return
        if value is None:
            self.issue(key, "missing", allowed)
        elif value in ("", [], {}):
            self.issue(key, "empty", allowed)
        else:
            self.wrong_type(key, value, allowed)

    def names(self, key: str, none_if_absent: bool = False) -> Any:
        """Return a tuple of non-empty texts, a mistaken one as ""; a single text counts as a list of one."""
        value = self.take(key)
        if value is None:
            return None if none_if_absent else ()
        if isinstance(value, str) and value.strip():
            return (value,)
        if isinstance(value, list) and (value or not none_if_absent):
            texts = [entry if isinstance(entry, str) and entry.strip() else "" for entry in value]
            for index, text in enumerate(texts):
                if not text:
                    self.wrong_type(f"{key}[{index}]", value[index], "a non-empty text")
            return tuple(texts)
        self._bad(key, value, "a list of non-empty texts")
        return ()

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean."""
        value = self.take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong_type(key, value, "true or false")
        return default

    def whole(self, key: str, low: int | None = None) -> int | None:
        """Return a whole number, or None when absent."""
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong_type(key, value, f"a whole number{f' >= {low}' if low is not None else ''}")
            return None
        if low is not None and value < low:
            self.issue(key, show(value), f"a whole number >= {low}")
            return None
        return value

    def number(self, key: str) -> float | None:
        """Return a finite number, or None when absent."""
        value = self.take(key)
        if value is None:
            return None
        if is_number(value):
            return float(value)
        self.wrong_type(key, value, "a finite number")
        return None

    def number_or_list(self, key: str, default: float) -> float | tuple[float, ...]:
        """Return one finite number or a tuple of them."""
        value = self.take(key)
        if value is None:
            return default
        if is_number(value):
            return float(value)
        if isinstance(value, list) and value and all(is_number(entry) for entry in value):
            return tuple(float(entry) for entry in value)
        self.wrong_type(key, value, "a finite number, or a list of finite numbers")
        return default

    def columns(self, key: str, required: bool = False) -> tuple[int, int] | None:
        """Return a slice ``(a, b)`` with ``0 <= a < b``, or None when absent."""
        value, allowed = self.take(key), "[a, b] with 0 <= a < b: columns a to b-1"
        if value is None:
            if required:
                self.issue(key, "missing", allowed)
            return None
        if not isinstance(value, list):
            self.wrong_type(key, value, allowed)
            return None
        whole = all(isinstance(entry, int) and not isinstance(entry, bool) for entry in value)
        if len(value) != 2 or not whole or not 0 <= value[0] < value[1]:
            self.issue(key, show(value), allowed)
            return None
        return value[0], value[1]

    def child(self, key: str, required: bool = False) -> Reader | None:
        """Return a reader of a nested mapping, None when it is absent or not a mapping."""
        value = self.take(key)
        if value is None:
            if required and not self.has_issue(key):
                self.issue(key, "missing", "a mapping")
            return None
        child = self.below(value, f"{self.where}.{key}" if self.where else key)
        return child if child.ok else None

    def below(self, raw: Any, where: str, allowed: str = "a mapping") -> Reader:
        """Return a reader of a value in this mapping that shares its lists of mistakes.

        Args:
            raw: The value.
            where: Its whole key path.
            allowed: What to say when it is not a mapping.
        """
        return Reader(raw, where, self.issues, allowed, self.broken)

    def entries(self, key: str, allowed: str) -> Iterator[tuple[str, Any]]:
        """Yield the key path and value of each entry of a list; a mistake when it is not a list."""
        value = self.take(key)
        if value is None:
            return
        if not isinstance(value, list):
            self.wrong_type(key, value, allowed)
            return
        for index, entry in enumerate(value):
            yield f"{self.where}.{key}[{index}]", entry

    def finish(self) -> None:
        """Report every key that nobody asked for."""
        for key in self._raw:
            if key not in self._asked:
                hint = did_you_mean(key, self._asked) or "remove it"
                self.issue(str(key), "unknown key", listing(self._asked), hint)
                self.broken |= {f"{self.where}.{meant}" for meant in near(key, self._asked)}


def is_number(value: Any) -> bool:
    """Return whether a YAML value is a finite number (booleans are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
