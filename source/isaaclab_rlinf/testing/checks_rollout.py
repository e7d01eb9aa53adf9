# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Checks of `predict_action_batch`: what the rollout worker gets in train and in eval mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks

from .subject import PREV_LOGPROB_TYPES, Rollout, Subject

_FLOATS = (torch.float32, torch.float64)


def check_rollout(subject: Subject) -> None:
    """Check one train-mode call, and record it for the checks that follow."""
    saved: list[torch.Tensor] = []
    observation = subject.observation()
    with saved_tensors_hooks(lambda tensor: saved.append(tensor) or tensor, lambda tensor: tensor):
        answer = subject.predict("train", observation)
    parts = _unpack(subject, answer)
    if parts is None:
        return
    actions, result = parts
    _check_unchanged(subject, observation)
    _check_actions(subject, "rollout", actions)
    logprobs_fit = _check_logprobs(subject, result.get("prev_logprobs"))
    _check_values(subject, result.get("prev_values"))
    inputs_fit = _check_forward_inputs(subject, result.get("forward_inputs"))
    _check_no_graph(subject, actions, result, saved)
    if logprobs_fit and inputs_fit:
        values = result.get("prev_values")
        subject.rollout = Rollout(
            actions=torch.as_tensor(actions).detach().cpu().clone(),
            logprobs=_shipped(result["prev_logprobs"]),
            values=_shipped(values) if torch.is_tensor(values) else None,
            forward_inputs={key: _shipped(value) for key, value in result["forward_inputs"].items()},
        )


def check_exploration(subject: Subject) -> None:
    """Check that train mode explores: two calls must not give the same actions."""
    actions, _ = subject.predict("train")
    if torch.equal(torch.as_tensor(actions).cpu(), subject.rollout.actions):
        subject.fail(
            "exploration",
            "two train-mode calls gave identical actions",
            "actions drawn from the policy's distribution",
            "sample in mode='train'; without exploration there is nothing to reinforce",
        )


def check_eval(subject: Subject) -> None:
    """Check that eval mode is deterministic and treats each row by itself."""
    first = _eval_actions(subject, seed=1)
    if not _check_actions(subject, "eval", first):
        return
    second = _eval_actions(subject, seed=2)
    difference = _largest(first, second)
    if difference:
        subject.fail(
            "eval",
            f"two eval-mode calls differ by up to {difference:.3g}",
            "identical actions: mode='eval' draws nothing at random",
            "start from zeros or the mean in eval mode, and honour `mode` (our rollout worker passes it to every "
            "model)",
        )
        return
    alone = _eval_actions(subject, rows=slice(1, 2))
    difference = _largest(first[1:2], alone)
    subject.measured["eval_row_error"] = difference
    limit = max(1e-3, 10 * subject.tolerance) * max(1.0, float(first.abs().max()))
    if difference > limit:
        subject.fail(
            "eval",
            f"actions of a row change by {difference:.3g} with the rows beside it",
            f"at most {limit:.3g}",
            "look for statistics over the batch, padding that is attended to, or a wrong reshape",
        )


def _eval_actions(subject: Subject, seed: int = 1, rows: slice = slice(None)) -> torch.Tensor:
    torch.manual_seed(seed)
    observation = {key: None if value is None else value[rows] for key, value in subject.observation().items()}
    actions = subject.predict("eval", observation)[0]
    return torch.as_tensor(actions).detach().cpu()


def _largest(left: torch.Tensor, right: torch.Tensor) -> float:
    return float((left.float() - right.float()).abs().max())


