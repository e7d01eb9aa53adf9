# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Checks of `default_forward`: the rollout's log-probabilities seen by the trainer, and where gradients go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .subject import Subject, loss_of

_CAUSES = (
    "recompute from what forward_inputs holds, bit for bit: the sampled values as they were before clamping and "
    "un-normalising, the same preprocessing, the same denoising step, no new random draw"
)


def check_ratio(subject: Subject) -> None:
    """Check that PPO's ratio is 1 before any update, for the whole batch and for shuffled halves of it."""
    everything = torch.arange(subject.batch)
    torch.manual_seed(11)
    whole = _evaluated(subject, everything)
    if whole is None or not _compare(subject, "ratio", whole, everything, "on the whole batch"):
        return
    torch.manual_seed(12)
    again = subject.evaluate()
    if not torch.equal(again["logprobs"], whole["logprobs"]):
        found = "two calls of default_forward on the same forward_inputs differ"
        subject.fail("ratio", found, "no random draw", "take every random number from forward_inputs")
    order = torch.randperm(subject.batch, generator=torch.Generator().manual_seed(3))
    for rows in order.split(subject.batch // 2):
        if not _compare(subject, "ratio", subject.evaluate(rows), rows, "on shuffled halves of the batch"):
            return


def check_train_mode(subject: Subject) -> None:
    """Check that train() changes nothing: RLinf's actor evaluates in train mode what the rollout did in eval mode."""
    with torch.no_grad():
        plain, train = subject.evaluate(), subject.evaluate(train=True)
    difference = float((plain["logprobs"] - train["logprobs"]).abs().max())
    subject.measured["train_mode_error"] = difference
    if not difference <= subject.tolerance:
        noisy = sorted({
            f"{type(module).__name__}(p={module.p})"
            for module in subject.policy.modules()
            if isinstance(module, torch.nn.modules.dropout._DropoutNd) and module.p > 0
        })  # fmt: skip
        subject.fail(
            "train_mode",
            f"log-probabilities change by {difference:.3g} in train() mode" + (f"; it has {noisy}" if noisy else ""),
            f"at most {subject.tolerance:g}",
            "set dropout to 0 and keep normalisation statistics fixed: RL needs the rollout's own distribution",
            opt_out="train_mode_noise",
        )


def check_gradients(subject: Subject) -> None:
    """Check that log-probabilities and values have gradients, finite, on trainable parameters only."""
    output = subject.evaluate(train=True)
    for name in ("logprobs", "values") if subject.has_critic else ("logprobs",):
        if not output[name].requires_grad:
            fix = "remove no_grad()/detach() from default_forward"
            subject.fail("gradients", f"{name} have no gradient", "a differentiable output", fix)
            return
    moved = {name for name, gradient in _gradients(subject, output["logprobs"].float().sum()).items() if gradient.any()}
    if not moved:
        found = "log-probabilities move no parameter of the policy"
        fix = "check that the distribution's mean or standard deviation depends on trainable weights"
        subject.fail("gradients", found, "a non-zero gradient on the action head", fix)
    reached = _gradients(subject, loss_of(subject.evaluate(train=True)))
    _check_reached(subject, reached)
    idle = [name for name, weight in subject.policy.named_parameters() if weight.requires_grad and name not in reached]
    if idle:
        subject.notes.append(
            f"{len(idle)} trainable parameters get no gradient from PPO's loss (first: {idle[0]}); freeze them, or "
            "they cost optimizer memory for nothing"
        )


def _gradients(subject: Subject, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    """Go backward and return the gradients by parameter name."""
    subject.policy.zero_grad(set_to_none=True)
    loss.backward()
    gradients = {name: weight.grad for name, weight in subject.policy.named_parameters() if weight.grad is not None}
    subject.policy.zero_grad(set_to_none=True)
    return gradients


def _check_reached(subject: Subject, reached: Mapping[str, torch.Tensor]) -> None:
    parameters = dict(subject.policy.named_parameters())
    frozen = sorted(name for name in reached if not parameters[name].requires_grad)
    if frozen:
        subject.fail("gradients", f"frozen parameters got gradients, first: {frozen[0]}", "none", "do not write .grad")
    wrong = [name for name, gradient in reached.items() if not torch.isfinite(gradient).all()]
    if wrong:
        found = f"gradients of {len(wrong)} parameters are not finite, first: {wrong[0]}"
        subject.fail("gradients", found, "finite gradients", "look for log(0), sqrt(0) or a masked-out row of softmax")
    if subject.has_critic and not any("value_head" in name for name in reached):
        heads = [name for name in parameters if "value_head" in name and parameters[name].requires_grad]
        found = "values give the value head no gradient" if heads else "no trainable parameter is called value_head"
        fix = "call the head self.value_head: RLinf gives parameters of that name optim.value_lr"
        subject.fail("gradients", found, "a gradient on value_head.*", fix)


def _evaluated(subject: Subject, rows: torch.Tensor) -> Mapping[str, Any] | None:
    """Call the policy as the actor does and check the form of its answer."""
    output = subject.evaluate(rows)
    if not isinstance(output, Mapping) or not torch.is_tensor(output.get("logprobs")):
        found = f"the policy returned {type(output).__name__}"
        found += f" with {sorted(output)}" if isinstance(output, Mapping) else ""
        subject.fail("ratio", found, "{'logprobs': ..., 'values': ..., 'entropy': ...}", "return these from it")
        return None
    if subject.has_critic and not torch.is_tensor(output.get("values")):
        fix = "honour compute_values"
        subject.fail("ratio", "default_forward gave no values", f"a tensor ({subject.batch}, 1)", fix)
        return None
    return output


def _compare(subject: Subject, check: str, output: Mapping[str, Any], rows: torch.Tensor, when: str) -> bool:
    """Compare the trainer's log-probabilities and values with the rollout's."""
    ours, theirs = output["logprobs"].detach().cpu().float(), subject.reference(output, rows).float()
    if ours.shape != theirs.shape:
        found = f"logprobs have shape {tuple(ours.shape)} {when}, the rollout's {tuple(theirs.shape)}"
        subject.fail(check, found, "equal shapes", "cut both to the executed steps and the real action dims")
        return False
    errors = {"logprob": _record(subject, "logprob", ours - theirs)}
    if subject.has_critic:
        values = output["values"].detach().cpu().float().reshape(len(rows), -1)
        errors["value"] = _record(subject, "value", values - subject.rollout.values[rows].float())
    wrong = {name: error for name, error in errors.items() if not error <= subject.tolerance}
    if wrong:
        ratio = float(torch.exp((ours - theirs).flatten(1).sum(dim=1)).sub(1).abs().max())
        found = ", ".join(f"{name}s differ from the rollout's by up to {error:.3g}" for name, error in wrong.items())
        expected = f"at most {subject.tolerance:g} (PPO's ratio is 1 before an update)"
        subject.fail(check, f"{found} {when}; |ratio - 1| up to {ratio:.3g}", expected, _CAUSES)
    return not wrong


def _record(subject: Subject, name: str, difference: torch.Tensor) -> float:
    """Keep the largest error of its kind, and return this one."""
    error = float(difference.abs().max())
    subject.measured[f"{name}_error"] = max(error, subject.measured.get(f"{name}_error", 0.0))
    return error
