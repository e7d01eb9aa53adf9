# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Say what is wrong with an interpolation ``${...}``: one that is no interpolation at all, or one without a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing

_FORMS = "${section.key}, ${.sibling}, ${oc.env:NAME}, or \\${ for these characters themselves"
_RESOLVERS = ("oc.env", "oc.select", "oc.decode", "oc.create", "oc.dict.keys", "oc.dict.values", "oc.deprecated", "now")
"""What OmegaConf and Hydra resolve outside a running Hydra application."""


def malformed(path: Path) -> list[Issue]:
    """Return an issue for each text of a YAML, and of those it names under ``defaults``, that cannot be parsed.

    Args:
        path: The task YAML.
    """
    return [issue for file in _files(path) for issue in _malformed_in(file)]


def _files(path: Path, seen: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield a YAML and what its defaults list names, as far as the names say where it lies."""
    if path in seen or not path.is_file():
        return
    yield path
    for entry in _defaults(path):
        pairs = entry.items() if isinstance(entry, dict) else [("", entry)]
        for group, option in pairs:
            if isinstance(option, str) and option != "_self_":
                yield from _files(path.parent / str(group) / f"{option.removesuffix('.yaml')}.yaml", (*seen, path))


def _defaults(path: Path) -> list[Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    defaults = content.get("defaults") if isinstance(content, dict) else None
    return defaults if isinstance(defaults, list) else []


def _malformed_in(file: Path) -> Iterator[Issue]:
    import yaml

    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return
    for where, node in _scalars(root, "", frozenset()):
        if "${" in node.value and (reason := _parse_error(node.value)):
            yield Issue(where, *explain_malformed(node.value, reason), file=file, line=node.start_mark.line + 1)


def _scalars(node: Any, where: str, above: frozenset[int]) -> Iterator[tuple[str, Any]]:
    """Yield key path and node of each scalar; an anchor that holds itself is entered once."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        yield where, node
    if not isinstance(node, yaml.CollectionNode) or id(node) in above:
        return
    above = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, f"{where}.{key.value}" if where else str(key.value), above)
    else:
        for index, value in enumerate(node.value):
            yield from _scalars(value, f"{where}[{index}]", above)


def _parse_error(text: str) -> str:
    """Return why OmegaConf cannot parse a text, an empty string when it can."""
    from omegaconf import OmegaConf
    from omegaconf.errors import GrammarParseError

    try:
        OmegaConf.create({"text": text})
    except GrammarParseError as error:
        return str(error).splitlines()[0]
    return ""


def explain_malformed(text: str, reason: str) -> tuple[str, str, str]:
    """Return found, allowed and fix for a text that holds no valid interpolation.

    Args:
        text: The whole value.
        reason: What the parser says of it.
    """
    found = f"{text!r} is not a valid interpolation ({reason})"
    tidy = re.sub(r"\$\{\s*([\w.\s]*?)\s*\}", lambda match: "${" + re.sub(r"[.\s]+", ".", match[1]) + "}", text)
    opened = text.count("{") - text.count("}")
    if re.search(r"\$\{\s*\}", text):
        fix = "name the key whose value is meant, e.g. ${algorithm.gamma}"
    elif opened > 0 and not _parse_error(text + "}" * opened):
        fix = f"close it: {text}{'}' * opened}"
    elif tidy != text and not _parse_error(tidy):
        fix = f"write {tidy}"
    else:
        fix = "repair it, or write \\${ if these characters are meant"
    return found, _FORMS, fix


def explain_unresolved(node: Any, where: str, raw: str, error: Exception, known: list[str]) -> tuple[str, str]:
    """Return found and fix for an interpolation without a value.

    Args:
        node: The container that holds it.
        where: Its key path.
        raw: Its text.
        error: What OmegaConf raised.
        known: Every key path of the configuration.
    """
    reason = str(error).splitlines()[0]
    for explain in (_missing_variable, _unknown_resolver, _circle):
        if answer := explain(where, raw, reason):
            return f"{raw} {answer[0]}", answer[1]
    if "MissingMandatoryValue" in reason or "Missing" in type(error).__name__:
        return f"{raw} points at a value that is mandatory (???) and was not given", f"give {_target(raw)} a value"
    target = _target(raw)
    if not target or ":" in target:
        return f"{raw} does not resolve ({reason})", "repair it, or write the value here"
    if target.startswith("."):
        return f"{raw} does not resolve ({reason})", _relative_fix(node, target)
    hint = did_you_mean(target, known) or "point it at a key that exists"
    return f"{raw} does not resolve (there is no key {target!r})", hint


def _target(raw: str) -> str:
    """Return what stands inside the first interpolation of a text."""
    return raw.partition("${")[2].partition("}")[0].strip()


def _missing_variable(where: str, raw: str, reason: str) -> tuple[str, str] | None:
    name = re.search(r"Environment variable '([^']*)' not found", reason)
    if name is None:
        return None
    fix = f"export {name[1]}=..., or give a default: ${{oc.env:{name[1]},VALUE}}"
    return f"does not resolve: the environment variable {name[1]} is not set", fix


def _unknown_resolver(where: str, raw: str, reason: str) -> tuple[str, str] | None:
    name = re.search(r"Unsupported interpolation type (\S+)", reason)
    if name is not None:
        fix = did_you_mean(name[1], _RESOLVERS) or f"known are {listing(_RESOLVERS)}; a key is written ${{section.key}}"
        return f"does not resolve: nothing is called {name[1]!r}", fix
    if "HydraConfig was not set" in reason:
        return "does not resolve: only a Hydra application has hydra: values, and this is none", "write the value here"
    return None


def _circle(where: str, raw: str, reason: str) -> tuple[str, str] | None:
    if "Recursive interpolation" in reason:
        itself = _target(raw) == where
        found = "refers to itself" if itself else "does not resolve: following it leads back here"
        return found, "write a value here" if itself else f"give {where} or {_target(raw)} a value"
    if "parent node" in reason:
        return "refers to the section that it is in", "name a key outside of itself, or write a value here"
    return None


def _relative_fix(node: Any, target: str) -> str:
    """Suggest a neighbour for ``${.key}`` and ``${..key}``: one dot is the section that holds it, two the one above."""
    name = target.lstrip(".")
    for _ in range(len(target) - len(name) - 1):
        node = node._get_parent() if node is not None else None
    keys = [str(key) for key in node] if hasattr(node, "keys") else []
    return did_you_mean(name, keys) or (f"keys there: {listing(keys)}" if keys else "point it at a key that exists")
