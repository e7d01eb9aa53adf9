# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a resumed SAC actor keeps and what it takes from the config, with RLinf's own save and load on one CPU rank."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.workers.sac_actor import SacActorWorker

OPTIM = {"lr": 1e-2, "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_eps": 1e-8}


class Policy(torch.nn.Module):
    """A policy and a critic, small."""

    _no_split_modules = ("Linear",)

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body, self.q_head = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)


class Buffer:
    """A replay buffer that keeps nothing."""

    def save_checkpoint(self, path):
        """Write nothing."""

    def load_checkpoint(self, path):
        """Read nothing."""


@pytest.fixture(scope="module", autouse=True)
def process_group(tmp_path_factory):
    """One rank; the port is the store's to choose."""
    store = torch.distributed.FileStore(str(tmp_path_factory.mktemp("store") / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def sac(policy=None, critic=None, temperature=None, alpha_type="softplus"):
    """An actor as it is after ``setup_model_and_optimizer``, without RLinf's cluster around it."""
    from rlinf.hybrid_engines.fsdp.strategy.fsdp2 import FSDP2Strategy

    worker = object.__new__(SacActorWorker)
    sections = {
        "actor": {
            "optim": {**OPTIM, **(policy or {})},
            "critic_optim": {**OPTIM, "lr": 3e-2, **(critic or {})},
            "fsdp_config": {"save_full_model_weights": False, "use_orig_params": False, "grad_scaler": False},
            "model": {"action_dim": 2},
        },
        "algorithm": {"entropy_tuning": {"alpha_type": alpha_type, "optim": {"lr": 5e-2, **(temperature or {})}}},
    }
    worker.cfg = OmegaConf.create(sections)
    worker._cfg, worker._rank = worker.cfg.actor, 0
    worker._logger, worker.device, worker.torch_dtype = SimpleNamespace(info=print, warning=print), "cpu", torch.float32
    worker.is_weight_offloaded = worker.is_optimizer_offloaded = False
    worker.update_step, worker.alpha_optimizer, worker._device_mesh = 0, None, None
    worker._strategy = object.__new__(FSDP2Strategy)
    worker._strategy.wrap_model = lambda model, device_mesh: model
    worker.model_provider_func = Policy
    worker.build_grad_scaler = lambda config: None
    worker.replay_buffer = Buffer()
    worker.setup_model_and_optimizer(initialize_target=True)
    return worker


def train(worker, updates):
    """Update everything, on data that depends on the update alone."""
    for _ in range(updates):
        torch.manual_seed(worker.update_step)
        data = torch.randn(5, 3)
        loss = worker.model.body(data).square().mean() + worker.model.q_head(data).square().mean()
        (loss + worker.entropy_temp.compute_alpha()).backward()
        steps = [(worker.optimizer, worker.lr_scheduler), (worker.qf_optimizer, worker.qf_lr_scheduler)]
        if worker.alpha_optimizer is not None:
            steps.append((worker.alpha_optimizer, worker.alpha_lr_scheduler))
        for optimizer, scheduler in steps:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
        worker.update_step += 1
    return worker


@pytest.fixture
def saved(tmp_path):
    """Train two updates, save; returns the directory."""

    def save(**settings):
        train(sac(**settings), 2).save_checkpoint(str(tmp_path), 1)
        return str(tmp_path)

    return save


def resumed(directory, **settings):
    worker = sac(**settings)
    worker.load_checkpoint(directory)
    return worker


def weights(worker):
    return [*worker.model.parameters(), *worker.entropy_temp.parameters()]


@pytest.mark.parametrize("alpha_type", ["softplus", "fixed_alpha"])
def test_two_and_two_are_four_when_nothing_changed(saved, alpha_type):
    settings = {"policy": {"lr_scheduler": "cosine", "total_training_steps": 8}, "alpha_type": alpha_type}
    later = resumed(saved(**settings), **settings)
    assert later.trainer_state()["changed"] == ()
    assert (later.trainer_state()["optimizer_steps"], later.trainer_state()["scheduler_steps"]) == (2, 2)
    pairs = zip(weights(train(later, 2)), weights(train(sac(**settings), 4)), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_what_is_given_now_wins_and_is_listed(saved):
    directory = saved()
    later = resumed(
        directory,
        policy={"lr": 2e-2, "lr_scheduler": "cosine", "total_training_steps": 8},
        critic={"adam_beta2": 0.95},
        temperature={"lr": 1e-3},
    )
    assert later.trainer_state()["changed"] == (
        "actor.optim.lr: 0.02; the checkpoint had 0.01",
        "actor.critic_optim.adam_beta2: 0.95; the checkpoint had 0.999",
        "algorithm.entropy_tuning.optim.lr: 0.001; the checkpoint had 0.05",
        "actor.optim.lr_scheduler: cosine; the checkpoint had constant",
        "actor.optim.total_training_steps: 8; the checkpoint had 0",
    )
    train(later, 1)  # the schedule does not bring the old ones back
    assert later.qf_optimizer.param_groups[0]["betas"] == (0.9, 0.95)
    assert later.alpha_optimizer.param_groups[0]["lr"] == 1e-3
    assert later.lr_scheduler.last_epoch == 3 and 0 < later.trainer_state()["lr"] < 2e-2
    (moments,) = {float(state["step"]) for state in later.qf_optimizer.state.values()}
    assert moments >= 3, "the moments are the checkpoint's"
