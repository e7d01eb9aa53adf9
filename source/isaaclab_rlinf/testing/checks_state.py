# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Checks of building, saving and loading: does the state dict hold everything that makes the policy act?"""

from __future__ import annotations

import io

import torch
from torch import nn

from .subject import Subject


def check_build(subject: Subject) -> None:
    """Check that two builds agree: RLinf builds the model in every worker and sends only what is trained."""
    first, second = (_built(subject, seed).state_dict() for seed in (101, 202))
    different = [key for key in first if not torch.equal(first[key], second[key])]
    if different:
        subject.fail(
            "build",
            f"{len(different)} of {len(first)} weights differ between two builds, first: {different[0]}",
            "the same weights whatever the random state: FSDP2 ranks and rollout workers build their own copies",
            "load everything from the checkpoint; draw new parts (value head) under torch.random.fork_rng() with a "
            "fixed seed",
            opt_out="random_init",
        )


def check_state_dict(subject: Subject) -> None:
    """Check that a policy with other weights acts like this one after loading a saved state dict."""
    donor, copy = _built(subject, 101), _built(subject, 202)
    _perturb(donor)
    buffer = io.BytesIO()
    torch.save(donor.state_dict(), buffer)
    buffer.seek(0)
    try:
        copy.load_state_dict(torch.load(buffer, weights_only=True))
    except RuntimeError as error:
        fix = "register the same parameters and buffers in every build"
        subject.fail("state_dict", f"strict loading fails: {error}", "a state dict that fits a new build", fix)
        return
    _compare_eval(subject, donor, copy)
    _compare_logprobs(subject, donor, copy)


def _built(subject: Subject, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return subject.build().eval()


def _perturb(policy: nn.Module) -> None:
    """Change every trainable weight a little, as training would."""
    draw = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in policy.parameters():
            if parameter.requires_grad and parameter.is_floating_point():
                noise = torch.randn(parameter.shape, generator=draw)
                parameter.add_(0.02 * noise.to(parameter.device, parameter.dtype))


def _compare_eval(subject: Subject, donor: nn.Module, copy: nn.Module) -> None:
    former = subject.policy
    try:
        answers = []
        for policy in (donor, copy):
            subject.policy = policy
            answers.append(torch.as_tensor(subject.predict("eval")[0]).detach().cpu())
    finally:
        subject.policy = former
    difference = float((answers[0].float() - answers[1].float()).abs().max())
    if not difference <= 1e-5:
        subject.fail(
            "state_dict",
            f"eval actions differ by up to {difference:.3g} after loading the state dict",
            "identical actions",
            "what was not restored is no parameter or persistent buffer: register it as one, or read it from files "
            "in the builder",
        )


def _compare_logprobs(subject: Subject, donor: nn.Module, copy: nn.Module) -> None:
    rows = torch.arange(subject.batch)
    with torch.no_grad():
        ours, theirs = (subject.evaluate(rows, policy=policy)["logprobs"] for policy in (donor, copy))
    difference = float((ours - theirs).abs().max())
    if not difference <= subject.tolerance:
        found = f"log-probabilities differ by up to {difference:.3g} after loading the state dict"
        subject.fail("state_dict", found, f"at most {subject.tolerance:g}", "as above, for default_forward")
