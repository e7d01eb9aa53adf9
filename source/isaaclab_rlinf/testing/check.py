# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``check_policy``: run every check on a policy and report everything at once."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from .checks_interface import check_interface, check_wrap_classes
from .checks_rollout import check_eval, check_exploration, check_rollout
from .checks_sharding import check_sharding
from .checks_state import check_build, check_state_dict
from .checks_trainer import check_gradients, check_ratio, check_train_mode
from .report import OPT_OUTS, PolicyContractError, PolicyReport
from .subject import Subject, batch_size

CHECKS: Mapping[str, tuple[Callable[[Subject], None], tuple[str, ...]]] = {
    "interface": (check_interface, ()),
    "wrap_classes": (check_wrap_classes, ()),
    "rollout": (check_rollout, ()),
    "exploration": (check_exploration, ("rollout",)),
    "eval": (check_eval, ()),
    "ratio": (check_ratio, ("rollout",)),
    "train_mode": (check_train_mode, ("rollout",)),
    "gradients": (check_gradients, ("rollout",)),
    "build": (check_build, ("build",)),
    "state_dict": (check_state_dict, ("build", "rollout")),
    "sharding": (check_sharding, ("build", "rollout")),
}
"""Name -> check and what it needs: a recorded rollout, a `build` factory."""


def check_policy(
    policy: nn.Module,
    *,
    env_obs: Mapping[str, Any],
    model_cfg: Mapping[str, Any],
    build: Callable[[], nn.Module] | None = None,
    fsdp_config: Mapping[str, Any] | None = None,
    sampling_params: Mapping[str, Any] | None = None,
    exempt: Iterable[str] = (),
    logprob_tolerance: float = 1e-4,
    ranks: int = 2,
    timeout_s: float = 300.0,
) -> PolicyReport:
    """Check that a policy keeps the contract that RLinf's rollout and actor workers rely on.

    Weights are unchanged afterwards and the policy is left in eval mode.

    Args:
        policy: The policy in the state in which a rollout would use it, fp32 for the default tolerance.
        env_obs: An observation with an even number of environments, at least two; see
            :func:`~isaaclab_rlinf.testing.example_env_obs`.
        model_cfg: The ``actor.model`` section: ``action_dim`` and ``num_action_chunks``; ``model_type``,
            ``add_value_head`` and ``is_lora`` where they apply.
        build: Makes the same policy again; must also work in another process. Without it, ``build``,
            ``state_dict`` and ``sharding`` are left out and the report says so.
        fsdp_config: The ``actor.fsdp_config`` section, for its ``wrap_policy``.
        sampling_params: Keyword arguments that the YAML's ``rollout.sampling_params`` would add.
        exempt: Names out of :data:`~isaaclab_rlinf.testing.OPT_OUTS`.
        logprob_tolerance: Largest absolute difference of one log-probability (and value) between rollout and
            trainer; 1e-4 suits fp32, 1e-2 bf16.
        ranks: Processes that share the model in the sharding check; 0 leaves it out.
        timeout_s: Limit of the sharding check.

    Returns:
        What was checked and measured.

    Raises:
        PolicyContractError: With every departure found.
        ValueError: If the arguments of the check itself are wrong.
    """
    subject = Subject(
        policy=policy,
        env_obs=env_obs,
        model_cfg=model_cfg,
        build=build,
        fsdp_config=fsdp_config or {},
        sampling_params=sampling_params or {},
        exempt=_known_opt_outs(exempt),
        tolerance=logprob_tolerance,
        ranks=ranks,
        timeout_s=timeout_s,
    )
    _require_usable(subject)
    with _undisturbed(policy):
        failed = [name for name in CHECKS if not _run(name, subject)]
    if subject.findings:
        raise PolicyContractError(subject.findings)
    passed = tuple(name for name in CHECKS if name not in failed and name not in subject.not_run)
    return PolicyReport(passed, subject.not_run, tuple(subject.exempted), subject.measured, tuple(subject.notes))


def _run(name: str, subject: Subject) -> bool:
    """Run one check; False when it found something or was left out."""
    check, needs = CHECKS[name]
    if "build" in needs and subject.build is None:
        subject.not_run[name] = "no build= was given"
    elif "rollout" in needs and subject.rollout is None:
        subject.not_run[name] = "predict_action_batch gave no usable rollout"
    elif name == "sharding" and (not subject.ranks or "no_fsdp2" in subject.exempt):
        subject.not_run[name] = "left out by ranks=0" if not subject.ranks else "opt-out no_fsdp2"
    else:
        before = len(subject.findings) + len(subject.exempted)
        try:
            check(subject)
        except Exception as error:
            subject.fail(name, f"{type(error).__name__} {_place(error)}: {error}", "no exception", "repair the cause")
        return len(subject.findings) + len(subject.exempted) == before
    return False


def _place(error: Exception) -> str:
    """Return where an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}()" if frames else ""


def _known_opt_outs(exempt: Iterable[str]) -> frozenset[str]:
    names = frozenset(exempt)
    unknown = sorted(names - OPT_OUTS.keys())
    if unknown:
        raise ValueError(f"exempt names {unknown}; allowed: {sorted(OPT_OUTS)} (isaaclab_rlinf.testing.OPT_OUTS)")
    return names


def _require_usable(subject: Subject) -> None:
    if not isinstance(subject.policy, nn.Module):
        raise ValueError(f"policy is a {type(subject.policy).__name__}, not a torch.nn.Module; pass build() as build=")
    missing = [key for key in ("action_dim", "num_action_chunks") if key not in subject.model_cfg]
    if missing:
        raise ValueError(f"model_cfg lacks {missing}: give the actor.model section of the YAML")
    batch = batch_size(subject.env_obs)
    unit = math.lcm(2, max(1, subject.ranks))
    if batch % unit:
        raise ValueError(f"env_obs has {batch} environments; the checks split them, so give a multiple of {unit}")


@contextmanager
def _undisturbed(policy: nn.Module) -> Iterator[None]:
    """Seed the checks, then put back the RNG, and leave the policy without gradients and in eval mode."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        try:
            yield
        finally:
            policy.zero_grad(set_to_none=True)
            policy.eval()
