# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Say in a few lines what Ray says in pages when it ends a worker for want of memory.

Ray 2.60 ends workers before the system does, when a machine's memory is nearly used up, and puts its object store, its
policy and ten processes into the exception. The text is no interface: what cannot be found in it is left out.
"""

from __future__ import annotations

import re

_KILLED = "killed due to the node running low on memory"
_USERS = 4
"""Largest processes that are named."""


def memory_failure(cause: BaseException) -> str | None:
    """Return why Ray ended a worker and what to do about it, None for any other failure.

    Args:
        cause: What a call on the worker raised, or what a worker that waited for it did.
    """
    text = str(cause)
    if _KILLED not in text:
        return None
    used = re.search(r"was ([\d.]+ ?[KMGT]?B) used / ([\d.]+ ?[KMGT]?B) limit", text)
    limit = re.search(r"\(([\d.]+)% of \d+B limit\)", text)
    amount = f": {used[1]} of {used[2]} were used" if used else ""
    share = f", and Ray ends workers beyond {float(limit[1]):g} %" if limit else ""
    lines = [f"Ray ended it because the machine ran out of memory{amount}{share}."]
    users = re.findall(r"^\d+\t([\d.]+)\t(.+)$", text, re.MULTILINE)[:_USERS]
    if users:
        lines.append("Largest then: " + ", ".join(f"{_short(name)} {size} GB" for size, name in users))
    lines.append(
        "Fewer environments (--num_envs) and a smaller actor.micro_batch_size need less memory. With "
        "RAY_memory_usage_threshold=0.98 in its environment a run may use more (0.95 is Ray's default)."
    )
    return "\n".join(lines)


def _short(command: str) -> str:
    """Return a command line in a few words."""
    command = command.strip().removeprefix("ray::")
    return (
        "a simulator" if "multiprocessing.spawn" in command else command if len(command) <= 40 else f"{command[:37]}..."
    )