def _shipped(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor as it reaches the actor: on the CPU, an ordinary tensor even if made in inference mode."""
    return tensor.detach().cpu().clone()


def _unpack(subject: Subject, answer: Any) -> tuple[Any, Mapping[str, Any]] | None:
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Mapping):
        return answer
    subject.fail(
        "rollout",
        f"predict_action_batch returned {type(answer).__name__}",
        "(actions, {'prev_logprobs': ..., 'prev_values': ..., 'forward_inputs': ...})",
        "return a pair",
    )
    return None


def _check_unchanged(subject: Subject, observation: Mapping[str, Any]) -> None:
    changed = [key for key in subject.env_obs if not _same(subject.env_obs[key], observation.get(key))]
    if changed:
        subject.fail(
            "rollout", f"env_obs {changed} changed during the call", "an unchanged observation", "work on a copy"
        )


def _same(left: Any, right: Any) -> bool:
    return torch.equal(left, right) if torch.is_tensor(left) and torch.is_tensor(right) else left == right


def _check_actions(subject: Subject, check: str, actions: Any) -> bool:
    """Check type, shape, dtype and finiteness of a chunk of actions."""
    expected = f"float32 {subject.chunk_shape}: (B, num_action_chunks, action_dim), in environment units"
    if not isinstance(actions, torch.Tensor | np.ndarray):
        subject.fail(check, f"actions are {type(actions).__name__}", expected, "return a tensor")
        return False
    tensor = torch.as_tensor(actions)
    if tuple(tensor.shape) != subject.chunk_shape:
        fix = "cut the prediction to the executed steps and the environment's own dims; padding belongs to the YAML"
        subject.fail(check, f"actions have shape {tuple(tensor.shape)}", expected, fix)
        return False
    if tensor.dtype != torch.float32:
        subject.fail(check, f"actions are {tensor.dtype}", expected, "actions = actions.float()")
    if not torch.isfinite(tensor.float()).all():
        subject.fail(check, "actions are not finite", expected, "look for a division by a zero range in statistics")
        return False
    return True


def _check_logprobs(subject: Subject, logprobs: Any) -> bool:
    batch, chunk, width = subject.chunk_shape
    expected = f"a float32 tensor {subject.chunk_shape}"
    if not torch.is_tensor(logprobs):
        fix = "return the log-density of what was sampled; RLinf needs a tensor in train mode"
        subject.fail("rollout", f"prev_logprobs is {type(logprobs).__name__}", expected, fix)
        return False
    shape = tuple(logprobs.shape)
    if shape[:1] != (batch,):
        subject.fail("rollout", f"prev_logprobs has shape {shape}", expected, "the first dimension is the batch")
        return False
    if shape == (batch, chunk * width):
        fix = "reshape(B, num_action_chunks, action_dim)"
        subject.fail("rollout", f"prev_logprobs has shape {shape}", expected, fix, opt_out="flat_logprobs")
    elif shape != subject.chunk_shape and subject.model_type not in PREV_LOGPROB_TYPES:
        fix = "one value per executed action element: sum over denoising steps, cut padding and unexecuted steps"
        subject.fail("rollout", f"prev_logprobs has shape {shape}", expected, fix)
        return False
    if logprobs.dtype not in _FLOATS:
        fix = "compute densities in float32: bf16 has 3 digits, and PPO takes differences"
        subject.fail("rollout", f"prev_logprobs is {logprobs.dtype}", expected, fix)
    if not torch.isfinite(logprobs).all():
        subject.fail("rollout", "prev_logprobs is not finite", expected, "keep the standard deviation above zero")
        return False
    return True


def _check_values(subject: Subject, values: Any) -> None:
    if values is None and not subject.wants_value_head:
        return
    expected = f"a float tensor ({subject.batch}, 1)"
    if not torch.is_tensor(values):
        found = f"prev_values is {type(values).__name__}, and add_value_head is true"
        subject.fail("rollout", found, expected, "return the value head's output")
    elif tuple(values.shape) != (subject.batch, 1) and subject.wants_value_head:
        subject.fail("rollout", f"prev_values has shape {tuple(values.shape)}", expected, "one value per observation")
    elif not torch.isfinite(values.float()).all():
        subject.fail("rollout", "prev_values is not finite", expected, "check the value head's input")


def _check_forward_inputs(subject: Subject, inputs: Any) -> bool:
    expected = "a flat dict of tensors, batch first: RLinf concatenates, shuffles and splits them along dim 0"
    if not isinstance(inputs, Mapping) or not inputs:
        found = f"forward_inputs is {type(inputs).__name__ if not isinstance(inputs, Mapping) else 'empty'}"
        subject.fail("rollout", found, expected, "put in what default_forward needs to recompute the log-probabilities")
        return False
    wrong = {
        key: type(value).__name__ if not torch.is_tensor(value) else f"shape {tuple(value.shape)}"
        for key, value in inputs.items()
        if not torch.is_tensor(value) or value.dim() == 0 or value.shape[0] != subject.batch
    }
    if wrong:
        found = "; ".join(f"forward_inputs[{key!r}] is {what}" for key, what in wrong.items())
        fix = "make texts token ids padded to one length, give every tensor the batch as its first dimension, and "
        subject.fail("rollout", found, expected, fix + "leave out what is None")
    return not wrong


def _check_no_graph(subject: Subject, actions: Any, result: Mapping[str, Any], saved: list[torch.Tensor]) -> None:
    tensors = {"actions": actions, **result, **(result.get("forward_inputs") or {})}
    attached = [key for key, value in tensors.items() if torch.is_tensor(value) and value.requires_grad]
    if attached or saved:
        found = f"{', '.join(attached)} require a gradient" if attached else ""
        found += f"{'; ' if attached else ''}{len(saved)} tensors were kept for a backward pass" if saved else ""
        subject.fail("rollout", found, "no autograd graph", "decorate predict_action_batch with @torch.no_grad()")
