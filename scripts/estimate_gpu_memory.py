# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Estimate the GPU memory of actor and rollout from parameter counts, as the Markdown tables of docs/gpu.md.

Counted are weights, gradients, Adam's two moments and copies in the compute dtype. Activations, the CUDA context (about
0.5 GiB per process), the simulator and fragmentation come on top and are not estimated. Nothing here was measured.

    uv run --no-sync python scripts/estimate_gpu_memory.py
    uv run --no-sync python scripts/estimate_gpu_memory.py --parameters 7e9 --trained 7e9
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

GIB = 2**30
PRECISIONS = (("fp32", "fp32"), ("fp32", "bf16"), ("bf16", "bf16"))
"""``actor.model.precision`` and ``mixed_precision.param_dtype``; the rollout has the second."""
_BYTES = {"fp32": 4, "bf16": 2}


@dataclass(frozen=True)
class Model:
    """How many parameters there are, and how many of them are trained."""

    name: str
    parameters: float
    trained: float


def actor_bytes(model: Model, weights: str, compute: str, ranks: int, *, reshard: bool) -> float:
    """Return what one FSDP2 rank holds during an update.

    Args:
        model: Parameter counts.
        weights: Dtype of the sharded weights, gradients and moments.
        compute: Dtype of the forward pass.
        ranks: Actor processes.
        reshard: ``fsdp_config.reshard_after_forward``; false keeps every gathered weight until the update.
    """
    own = _BYTES[weights] * (model.parameters + 3 * model.trained) / ranks
    gathered = 0.0 if reshard or (ranks == 1 and weights == compute) else _BYTES[compute] * model.parameters
    return own + gathered


def rollout_bytes(model: Model, compute: str) -> float:
    """Return what one rollout process holds: the whole model."""
    return _BYTES[compute] * model.parameters


def table(model: Model, ranks: tuple[int, ...] = (1, 2, 4, 8)) -> str:
    """Return a Markdown table of GiB per GPU, for a GPU that holds an actor and a rollout process."""
    head = (
        f"| {model.name}: weights, compute | rollout | "
        + " | ".join(f"actor, {count} GPU(s)" for count in ranks)
        + " |"
    )
    lines = [head, "|---" * (2 + len(ranks)) + "|"]
    for weights, compute in PRECISIONS:
        cells = []
        for count in ranks:
            kept, freed = (actor_bytes(model, weights, compute, count, reshard=reshard) for reshard in (False, True))
            cells.append(f"{kept / GIB:.1f} ({freed / GIB:.1f})")
        lines.append(f"| {weights}, {compute} | {rollout_bytes(model, compute) / GIB:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def real_n1d7() -> Model:
    """Return GR00T N1.7 in its real size, counted without memory: the action head is trained, the backbone is not."""
    from gpu_smoke.real_sizes import parameter_counts, weight_shapes

    with tempfile.TemporaryDirectory() as place:
        counts = parameter_counts(weight_shapes(Path(place) / "n1d7", full=True))
    return Model("GR00T N1.7", counts["all"], counts["trained"])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=float, metavar="N", help="Of a model of yours; default: GR00T N1.7's.")
    parser.add_argument("--trained", type=float, metavar="N", help="How many of them are trained; default all.")
    args = parser.parse_args()
    if args.parameters is None:
        model = real_n1d7()
    else:
        model = Model("yours", args.parameters, args.parameters if args.trained is None else args.trained)
    print(f"{model.parameters / 1e9:.2f} B parameters, {model.trained / 1e9:.2f} B trained; GiB per GPU, estimated.")
    print("In brackets: with fsdp_config.reshard_after_forward: true.\n")
    print(table(model))


if __name__ == "__main__":
    main()
