# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Observation and action converters for RLinf's GR00T models, made from the task YAML's ``isaaclab`` block.

RLinf's models look both up by ``obs_converter_type`` when they are constructed, so :func:`register_converters` runs
before that. The action converter gives the model's actions in order and checks them; ``scale``, ``offset`` and padding
follow on the environment's side (:func:`isaaclab_rlinf.mapping.actions.map_actions`), in that order and for every
model, so that RLinf's log-probabilities keep the model's width.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.mapping.actions import concatenate_parts
from isaaclab_rlinf.mapping.errors import MappingError, format_table
from isaaclab_rlinf.mapping.gr00t import Gr00tFormat, has_mapping, language_problem, to_gr00t

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.config.schema import IsaacLabBlock

OUR_CONVERTER = "isaaclab_rlinf"
"""``obs_converter_type`` of a YAML that names none."""
ACTION_TABLES = {"n1d5": "ACTION_CONVERSION_N1D5", "n1d6": "ACTION_CONVERSION_N1D6", "n1d7": "ACTION_CONVERSION_N1D7"}
"""Generation -> table of ``rlinf.models.embodiment.gr00t.simulation_io``."""


class ObservationConverter:
    """RLinf's observation -> GR00T's input dict; see :func:`~isaaclab_rlinf.mapping.gr00t.to_gr00t`."""

    def __init__(self, block: IsaacLabBlock, generation: str) -> None:
        """Check the block.

        Args:
            block: The task YAML's block.
            generation: ``n1d5``, ``n1d6`` or ``n1d7``.

        Raises:
            MappingError: If GR00T could not take a key of ``gr00t_mapping``.
        """
        self.form = Gr00tFormat.build(block)
        problem = language_problem(self.form.language) if generation == "n1d5" else None
        if problem:
            raise MappingError(f"gr00t_mapping.language: {problem}")

    def __call__(self, env_obs: Mapping[str, Any]) -> dict[str, Any]:
        """Convert one batch."""
        return to_gr00t(env_obs, self.form)


class ActionConverter:
    """GR00T's action parts -> actions ``(B, chunk, A)`` in the YAML's order, of the parts' own type, device, dtype."""

    def __init__(self, block: IsaacLabBlock, action_dim: int | None) -> None:
        """Store the order.

        Args:
            block: The task YAML's block.
            action_dim: ``actor.model.action_dim``, the width of all the model's parts together; None: not checked.
        """
        self.keys = block.action_mapping.keys
        self.action_dim = action_dim
        self._told = False

    def __call__(self, action_chunk: Mapping[str, Any], chunk_size: int = 1) -> Any:
        """Convert one batch.

        Args:
            action_chunk: Parts ``(B, horizon, d_k)`` named ``action.<k>`` or ``<k>``, unnormalised.
            chunk_size: Leading actions to keep.

        Raises:
            MappingError: If the parts are not those of the mapping, or not ``action_dim`` wide together.
        """
        actions = concatenate_parts(action_chunk, self.keys, chunk_size)
        width = sum(part.shape[-1] for part in action_chunk.values())
        if self.action_dim is not None and width != self.action_dim:
            raise MappingError(
                f"the model's action parts are {width} wide together, actor.model.action_dim is {self.action_dim}; "
                f"RLinf's log-probabilities would not fit. The parts:\n{self._table(action_chunk)}"
            )
        if not self._told:
            self._told = True
            print(f"[INFO] [{os.getpid()}] actions of the GR00T model, in order:\n{self._table(action_chunk)}")
        return actions

    def _table(self, parts: Mapping[str, Any]) -> str:
        bare = {name.removeprefix("action."): part.shape[-1] for name, part in parts.items()}
        emitted = [key.removeprefix("action.") for key in self.keys] if self.keys is not None else list(bare)
        rows = [(key, bare[key]) for key in emitted]
        rows += [(f"({key}: not emitted)", width) for key, width in bare.items() if key not in emitted]
        return format_table(("action part", "width"), rows)


def block_of(cfg: DictConfig) -> IsaacLabBlock | None:
    """Return the ``isaaclab`` block that the driver put into a model section, None when there is none.

    Args:
        cfg: ``actor.model`` or ``rollout.model`` of the resolved config.

    Raises:
        ValueError: If the block is not valid.
    """
    raw = cfg.get("isaaclab", None)
    if raw is None:
        return None
    from isaaclab_rlinf.config.parse import parse_isaaclab_block

    block, issues = parse_isaaclab_block(raw, "isaaclab")
    if block is None:
        raise ValueError("the model section's isaaclab block is not valid:\n" + "\n".join(map(str, issues)))
    return block


def register_converters(cfg: DictConfig, generation: str) -> str:
    """Put the YAML's converters into RLinf's tables, in place. Call it before RLinf's model is constructed.

    A name that RLinf or an extension has taken stays theirs, and the YAML then must not have a ``gr00t_mapping``, which
    would not be read. What this function registered itself it replaces.

    Args:
        cfg: ``actor.model`` or ``rollout.model``, with the block under ``isaaclab`` (see
            :mod:`isaaclab_rlinf.config.gr00t_block`).
        generation: ``n1d5``, ``n1d6`` or ``n1d7``: which table of action converters the model reads.

    Returns:
        The name to give to the model as ``obs_converter_type``.

    Raises:
        ValueError: If the name is not known and there is no block, or is taken and there is a mapping.
        MappingError: If GR00T could not take a key of the mapping.
    """
    from rlinf.models.embodiment.gr00t import simulation_io

    observations = simulation_io.OBS_CONVERSION
    actions = getattr(simulation_io, ACTION_TABLES[generation])
    block = block_of(cfg)
    name = cfg.get("obs_converter_type", None) or (block and block.obs_converter_type) or OUR_CONVERTER
    taken = [table.get(name) for table in (observations, actions)]
    foreign = [entry for entry in taken if not isinstance(entry, ObservationConverter | ActionConverter | None)]
    if foreign:
        _check_foreign(name, block, complete=None not in taken)
        return name
    if block is None:
        raise ValueError(
            f"obs_converter_type {name!r} is not registered and the model section has no isaaclab block to make "
            f"converters from; registered are: {', '.join(sorted(observations))}"
        )
    # both are made before either is registered: a failure leaves nothing half done
    made = ObservationConverter(block, generation), ActionConverter(block, _action_dim(cfg))
    observations[name], actions[name] = made
    return name


def _action_dim(cfg: DictConfig) -> int | None:
    width = cfg.get("action_dim", None)
    return None if width is None else int(width)


def _check_foreign(name: str, block: IsaacLabBlock | None, *, complete: bool) -> None:
    if not complete:
        raise ValueError(f"obs_converter_type {name!r} has only one of observation and action converter registered")
    if block is not None and has_mapping(block):
        raise ValueError(
            f"obs_converter_type {name!r} names a converter of RLinf or of an extension, which does not read "
            "gr00t_mapping or action_mapping.keys: remove those, or use another name"
        )
