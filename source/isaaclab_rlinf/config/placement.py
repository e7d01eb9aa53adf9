# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What ``cluster.component_placement`` means, without starting a cluster: processes, and the GPU of each.

The grammar is RLinf 0.3.0's (``rlinf.scheduler.placement.ComponentPlacement``): ``resources[:processes]`` parts joined
by commas, ranges inclusive, ``all`` for every resource. A resource is an accelerator where there are any, else a node;
in the node group ``node`` it is always a node. Ours is one value in place of the mapping, which places every component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isaaclab_rlinf.config.errors import did_you_mean, listing

COMPONENTS = ("actor", "rollout", "env")
TOGETHER = "actor,env,rollout"
"""Key that places every component alike."""
_FORM = "'all', a rank '0', a range '0-3', or RESOURCES:PROCESSES such as '0:0-1'"
_EVERYTHING, _NODES = "cluster", "node"
"""RLinf's own node groups: every node with its accelerators, and every node without."""


@dataclass(frozen=True)
class Component:
    """Where the processes of one component run."""

    processes: tuple[tuple[int, ...], ...] | None
    """Resources of each process; None when they depend on an unknown cluster."""
    on_nodes: bool
    """Whether resources are nodes; each process then sees every accelerator of its node, and uses the first."""

    @property
    def size(self) -> int | None:
        """Number of processes, None when unknown."""
        return None if self.processes is None else len(self.processes)


def read_placement(
    placement: Mapping[Any, Any],
    num_nodes: int,
    num_accelerators: int | None,
    groups: Sequence[Any] = (),
) -> tuple[dict[str, Component], list[str]]:
    """Read a placement as RLinf will.

    Args:
        placement: The ``cluster.component_placement`` mapping.
        num_nodes: ``cluster.num_nodes``.
        num_accelerators: Accelerators per node; None when unknown.
        groups: ``cluster.node_groups``.

    Returns:
        Component -> its processes, and what is wrong.
    """
    components: dict[str, Component] = {}
    errors: list[str] = []
    for names, value in placement.items():
        try:
            component = _component(value, num_nodes, num_accelerators, groups)
        except ValueError as error:
            errors.append(f"{names}: {error}")
            continue
        for name in (part.strip() for part in str(names).split(",")):
            if name in components:
                errors.append(f"{name}: placed twice")
            components[name] = component
    return components, errors


def world_sizes(
    placement: Mapping[Any, Any], num_nodes: int, num_accelerators: int | None, groups: Sequence[Any] = ()
) -> tuple[dict[str, int | None], list[str]]:
    """Return the number of processes of each component, and what is wrong; arguments of :func:`read_placement`."""
    components, errors = read_placement(placement, num_nodes, num_accelerators, groups)
    return {name: component.size for name, component in components.items()}, errors


def ranks_text(ranks: Sequence[int]) -> str:
    """Return ranks as a placement has them: ``0-2,5``.

    Args:
        ranks: In any order.
    """
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _component(value: Any, num_nodes: int, num_accelerators: int | None, groups: Sequence[Any]) -> Component:
    if not isinstance(value, Mapping):
        return _processes(str(value), *_resources([_EVERYTHING], num_nodes, num_accelerators, groups))
    if "placement" not in value:
        raise ValueError("a node_group needs placement beside it")
    names = value.get("node_group", _EVERYTHING)
    labels = names if isinstance(names, list) else str(names).split(",")
    labels = [str(label).strip() for label in labels]
    return _processes(str(value["placement"]), *_resources(labels, num_nodes, num_accelerators, groups))


def _resources(
    labels: Sequence[str], num_nodes: int, num_accelerators: int | None, groups: Sequence[Any]
) -> tuple[int | None, bool | None]:
    """Return the number of resources of node groups, and whether they are nodes; None for what is unknown."""
    own = {str(group.get("label")): group for group in groups if isinstance(group, Mapping)}
    counts: list[int | None] = []
    on_nodes: list[bool | None] = []
    for label in labels:
        if label not in own and label not in (_EVERYTHING, _NODES):
            known = [_EVERYTHING, _NODES, *own]
            hint = did_you_mean(label, known)
            raise ValueError(f"there is no node group {label!r}, only {listing(known)}{'; ' + hint if hint else ''}")
        group = own.get(label, {})
        nodes = _nodes(group.get("node_ranks")) if group else num_nodes
        if group.get("hardware") is not None:
            counts.append(None)  # robots and the like: RLinf counts them when the cluster runs
            on_nodes.append(False)
            continue
        bare = label == _NODES or group.get("ignore_hardware") is True
        each = 0 if bare else num_accelerators
        on_nodes.append(None if each is None else each == 0)
        counts.append(None if each is None or nodes is None else nodes * max(1, each))
    count = None if None in counts else sum(counts)
    return count, True if True in on_nodes else None if None in on_nodes else False


def _nodes(ranks: Any) -> int | None:
    """Return how many nodes a group's ``node_ranks`` name, None when that is RLinf's to say."""
    try:
        return sum(last - first + 1 for first, last in (_range(part) for part in str(ranks).split(",")))
    except ValueError:
        return None


def _processes(text: str, resources: int | None, on_nodes: bool | None) -> Component:
    """Return the processes of one placement string."""
    processes: list[tuple[int, ...]] = []
    used = -1
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        hardware, colon, ranks = part.partition(":")
        everything = hardware.strip().lower() == "all"
        if everything and resources is None:
            return Component(None, on_nodes is True)
        first, last = (0, resources - 1) if everything else _range(hardware)
        if resources is not None and last >= resources:
            raise ValueError(f"{text!r} asks for resource {last}, but there are {resources} (0 to {resources - 1})")
        if first <= used:
            raise ValueError(f"{text!r}: resources must be named in ascending order, each once")
        used = last
        here = list(range(first, last + 1))
        if not colon:
            processes.extend((resource,) for resource in here)
            continue
        first, last = _range(ranks)
        if first != len(processes):
            raise ValueError(f"{text!r}: process ranks must continue at {len(processes)}")
        processes.extend(_spread(text, here, last - first + 1, on_nodes))
    if not processes:
        raise ValueError(f"{text!r} is not {_FORM}")
    return Component(tuple(processes), on_nodes is True)


def _spread(text: str, resources: list[int], count: int, on_nodes: bool | None) -> list[tuple[int, ...]]:
    """Return the resources of each of ``count`` processes: several share one, or one has several."""
    total = len(resources)
    if count % total and total % count:
        raise ValueError(f"{text!r}: {count} processes cannot be spread evenly over {total} resources")
    if count >= total:
        return [(resources[process * total // count],) for process in range(count)]
    if on_nodes:
        raise ValueError(f"{text!r}: {count} processes on {total} nodes, but a process cannot span nodes")
    each = total // count
    return [tuple(resources[process * each : (process + 1) * each]) for process in range(count)]


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.strip().partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise ValueError(f"{text!r} is not {_FORM}")
    bounds = int(first), int(last) if dash else int(first)
    if bounds[1] < bounds[0]:
        raise ValueError(f"{text!r} runs backwards")
    return bounds
