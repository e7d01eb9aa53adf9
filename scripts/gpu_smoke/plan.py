# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every check, in order: its name, what it proves, and where its code is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PRECISIONS = (("fp32", "fp32"), ("fp32", "bf16"), ("bf16", "bf16"))
"""``actor.model.precision`` and ``mixed_precision.param_dtype``."""
FAMILIES = ("tiny_vla", "n1d7")


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: Unique; also the name of its log and result.
        group: Checks of one group share a process.
        proves: What it proves, for the table.
        module: Module below :mod:`gpu_smoke.checks`, whose ``run`` takes the context and ``args``.
        args: Further arguments.
        defects: Numbers of the suspected defects (docs/gpu.md) that it would show.
        after: Checks whose outputs it needs.
        limit: Seconds on a GPU until it counts as hung.
        gpus: GPUs that it needs.
    """

    name: str
    group: str
    proves: str
    module: str
    args: tuple[str, ...] = ()
    defects: tuple[int, ...] = ()
    after: tuple[str, ...] = ()
    limit: float = 120.0
    gpus: int = 1


def _precision_checks() -> tuple[Check, ...]:
    return tuple(
        Check(
            f"{family}-{weights}-{compute}",
            "models",
            f"{family}, weights {weights}, compute {compute}: ratio 1, clipping, update, offload, checkpoint",
            "precision",
            (family, weights, compute),
            (2, 4, 18),
            limit=120.0,
        )
        for family in FAMILIES
        for weights, compute in PRECISIONS
    )


CHECKS = (
    Check(
        "machine", "machine", "driver, torch and our count of GPUs agree; the doctor is content", "machine", (), (14,)
    ),
    Check(
        "refusals", "machine", "settings that cannot work are refused before anything starts", "refusals", (), (5, 7, 8)
    ),
    Check("placement", "machine", "the bundled YAMLs are accepted on 1, 2, 4 and 8 GPUs", "placement", (), (1,)),
    *_precision_checks(),
    Check("devices", "models", "a checkpoint of a CPU loads on the GPU and back", "devices", (), (6,)),
    Check(
        "real-rollout",
        "large",
        "N1.7 at its real size: build, 16 predictions, a backward pass in bf16",
        "real_rollout",
        (),
        (16, 17),
        limit=240.0,
    ),
    Check(
        "real-actor",
        "large",
        "N1.7 at its real size: an update with fp32 weights, bf16 compute",
        "real_actor",
        (),
        (17,),
        after=("real-rollout",),
        limit=240.0,
    ),
    Check(
        "sim-hold",
        "simulator",
        "the simulator on the GPU gives what it gives on the CPU; pinned buffers",
        "simulator",
        ("hold",),
        (15,),
        limit=600.0,
    ),
    Check(
        "sim-free",
        "simulator",
        "the same without holding the pose after a reset in mid-chunk",
        "simulator",
        ("free",),
        limit=300.0,
    ),
    Check("sim-speed", "simulator", "chunks of 64 environments, timed", "simulator_speed", limit=180.0),
    Check("sim-killed", "simulator", "a killed simulator is an error within seconds", "simulator_killed", limit=120.0),
    Check(
        "train",
        "pipeline",
        "isaaclab train, two steps of tiny_vla: ratio 1, success, checkpoints",
        "train",
        (),
        (1, 4),
        limit=240.0,
    ),
    Check(
        "resume",
        "pipeline",
        "resume with offloaded actor and rollout and the patch syncer",
        "resume",
        after=("train",),
        limit=180.0,
    ),
    Check("play", "pipeline", "play with video, and export beside it", "play", after=("train",), limit=180.0),
    Check(
        "cpu-first",
        "pipeline",
        "train --device cpu leaves the GPU alone; resumed on the GPU",
        "cpu_first",
        (),
        (6,),
        limit=300.0,
    ),
    Check(
        "train-n1d7",
        "pipeline",
        "tiny N1.7, weights fp32, compute bf16: one step",
        "train_n1d7",
        (),
        (4, 5),
        limit=180.0,
    ),
    Check("ranks", "multi", "two ranks have the gradient, norm and update of one", "two_ranks", (), (3,), gpus=2),
    Check(
        "world-size",
        "multi",
        "a checkpoint of two ranks loads in one, and back",
        "other_world_size",
        after=("ranks",),
        gpus=2,
    ),
    Check(
        "env-workers",
        "multi",
        "two simulators, each on a GPU of its own",
        "env_workers",
        (),
        (9, 10),
        limit=300.0,
        gpus=2,
    ),
)
GROUPS = tuple(dict.fromkeys(check.group for check in CHECKS))
BACKGROUND = ("simulator",)
"""Groups that run beside those before them: kernels compile for minutes the first time."""


def named(names: Iterable[str]) -> tuple[Check, ...]:
    """Return the checks of these names, in order.

    Raises:
        ValueError: If one is unknown.
    """
    wanted = set(names)
    if unknown := wanted - {check.name for check in CHECKS}:
        known = ", ".join(check.name for check in CHECKS)
        raise ValueError(f"no check {', '.join(sorted(unknown))}; there are {known}")
    return tuple(check for check in CHECKS if check.name in wanted)
