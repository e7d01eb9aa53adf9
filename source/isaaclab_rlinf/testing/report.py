# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a check of a policy says: findings, opt-outs, and the report of a policy that passed."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

OPT_OUTS: Mapping[str, str] = {
    "flat_logprobs": (
        "prev_logprobs and logprobs are (B, T * A) in place of (B, T, A). RLinf reshapes them by action_dim, so PPO "
        "works; RLinf's mlp_policy and cnn_policy do this."
    ),
    "train_mode_noise": (
        "default_forward in train() mode differs from eval() mode (dropout), so that PPO's ratio is not 1 before an "
        "update. RLinf's cnn_policy may do this (its encoder has a dropout layer); new models should not."
    ),
    "random_init": (
        "two builds differ in weights, because there is no checkpoint. RLinf does not broadcast weights under FSDP2: "
        "such a model depends on every rank being seeded alike. RLinf's mlp_policy and cnn_policy do this, "
        "and LoRA's adapters."
    ),
    "nested_value_head": (
        "the value head is not at the policy's top level, so RLinf gives time-outs no value bootstrap. RLinf's own "
        "GR00T classes do this."
    ),
    "no_fsdp2": "the model is trained with `fsdp_config.strategy: fsdp` only; sharding by FSDP2 is not compared.",
}
"""Names for `exempt=`: departures from the contract that RLinf can live with, and at what price."""


@dataclass(frozen=True)
class Finding:
    """One departure from the contract."""

    check: str
    """Name of the check."""
    found: str
    expected: str
    fix: str

    def __str__(self) -> str:
        """Return the finding as a paragraph."""
        return f"[{self.check}] found: {self.found}\n    expected: {self.expected}\n    fix: {self.fix}"


class PolicyContractError(AssertionError):
    """A policy that RLinf could not train, or would train wrongly.

    Attributes:
        findings: Everything found, never empty.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Store the findings.

        Args:
            findings: At least one.
        """
        self.findings = tuple(findings)
        count = len(self.findings)
        head = f"the policy breaks the model contract in {count} point{'s' if count > 1 else ''}:"
        super().__init__("\n".join([head, *map(str, self.findings)]))


@dataclass(frozen=True)
class PolicyReport:
    """What was checked on a policy that keeps the contract."""

    passed: tuple[str, ...]
    """Names of the checks that found nothing."""
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Checks that were left out, with the reason."""
    exempted: tuple[Finding, ...] = ()
    """What the opt-outs excused."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Numbers behind the verdict, e.g. ``logprob_error``, the largest absolute difference."""
    notes: tuple[str, ...] = ()
    """What is allowed and still worth knowing."""

    def __str__(self) -> str:
        """Return the report as lines for a terminal."""
        lines = [f"passed: {', '.join(self.passed)}"]
        lines += [f"not run: {name} ({reason})" for name, reason in self.not_run.items()]
        lines += [f"exempted: {finding.check}: {finding.found}" for finding in self.exempted]
        lines += [f"{name}: {value:.3g}" for name, value in self.measured.items()]
        return "\n".join([*lines, *self.notes])


def describe_end(who: str, code: int, log: str) -> str:
    """Say how a process ended where its log does not.

    Args:
        who: Name of the process.
        code: Its exit code; -N when signal N killed it.
        log: What it wrote.

    Returns:
        A sentence, or nothing where the log tells why it failed.
    """
    if code < 0:
        guess = " (out of memory?)" if -code == signal.SIGKILL else ""
        return f"{who} was killed by signal {-code}{guess}"
    return "" if log else f"{who} ended with code {code} and wrote nothing"
