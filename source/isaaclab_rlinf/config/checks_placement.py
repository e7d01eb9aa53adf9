# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check where the workers are placed: components, node groups, and the GPU that each worker ends up with.

RLinf gives every worker the GPUs of its own placement as its only ones, whatever ``CUDA_VISIBLE_DEVICES`` says. All
code of a worker, the simulator's included, runs on the first of them, its ``cuda:0``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from isaaclab_rlinf.config.accelerators import joins_cluster
from isaaclab_rlinf.config.command_overrides import PLACEMENT
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing
from isaaclab_rlinf.config.placement import COMPONENTS, TOGETHER, Component, ranks_text, read_placement

DEVICES = ("cpu", "cuda", "cuda:0")


def device_issue(where: str, device: str) -> Issue | None:
    """Return why a device cannot be a worker's, None when it can.

    Args:
        where: Flag or key path.
        device: What was asked for.
    """
    if device in DEVICES:
        return None
    found, fix = f"{device!r}", f"{PLACEMENT} chooses the GPU"
    if index := re.fullmatch(r"cuda:(\d+)", device):
        found += ", but a worker sees one GPU only, its own, which is its cuda:0"
        fix = f"{PLACEMENT}={int(index[1])} puts the run on GPU {int(index[1])}"
    return Issue(where, found, "'cpu' or 'cuda'", fix)


def check_placement(ctx: Context) -> None:
    """Check the placement by itself, and the devices that are asked for beside it.

    Args:
        ctx: The validation in progress.
    """
    _check_devices(ctx)
    nodes = ctx.whole("cluster.num_nodes")
    if nodes is not None and nodes > 1 and not joins_cluster():
        found = f"{nodes}, but this run starts a Ray cluster of its own, of one machine; RLinf would wait for the rest"
        fix = "join the machines with `ray start`, and set RAY_ADDRESS"
        ctx.issue("cluster.num_nodes", found, "1 without RAY_ADDRESS", fix)
    if not isinstance(ctx.get(PLACEMENT, None), Mapping):
        return
    components, errors = _read(ctx)
    for error in errors:
        ctx.issue(PLACEMENT, error, f"component names -> ranks, e.g. '{TOGETHER}: all'", _fix(error))
    needed = COMPONENTS if ctx.training else ("rollout", "env")
    for component in needed:
        if component not in components and not errors:
            ctx.issue(
                PLACEMENT, f"no placement for {component!r}", listing(needed), did_you_mean(component, components)
            )
    if any(component.size is None for component in components.values()):
        ctx.notices.append(
            f"{PLACEMENT}: 'all' depends on the cluster that RAY_ADDRESS names; divisibility is not checked"
        )
    used = {name: component for name, component in components.items() if name in needed}
    if ctx.num_accelerators:
        _check_shared(ctx, used)
        _tell_idle_in_process(ctx, used)


def placed(ctx: Context) -> dict[str, Component]:
    """Return the components that can be read, an empty mapping when the placement is no mapping."""
    return _read(ctx)[0] if isinstance(ctx.get(PLACEMENT, None), Mapping) else {}


def placed_sizes(ctx: Context) -> dict[str, int | None]:
    """Return the number of processes of each component that can be read; None where it depends on a cluster."""
    return {name: component.size for name, component in placed(ctx).items()}


def gpus_of(component: Component) -> tuple[int, ...]:
    """Return the GPU that each process of a component works on, where there are GPUs.

    Args:
        component: With known processes.
    """
    if component.on_nodes:  # all of the node's are visible, and the first is used
        return (0,) * len(component.processes or ())
    return tuple(resources[0] for resources in component.processes or ())


def _read(ctx: Context) -> tuple[dict[str, Component], list[str]]:
    groups = ctx.get("cluster.node_groups", None)
    groups = groups if isinstance(groups, list) else ()
    return read_placement(ctx.get(PLACEMENT), ctx.whole("cluster.num_nodes") or 1, ctx.num_accelerators, groups)


def _fix(error: str) -> str:
    if not error.endswith("placed twice"):
        return ""
    mapping = "{actor: 0, env: 0, rollout: 0}"
    return f"on the command line, in place of the YAML's: ~{PLACEMENT} '+{PLACEMENT}={mapping}'"


def _check_devices(ctx: Context) -> None:
    for mode in ctx.env_modes():
        where = f"env.{mode}.init_params.device"
        device = ctx.get(where, None)
        if isinstance(device, str) and (issue := device_issue(where, device)):
            ctx.issue(issue.where, issue.found, issue.allowed, issue.fix)


def _simulates_on_gpu(ctx: Context) -> bool:
    return any(ctx.get(f"env.{mode}.init_params.device", None) != "cpu" for mode in ctx.env_modes())


def _check_shared(ctx: Context, components: Mapping[str, Component]) -> None:
    """Refuse what puts several processes on one GPU, unless the placement says exactly that and it works."""
    for name, component in components.items():
        on_gpu = name != "env" or _simulates_on_gpu(ctx)
        count = component.size or 0
        if component.on_nodes and count > 1 and on_gpu and ctx.num_accelerators > 1:
            ctx.issue(
                PLACEMENT,
                f"{name}: {count} processes on nodes rather than on GPUs, and each would use its node's GPU 0",
                "ranks of GPUs, without 'node_group: node'",
                f"{name}: {_spread(count, ctx.num_accelerators)} spreads them; {name}: 0:0-{count - 1} shares GPU 0",
            )
        elif name == "actor" and (shared := [gpu for gpu, n in Counter(gpus_of(component)).items() if n > 1]):
            found = f"actor: several ranks on GPU {ranks_text(shared)}; NCCL refuses two ranks of a group on one GPU"
            ctx.issue(PLACEMENT, found, "a GPU for each actor rank", f"actor: {ranks_text(gpus_of(component))}")


def _spread(count: int, gpus: int) -> str:
    """Return the placement of ``count`` processes over as many GPUs as they can be spread evenly over."""
    used = max(size for size in range(1, min(count, gpus) + 1) if count % size == 0)
    ranks = ranks_text(range(used))
    return ranks if used == count else f"{ranks}:0-{count - 1}"


def _tell_idle_in_process(ctx: Context, components: Mapping[str, Component]) -> None:
    for name, component in components.items():
        if component.on_nodes or not component.processes:
            continue
        idle = [gpu for resources in component.processes for gpu in resources[1:]]
        if idle:
            ctx.notices.append(
                f"{PLACEMENT}: {name}: a process uses one GPU, the first of its own; GPU {ranks_text(idle)} is not used"
            )
