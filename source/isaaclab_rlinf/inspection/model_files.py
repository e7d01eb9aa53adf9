# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a first task YAML needs to know about a checkpoint, whatever its model type. JSON files only, no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from isaaclab_rlinf.config.errors import ConfigError, Issue, listing

_KINDS = {"tiny_vla": "tiny_vla", "gr00t_n1_5": "gr00t", "Gr00tN1d7": "gr00t_n1d7", "gr00t_n1d7": "gr00t_n1d7"}
"""``model_type`` of a checkpoint's config.json -> RLinf's model type."""


@dataclass(frozen=True)
class ModelFacts:
    """One checkpoint, for one embodiment.

    Attributes:
        model_type: RLinf's name.
        path: Directory, as it will stand in the YAML; None when no checkpoint is given.
        action_dim: Width of one action.
        horizon: Actions predicted per call.
        views: Names of the images, in model order; None when unknown.
        state_dim: Width of the state; None when unknown.
        denoising_steps: Steps per call.
        tag: GR00T embodiment tag.
        state_keys: GR00T state keys with their widths, in model order.
        action_parts: GR00T action keys with their widths, in model order.
        language: GR00T language key.
    """

    model_type: str
    path: str | None = None
    action_dim: int | None = None
    horizon: int | None = None
    views: tuple[str, ...] | None = None
    state_dim: int | None = None
    denoising_steps: int = 4
    tag: str | None = None
    state_keys: tuple[tuple[str, int], ...] = ()
    action_parts: tuple[tuple[str, int], ...] = ()
    language: str | None = None

    @property
    def is_gr00t(self) -> bool:
        """Whether observations need a ``gr00t_mapping``."""
        return self.model_type.startswith("gr00t")


def read_model(model_path: str | None, model_type: str | None, tag: str | None) -> ModelFacts:
    """Read a checkpoint directory.

    Args:
        model_path: Directory, ``bundled``, or None when there is none yet.
        model_type: RLinf's model type; None recognises it from config.json.
        tag: GR00T embodiment tag; needed when the checkpoint has several.

    Raises:
        ConfigError: If the directory cannot be read, or is of another type, or the tag has to be chosen.
    """
    if model_path is None:
        return ModelFacts(model_type or "tiny_vla")
    from isaaclab_rlinf.config.checks_model import BUNDLED
    from isaaclab_rlinf.models.base import bundled_checkpoint

    directory = bundled_checkpoint() if model_path == BUNDLED else Path(model_path).expanduser()
    kind = _recognise(directory, model_type)
    readers = {"tiny_vla": _tiny_vla, "gr00t": _n1d5, "gr00t_n1d7": _n1d7}
    if kind not in readers:
        return ModelFacts(kind, model_path)
    try:
        return readers[kind](directory, model_path, tag)
    except ValueError as error:
        raise ConfigError([Issue("--model_path", str(error), f"a complete {kind} checkpoint")]) from None


def _recognise(directory: Path, asked: str | None) -> str:
    """Return the model type, the one asked for if the files do not say otherwise."""
    found = _json(directory / "config.json", "--model_path").get("model_type")
    kind = _KINDS.get(str(found))
    if kind is not None and asked is not None and kind != asked:
        raise ConfigError(
            [Issue("--model_type", f"{asked!r}, but {directory / 'config.json'} says {found!r}", kind, "leave it out")]
        )
    if kind is None and asked is None:
        where = f"{directory / 'config.json'} has model_type {found!r}"
        raise ConfigError([Issue("--model_type", where, f"a model type; recognised are {listing(_KINDS)}", "give it")])
    return kind or str(asked)


def _json(path: Path, where: str) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        found = f"{path} cannot be read: {error.strerror}"
        raise ConfigError([Issue(where, found, "a checkpoint directory")]) from None
    except json.JSONDecodeError as error:
        raise ConfigError([Issue(where, f"{path} is not valid JSON: {error}", "a checkpoint directory")]) from None
    return content if isinstance(content, dict) else {}


def _tiny_vla(directory: Path, given: str, tag: str | None) -> ModelFacts:
    from isaaclab_rlinf.models.inspect import checkpoint_facts

    if tag is not None:
        raise ConfigError([Issue("--embodiment_tag", "has no effect with tiny_vla and is refused", fix="remove it")])
    facts = checkpoint_facts(directory)
    return ModelFacts(
        "tiny_vla",
        given,
        facts.action_dim,
        facts.action_horizon,
        facts.image_views,
        facts.state_dim,
        facts.num_denoising_steps,
    )


def _n1d5(directory: Path, given: str, tag: str | None) -> ModelFacts:
    from isaaclab_rlinf.models.gr00t.checkpoint import METADATA, read_facts

    facts = read_facts(directory, _tag(tag, list(_json(directory / METADATA, "--model_path"))))
    return ModelFacts(
        "gr00t",
        given,
        facts.action_dim,
        facts.action_horizon,
        tuple(facts.video),
        sum(facts.state.values()),
        tag=facts.tag,
        state_keys=tuple(facts.state.items()),
        action_parts=tuple(facts.action.items()),
    )


def _n1d7(directory: Path, given: str, tag: str | None) -> ModelFacts:
    from isaaclab_rlinf.models.gr00t_n1d7.files import read_files
    from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts

    files = read_files(directory)
    facts = checkpoint_facts(files, _tag(tag, files.tags))
    return ModelFacts(
        "gr00t_n1d7",
        given,
        facts.action_dim,
        facts.action_horizon,
        facts.image_views,
        facts.state_dim,
        facts.num_denoising_steps,
        tag=facts.embodiment_tag,
        state_keys=tuple((part.key, part.width) for part in facts.state),
        action_parts=tuple((part.key, part.width) for part in facts.action),
        language=facts.language_key,
    )


def _tag(asked: str | None, tags: list[str]) -> str:
    """Return the tag asked for, or the only one."""
    if asked is not None:
        return asked  # the reader refuses one that the checkpoint lacks, listing those it has
    if len(tags) == 1:
        return tags[0]
    found = f"not given, and the checkpoint has {len(tags)} embodiments"
    raise ConfigError([Issue("--embodiment_tag", found, listing(sorted(tags)), "give the one of your robot")])
