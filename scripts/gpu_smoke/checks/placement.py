# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``placement``: the bundled YAMLs as they are, on machines with 0, 1, 2, 4 and 8 GPUs."""

from __future__ import annotations

from gpu_smoke import policies
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

COUNTS = (0, 1, 2, 4, 8)


def run(context: Context) -> None:
    """Check each YAML for each number of GPUs, whatever this machine has."""
    refused = []
    for family, yaml in policies.YAMLS.items():
        model = ["--model_path", str(policies.tiny_n1d7(context.work))] if family == "n1d7" else []
        for count in COUNTS:
            issues = policies.issues_on(count, "--config_name", yaml, *model)
            refused += [f"{family} on {count} GPUs: {issue}" for issue in issues]
    require(not refused, "\n".join(refused))
    context.measured["accepted"] = f"{len(policies.YAMLS)} YAMLs on {', '.join(map(str, COUNTS))} GPUs"
