# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a task's observations look like: groups, keys, shapes. Read once from the first real observation.

Isaac Lab returns ``{group: tensor}`` or ``{group: {key: tensor}}``. A concatenated group of a manager-based task still
has named terms; their columns are part of the layout, so that a YAML can name a term in either form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.mapping.errors import MappingError, format_table, hint

if TYPE_CHECKING:
    import torch

RawObs = Mapping[str, Any]
"""Isaac Lab's observation: ``{group: Tensor | {key: Tensor}}``, every tensor ``(B, ...)``."""


@dataclass(frozen=True)
class Entry:
    """One addressable piece of the observation."""

    group: str
    key: str | None
    """Key inside the group; None when the group (or top-level entry) is itself the tensor."""
    shape: tuple[int, ...]
    """Shape without the batch dimension."""
    dtype: str
    columns: tuple[int, int] | None = None
    """Columns of a concatenated group's tensor; None for the whole tensor."""

    def read(self, raw_obs: RawObs) -> torch.Tensor:
        """Returns this piece of an observation, shape ``(B, *shape)``."""
        value = raw_obs[self.group] if self.key is None else raw_obs[self.group][self.key]
        return value if self.columns is None else value[:, self.columns[0] : self.columns[1]]


@dataclass(frozen=True)
class ObservationLayout:
    """Every piece of a task's observation by group and name, in the task's own order."""

    groups: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)

    def find(self, group: str, key: str, yaml_key: str) -> Entry:
        """Finds ``key`` in ``group``, or as a top-level entry of the observation (direct-workflow tasks).

        Args:
            group: Group named by the YAML (``camera_group`` or ``policy_group``).
            key: Observation key named by the YAML.
            yaml_key: Where the YAML names it, for the error.

        Raises:
            MappingError: If there is no such key; the message lists what is available.
        """
        members = self.groups.get(group, {})
        if key in members:
            return members[key]
        top_level = self.groups.get(key)
        if top_level is not None and list(top_level) == [key]:
            return top_level[key]
        where = f"group '{group}'" if group in self.groups else f"group '{group}' (which the task does not have)"
        everywhere = [name for names in self.groups.values() for name in names]
        raise MappingError(
            f"{yaml_key}: no observation '{key}' in {where}.{hint(key, everywhere)} The task provides:\n{self.table()}"
        )

    def table(self) -> str:
        """A table of all groups, keys, shapes and dtypes."""
        rows = [
            (group, name, "x".join(map(str, entry.shape)) or "scalar", entry.dtype.removeprefix("torch."))
            for group, members in self.groups.items()
            for name, entry in members.items()
        ]
        return format_table(("group", "key", "shape", "dtype"), rows)


def describe_observations(
    raw_obs: RawObs, columns: Mapping[str, Mapping[str, tuple[int, int]]] | None = None
) -> ObservationLayout:
    """Describes a real observation.

    Args:
        raw_obs: What ``reset()`` returned.
        columns: For concatenated groups, the columns ``[a, b)`` of each named term.

    Returns:
        The layout. A tensor group without ``columns`` is addressable by its own name.
    """
    groups: dict[str, dict[str, Entry]] = {}
    for group, value in raw_obs.items():
        if isinstance(value, Mapping):
            groups[group] = {
                key: Entry(group, key, tuple(tensor.shape[1:]), str(tensor.dtype)) for key, tensor in value.items()
            }
            continue
        shape, dtype = tuple(value.shape[1:]), str(value.dtype)
        terms = (columns or {}).get(group) or {}
        groups[group] = {name: Entry(group, None, (b - a,), dtype, (a, b)) for name, (a, b) in terms.items()}
        groups[group].setdefault(group, Entry(group, None, shape, dtype))
    return ObservationLayout(groups)
