# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Say what is wrong with an override ``key=value`` of the command line, and how to quote a value that needs it.

Two readers take a quoted value apart: the shell, then Hydra. What is advised here has been through Hydra's own parser.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import Issue, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPENERS = {"[": "]", "{": "}"}
PLACEMENT = "cluster.component_placement"
_VALUE = "a number, true, false, null, a text, [a, b] or {a: 1}"


def override_key(override: str) -> str:
    """Return the key path that an override is about.

    Args:
        override: ``key=value``, ``+key=value``, ``++key=value`` or ``~key``.
    """
    return override.partition("=")[0].lstrip("+~")


def explain_override(override: str, error: Exception, known: Sequence[str]) -> Issue:
    """Return the issue of an override that does not apply.

    Args:
        override: As it was given.
        error: What Hydra raised.
        known: Key paths of the YAML without overrides.
    """
    key, equals, value = override.partition("=")
    where = override_key(override)
    if not equals and not override.startswith("~"):
        fix = "flags start with --; see --help"
        return Issue(override, "not an override", "key=value (Hydra syntax)", fix, given=True)
    if answer := _placement_mistake(where, value):
        return Issue(where, *answer, given=True)
    if where not in known and not override.startswith("+"):
        return _unknown_key(override, where, known)
    if answer := _prefix_mistake(override, key, where, value, known):
        return Issue(where, *answer, given=True)
    if equals and (answer := _unparsable(override, key, value)):
        return Issue(where, *answer, given=True)
    found = f"override {override!r} does not apply: {_reasons(error)}"
    return Issue(where, found, _VALUE, "++key=value forces it", given=True)


def _unknown_key(override: str, where: str, known: Sequence[str]) -> Issue:
    entry = re.match(r"(.*)\[\d+\]", where)
    if entry and entry[1] in known:
        return Issue(
            where, "one entry of a list cannot be overridden", "the whole list", f"{entry[1]}=[a, b]", given=True
        )
    hint = did_you_mean(where, known)
    add = f"to add a key that the YAML does not have: +{override}" if not override.startswith("~") else ""
    return Issue(where, "the YAML has no such key", fix="; ".join(filter(None, [hint, add])), given=True)


def _placement_mistake(where: str, value: str) -> tuple[str, str, str] | None:
    """Return found, allowed and fix for what Hydra cannot do with a placement: keys with a comma, another mapping."""
    if where != PLACEMENT and not where.startswith(f"{PLACEMENT}."):
        return None
    allowed = "ranks for all components, such as 0, 0-3 or all"
    if where == PLACEMENT and not value.startswith("{") and not value.startswith(("'", '"')) and "," in value:
        found = f"Hydra cannot read {value!r} as one value"
        return found, allowed, quoted_override(PLACEMENT, value.strip("[]").replace(" ", ""))
    if "," in where or "'" in value.partition(":")[0] or '"' in value.partition(":")[0]:
        ranks = value.rpartition(":")[2].strip(" }'\"") if value.startswith("{") else value
        plain = f"{PLACEMENT}={ranks or 0}"
        return "Hydra cannot read a key with a comma", allowed, plain if _parses(plain) else f"{PLACEMENT}=0"
    if value.startswith("{") and _parses(f"{PLACEMENT}={value}"):
        added = for_the_shell(f"+{PLACEMENT}={value}")
        return "Hydra adds to a mapping, it does not replace it", allowed, f"~{PLACEMENT} {added}"
    return None


def _prefix_mistake(
    override: str, key: str, where: str, value: str, known: Sequence[str]
) -> tuple[str, str, str] | None:
    """Return found, allowed and fix where ``+`` or ``~`` is not what was meant."""
    if override.startswith("+") and not override.startswith("++") and where in known:
        return "the YAML has this key already; + adds new ones", "key=value", override.lstrip("+")
    if override.startswith("~") and value:
        found = f"override {override!r} removes the key only where its value is {value!r}, which it is not"
        return found, "~key", f"~{where}"
    return None


