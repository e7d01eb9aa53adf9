# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check that the policy sharded by FSDP2 over several processes equals the whole one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from .report import describe_end
from .subject import Subject, loss_of


def check_sharding(subject: Subject) -> None:
    """Compare log-probabilities, values and gradients of `ranks` gloo processes with this process's.

    Each rank takes an equal part of the batch, as in training; gradients are averaged over the ranks.
    """
    train = "train_mode_noise" not in subject.exempt
    subject.policy.zero_grad(set_to_none=True)
    whole = subject.evaluate(train=train)
    loss_of(whole).backward()
    with tempfile.TemporaryDirectory(prefix="check_policy_") as folder:
        _write_job(subject, Path(folder), train)
        errors = _run_ranks(subject, Path(folder))
        if errors:
            _report_crash(subject, errors)
            return
        results = [torch.load(Path(folder, f"rank{rank}.pt")) for rank in range(subject.ranks)]
    _compare_outputs(subject, whole, results)
    _compare_gradients(subject, results[0]["gradients"])
    if results[0]["units"] == [""]:
        found = "only the root is an FSDP unit"
        fix = "name the repeated layer in _no_split_modules: otherwise every rank holds the whole model in each step"
        subject.fail("sharding", found, "one unit per repeated layer", fix)


def _write_job(subject: Subject, folder: Path, train: bool) -> None:
    import cloudpickle

    parts = torch.arange(subject.batch).chunk(subject.ranks)
    fsdp_config = subject.fsdp_config
    if hasattr(fsdp_config, "_metadata"):
        from omegaconf import OmegaConf

        fsdp_config = OmegaConf.to_container(fsdp_config, resolve=True)
    job = {
        "state": {key: value.detach().cpu() for key, value in subject.policy.state_dict().items()},
        "parts": [subject.trainer_inputs(rows) for rows in parts],
        "fsdp_config": {"wrap_policy": dict(fsdp_config).get("wrap_policy")},
        "compute_values": subject.has_critic,
        "train": train,
        "timeout_s": subject.timeout_s,
    }
    torch.save(job, folder / "job.pt")
    (folder / "build.pkl").write_bytes(cloudpickle.dumps(subject.build))


def _run_ranks(subject: Subject, folder: Path) -> list[str]:
    """Run all ranks; return the last lines of the first that failed, empty when all succeeded."""
    # The author's modules must be importable there; a GPU would only be a second platform to differ on.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "isaaclab_rlinf.testing.rank_process", str(folder), str(subject.ranks)]
    log = folder / "ranks.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            command,
            env=environment | {"OMP_NUM_THREADS": "1"},
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        code = process.wait(subject.timeout_s)
    except subprocess.TimeoutExpired:
        return [f"the ranks did not end within {subject.timeout_s:.0f} s"]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return _last_lines(code, log.read_text(errors="replace").strip()) if code else []


def _last_lines(code: int, log: str) -> list[str]:
    """Return the end of a failed run's log; never empty, since an empty list means that nothing failed."""
    return [*log.splitlines()[-12:], *filter(None, [describe_end("the ranks' parent", code, log)])]


def _report_crash(subject: Subject, lines: list[str]) -> None:
    subject.fail(
        "sharding",
        f"a rank failed: {lines[-1]}\n        " + "\n        ".join(lines),
        "the sharded policy runs",
        "under FSDP2, parameters are sharded outside the forward of their own unit: reach weights through the "
        "module's call, not from outside it, and let build() work in a new process",
    )


def _compare_outputs(subject: Subject, whole: Mapping[str, Any], results: list[dict[str, Any]]) -> None:
    for name in ("logprobs", "values") if subject.has_critic else ("logprobs",):
        sharded = torch.cat([result[name] for result in results])
        difference = float((sharded - whole[name].detach().cpu()).abs().max())
        subject.measured[f"sharded_{name}_error"] = difference
        if not difference <= subject.tolerance:
            found = f"{name} under FSDP2 on {subject.ranks} ranks differ by up to {difference:.3g}"
            fix = "look for weights read outside their module's forward, or state that build() does not restore"
            subject.fail("sharding", found, f"at most {subject.tolerance:g}", fix)


def _compare_gradients(subject: Subject, sharded: Mapping[str, torch.Tensor]) -> None:
    worst, where = 0.0, ""
    for name, parameter in subject.policy.named_parameters():
        if parameter.grad is None:
            continue
        if name not in sharded:
            subject.fail("sharding", f"{name} gets no gradient under FSDP2", "the same gradients", "see above")
            return
        whole = parameter.grad.detach().cpu()
        error = float((sharded[name] - whole).abs().max() / whole.abs().max().clamp(min=1e-3))
        worst, where = max((worst, where), (error, name))
    subject.measured["sharded_gradient_error"] = worst
    if not worst <= max(1e-3, 10 * subject.tolerance):
        found = f"gradients under FSDP2 on {subject.ranks} ranks differ, most at {where}: {worst:.3g} of its largest"
        fix = "a loss or a normalisation over the batch would do this; so would a module used outside its unit"
        subject.fail("sharding", found, "the average over ranks equals the whole batch's gradient", fix)
