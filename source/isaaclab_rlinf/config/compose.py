# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Compose a task YAML with Hydra: config groups, interpolations, command-line overrides, clear errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.command_overrides import explain_override, first_line, override_key
from isaaclab_rlinf.config.errors import ConfigError, Issue, did_you_mean, listing, raise_if
from isaaclab_rlinf.config.interpolations import explain_unresolved, malformed

if TYPE_CHECKING:
    from omegaconf import DictConfig


def compose_config(path: Path, overrides: list[str] | tuple[str, ...] = ()) -> DictConfig:
    """Compose a YAML file and apply overrides.

    Args:
        path: An existing ``.yaml`` file; its directory is Hydra's config directory, so config groups beside it work.
        overrides: Hydra overrides, e.g. ``algorithm.gamma=0.98``, ``+new.key=1``, ``~old.key``, ``group=option``.

    Returns:
        The configuration in struct mode, interpolations in place and known to resolve.

    Raises:
        ConfigError: For a syntax error, a missing group file, an override that does not apply, or an interpolation
            that does not resolve; all overrides and interpolations are reported at once.
    """
    path = path.resolve()
    raise_if(_without_effect(overrides))
    try:
        cfg = _compose(path, list(overrides))
    except Exception as error:
        issues = _override_issues(path, overrides) if overrides else []
        raise ConfigError(issues or malformed(path) or [_explain(error, path)]) from None
    if resolve(cfg)[1]:
        from isaaclab_rlinf.config.validate import report_unresolved

        raise ConfigError(report_unresolved(cfg, path))
    return cfg


def resolve(cfg: DictConfig) -> tuple[dict[str, Any], list[Issue]]:
    """Return a configuration as plain values, and one issue for each interpolation that does not resolve.

    Args:
        cfg: Any OmegaConf mapping.

    Returns:
        Plain dicts, lists and scalars, without the keys that have an issue.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        return OmegaConf.to_container(cfg, resolve=True), []
    except OmegaConfBaseException:
        issues: list[Issue] = []
        return _resolve_rest(cfg, issues), issues


def _resolve_rest(node: Any, issues: list[Issue]) -> Any:
    """Resolve what can be, entry by entry; an entry that cannot is left out of its mapping."""
    from omegaconf import DictConfig, ListConfig, OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    is_list = isinstance(node, ListConfig)
    entries: dict[Any, Any] = {}
    for key in range(len(node)) if is_list else list(node):
        child = node._get_node(key)
        try:
            if isinstance(child, DictConfig | ListConfig) and not _is_leaf(child):
                entries[key] = _resolve_rest(child, issues)
            else:
                value = "???" if OmegaConf.is_missing(node, key) else node[key]
                container = isinstance(value, DictConfig | ListConfig)
                entries[key] = OmegaConf.to_container(value, resolve=True) if container else value
        except OmegaConfBaseException as error:
            where, raw = child._get_full_key(None), str(child._value())
            found, fix = explain_unresolved(node, where, raw, error, list(key_paths(node._get_root())))
            issues.append(Issue(where, found, fix=fix))
    return list(entries.values()) if is_list else entries


def key_paths(cfg: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every key of a mapping, parents before children.

    Args:
        cfg: A DictConfig or dict.
        prefix: Path of ``cfg`` itself.
    """
    for key in cfg:
        path = f"{prefix}.{key}" if prefix else str(key)
        yield path
        child = cfg._get_node(key) if hasattr(cfg, "_get_node") else cfg[key]
        is_mapping = hasattr(child, "keys") and not (hasattr(child, "_is_none") and _is_leaf(child))
        if is_mapping:
            yield from key_paths(child, path)


def _is_leaf(child: Any) -> bool:
    return child._is_none() or child._is_missing() or child._is_interpolation()


def _compose(path: Path, overrides: list[str]) -> DictConfig:
    from hydra import compose, initialize_config_dir

    with _hydra_restored(), initialize_config_dir(config_dir=str(path.parent), version_base=None):
        return compose(config_name=path.stem, overrides=overrides)


@contextmanager
def _hydra_restored() -> Iterator[None]:
    """Give Hydra a clean global state and put back what was there (Isaac Lab uses it too)."""
    from hydra.core.global_hydra import GlobalHydra

    before = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = before


def _override_issues(path: Path, overrides: list[str] | tuple[str, ...]) -> list[Issue]:
    """Try each override alone, so that all bad ones are reported at once; [] when the YAML itself is at fault."""
    try:
        base = _compose(path, [])
    except Exception:
        return []
    issues = []
    for override in overrides:
        try:
            _compose(path, [override])
        except Exception as error:
            issues.append(explain_override(override, error, list(key_paths(base))))
    return issues or _clash(path, list(overrides))


def _clash(path: Path, overrides: list[str]) -> list[Issue]:
    """Return the issue of the first override that applies alone but not after those before it."""
    for count, override in enumerate(overrides, start=1):
        try:
            _compose(path, overrides[:count])
        except Exception as error:
            found = f"override {override!r} does not apply after the overrides before it: {first_line(error)}"
            return [Issue(override_key(override), found, "each key once", "remove one of the two", given=True)]
    return []


def _without_effect(overrides: list[str] | tuple[str, ...]) -> list[Issue]:
    """Hydra's own settings are accepted in a YAML; changing one would do nothing, since Hydra does not run this."""
    found = "has no effect and is refused: Hydra only composes the YAML here"
    keys = (override_key(override) for override in overrides)
    return [
        Issue(key, found, fix="remove it", given=True) for key in keys if key == "hydra" or key.startswith("hydra.")
    ]


def _explain(error: Exception, path: Path) -> Issue:
    """Turn whatever Hydra, OmegaConf or PyYAML raised into one issue with file and line."""
    import yaml
    from hydra.errors import MissingConfigException

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, yaml.MarkedYAMLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, yaml.MarkedYAMLError):
        mark = cause.problem_mark or cause.context_mark
        file = Path(mark.name) if mark is not None and Path(mark.name).is_file() else path
        line = mark.line + 1 if mark is not None else None
        at = f"line {line}" if line is not None else "syntax"
        found = f"not valid YAML: {cause.problem or cause.context}"
        if cause.context_mark is not None and line is not None and cause.context_mark.line + 1 < line:
            found += f" ({cause.context}, which begins in line {cause.context_mark.line + 1})"
        return Issue(at, found, fix="repair the syntax", file=file, line=line)
    if isinstance(error, MissingConfigException):
        return _missing_group(error, path)
    reasons = dict.fromkeys(first_line(part) for part in (error.__cause__, error) if part is not None)
    return Issue(
        "(composition)", "; ".join(reasons), fix="repair the file, or the files named in `defaults:`", file=path
    )


def _missing_group(error: Any, path: Path) -> Issue:
    options = [str(option) for option in error.options or []]
    missing = str(error.missing_cfg_file)
    found = f"{missing!r} is asked for in `defaults:` and does not exist below {str(path.parent)!r}"
    allowed = listing(options) if options else ""
    fix = did_you_mean(Path(missing).name, options) or f"create {missing}.yaml there, or remove the entry"
    return Issue("defaults", found, allowed, fix, file=path)