def _unparsable(override: str, key: str, value: str) -> tuple[str, str, str] | None:
    """Return found, allowed and fix for a value that Hydra cannot read as one value; None when it can."""
    if _parses(override):
        return None
    if "${" in value and value.count("{") > value.count("}"):
        closed = f"{key}={value}{'}' * (value.count('{') - value.count('}'))}"
        return f"{value!r} has an interpolation that is not closed", "${section.key}", for_the_shell(closed)
    closer = _OPENERS.get(value[:1])
    if closer and value.count(value[0]) > value.count(closer):
        closed = f"{key}={value}{closer}"
        fix = for_the_shell(closed) if _parses(closed) else f"close it with {closer}"
        return f"{value!r} is not closed: a {closer} is missing", _VALUE, fix
    if as_list := _quoted_list(key, value):
        return f"Hydra cannot read {value!r} as a list", _VALUE, f"quote its entries: {as_list}"
    if value.startswith("{") and value.endswith("}"):
        return f"Hydra cannot read {value!r} as a mapping", "{a: 1}, keys without quotes", "put it into the YAML"
    quoted = quoted_override(key, value)
    fix = f"for this text, quote it for the shell and for Hydra: {quoted}" if quoted else "put it into the YAML"
    if _is_sweep(override):
        alone = f"[{value}]"
        as_list = f"for a list: {for_the_shell(f'{key}={alone}')}" if _parses(f"{key}={alone}") else ""
        return f"{value!r} has a comma outside of brackets and quotes", _VALUE, "; ".join(filter(None, [fix, as_list]))
    return f"Hydra cannot read {value!r} as a value", _VALUE, fix


def quoted_override(key: str, value: str) -> str:
    """Return an override whose value is a text, quoted for the shell; an empty string when no quoting does it.

    Args:
        key: Key, with its prefix.
        value: The text as the config shall have it.
    """
    bare = value.strip("'\"") if value[:1] in ("'", '"') else value  # a quote that was opened and not closed
    for quote in ('"', "'") if "'" in bare and '"' not in bare else ("'", '"'):
        # only quotes, and backslashes in front of one, are escaped inside a quoted value
        text = re.sub(rf"(\\*){quote}", lambda match, quote=quote: match[1] * 2 + "\\" + quote, bare)
        text = re.sub(r"(\\+)$", lambda match: match[1] * 2, text)
        candidate = f"{key}={quote}{text}{quote}"
        if _value_of(candidate) == bare:
            return for_the_shell(candidate)
    return ""


def _quoted_list(key: str, value: str) -> str:
    """Return an override whose value is a list of quoted texts, an empty string when that is not what is meant."""
    if not (value.startswith("[") and value.endswith("]")) or set(value) & {"'", '"', "\\"}:
        return ""
    candidate = f"{key}=[{','.join(repr(entry.strip()) for entry in value[1:-1].split(','))}]"
    return for_the_shell(candidate) if _parses(candidate) else ""


def for_the_shell(argument: str) -> str:
    """Return an argument as it is typed, in double quotes where the shell leaves what is in them alone."""
    if shlex.quote(argument) == argument or any(special in argument for special in "$`\\!"):
        return shlex.quote(argument)
    return '"' + argument.replace('"', '\\"') + '"'


def _value_of(override: str) -> object:
    """Return the value that Hydra reads, None when it reads none."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    try:
        parsed = OverridesParser.create().parse_override(override)
    except Exception:
        return None
    return None if parsed.is_sweep_override() else parsed.value()


def _parses(override: str) -> bool:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    try:
        return not OverridesParser.create().parse_override(override).is_sweep_override()
    except Exception:
        return False


def _is_sweep(override: str) -> bool:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    try:
        return OverridesParser.create().parse_override(override).is_sweep_override()
    except Exception:
        return False


def _reasons(error: Exception) -> str:
    return " ".join(dict.fromkeys(first_line(part) for part in (error, error.__cause__) if part is not None))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type's name."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
