# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a resumed actor keeps and what it takes from the config, with a real optimizer and real checkpoints."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.backends.health import SKIPPED_UPDATES, UPDATES
from isaaclab_rlinf.workers.actor import ActorWorker, EmbodiedFSDPActor
from isaaclab_rlinf.workers.optimizer_settings import TRAINER_STATE_FILENAME

OPTIM = {
    "lr": 1e-2,
    "value_lr": 1e-1,
    "adam_beta1": 0.9,
    "adam_beta2": 0.999,
    "adam_eps": 1e-8,
    "weight_decay": 0.01,
    "clip_grad": 1.0,
}


class Policy(torch.nn.Module):
    """A policy and a value head, small."""

    _no_split_modules = ("Linear",)

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body, self.value_head = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)


@pytest.fixture(scope="module", autouse=True)
def process_group(tmp_path_factory):
    """One rank; the port is the store's to choose."""
    store = torch.distributed.FileStore(str(tmp_path_factory.mktemp("store") / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def actor(wrap=lambda model: model, **optim):
    """An actor as it is after ``setup_model_and_optimizer``, without RLinf's cluster around it."""
    from rlinf.hybrid_engines.fsdp.strategy.fsdp2 import FSDP2Strategy

    worker = object.__new__(ActorWorker)
    cfg = OmegaConf.create({"actor": {"optim": {**OPTIM, **optim}, "fsdp_config": {"save_full_model_weights": False}}})
    worker.cfg, worker._cfg, worker._rank = cfg, cfg.actor, torch.distributed.get_rank()
    worker._logger = SimpleNamespace(info=print, warning=print)
    worker.is_weight_offloaded = worker.is_optimizer_offloaded = False
    worker.store_requires_grad_param_name, worker.optimizer_steps = [], 0
    worker.critic_warmup_steps = int(optim.get("critic_warmup_steps", 0))
    worker.grad_scaler = worker.build_grad_scaler(False)
    worker.model = wrap(Policy())
    worker._strategy = object.__new__(FSDP2Strategy)
    worker._strategy.clip_grad_norm_ = lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    worker.optimizer = worker.build_optimizer(worker.model, enable_critic_warmup=worker.critic_warmup_steps > 0)
    worker.lr_scheduler = worker.build_lr_scheduler(worker.optimizer, cfg.actor.optim)
    return worker


def train(worker, steps, poison=False):
    """Train ``steps`` steps of two updates each, on data that depends on the update alone."""
    for _ in range(steps):
        for _ in range(2):
            torch.manual_seed(worker.optimizer_steps)
            data = torch.randn(5, 3)
            worker.optimizer.zero_grad()
            loss = worker.model.body(data).square().mean() + worker.model.value_head(data).square().mean()
            (loss * math.nan if poison else loss).backward()
            worker.optimizer_step()
        worker.lr_scheduler.step()
    return worker


def resumed(directory, **optim):
    worker = actor(**optim)
    worker.load_checkpoint(str(directory))
    return worker


def same(left, right):
    pairs = zip(left.model.parameters(), right.model.parameters(), strict=True)
    return all(torch.equal(one, other) for one, other in pairs)


def rates(worker):
    return [group["lr"] for group in worker.optimizer.param_groups]


@pytest.fixture
def saved(tmp_path):
    """Train two steps, save; returns the directory."""

    def save(**optim):
        worker = train(actor(**optim), 2)
        worker.save_checkpoint(str(tmp_path), 2)
        return tmp_path

    return save


SCHEDULES = {
    "constant": {"lr_warmup_steps": 3},
    "cosine": {"total_training_steps": 4, "lr_warmup_steps": 1},
    "torch_cosine": {"total_training_steps": 4},
    "torch_constant": {},
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_two_and_two_are_four_when_nothing_changed(saved, schedule):
    optim = {"lr_scheduler": schedule, **SCHEDULES[schedule]}
    later = resumed(saved(**optim), **optim)
    assert later.trainer_state()["changed"] == ()
    assert rates(later) == rates(train(actor(**optim), 2))
    assert same(train(later, 2), train(actor(**optim), 4))
    assert rates(later) == rates(train(actor(**optim), 4))
    assert later.trainer_state()["scheduler_steps"] == 4


def test_what_is_given_now_wins_and_is_listed(saved):
    directory = saved()
    given = {"lr": 2e-2, "value_lr": 5e-2, "adam_beta2": 0.95, "adam_eps": 1e-6, "weight_decay": 0.0}
    later = resumed(directory, **given)
    assert later.trainer_state()["changed"] == (
        "actor.optim.lr: 0.02; the checkpoint had 0.01",
        "actor.optim.adam_beta2: 0.95; the checkpoint had 0.999",
        "actor.optim.adam_eps: 1e-06; the checkpoint had 1e-08",
        "actor.optim.weight_decay: 0; the checkpoint had 0.01",
        "actor.optim.value_lr: 0.05; the checkpoint had 0.1",
    )
    for _ in range(2):  # the schedule does not bring the old ones back
        assert rates(later) == [2e-2, 5e-2]
        assert [(g["betas"], g["eps"], g["weight_decay"]) for g in later.optimizer.param_groups] == [
            ((0.9, 0.95), 1e-6, 0.0)
        ] * 2
        train(later, 1)
    moments = next(iter(resumed(directory, **given).optimizer.state.values()))
    assert float(moments["step"]) == 5  # RLinf's empty step and four updates: the moments are the checkpoint's


def test_another_schedule_goes_on_from_the_same_place(saved):
    directory = saved(lr_scheduler="cosine", total_training_steps=4)
    longer = resumed(directory, lr_scheduler="cosine", total_training_steps=8)
    assert longer.trainer_state()["changed"] == ("actor.optim.total_training_steps: 8; the checkpoint had 4",)
    assert rates(longer) == [pytest.approx(rate * 0.5 * (1 + math.cos(math.pi * 2 / 8))) for rate in (1e-2, 1e-1)]
    kind = resumed(directory, lr_scheduler="torch_cosine", total_training_steps=8)
    assert kind.trainer_state()["scheduler_steps"] == 2
    assert (
        resumed(directory).trainer_state()["changed"][0]
        == "actor.optim.lr_scheduler: constant; the checkpoint had cosine"
    )
    assert rates(resumed(directory)) == [1e-2, 1e-1]


def test_a_checkpoint_that_does_not_say_its_schedule(saved):
    directory = saved()
    (directory / TRAINER_STATE_FILENAME).write_text(json.dumps({"optimizer_steps": 4, "step": 2}))
    later = resumed(directory, lr=2e-2)
    assert later.trainer_state()["changed"] == ("actor.optim.lr: 0.02; the checkpoint had 0.01",)


def test_a_critics_warmup_goes_on(saved):
    optim = {"critic_warmup_steps": 6}
    later = resumed(saved(**optim), **optim)
    assert rates(later) == [1e-1]
    assert same(train(later, 2), train(actor(**optim), 4))
    assert rates(later) == [1e-2, 1e-1]


def test_a_critics_warmup_that_was_over_stays_over(saved):
    directory = saved(critic_warmup_steps=3)
    assert same(
        train(resumed(directory, critic_warmup_steps=3), 2),
        train(actor(critic_warmup_steps=3), 4),
    )
    longer = resumed(directory, critic_warmup_steps=9)
    assert "critic_warmup_steps: 9 has no effect" in longer.trainer_state()["changed"][0]
    assert rates(longer) == [1e-2, 1e-1]


def test_a_critics_warmup_that_is_shorter_now_ends(saved):
    later = resumed(saved(critic_warmup_steps=6))
    assert rates(later) == [1e-2, 1e-1]
    before = later.model.body.weight.clone()
    train(later, 1)
    assert not torch.equal(before, later.model.body.weight)


def test_skipped_updates_are_counted_for_each_step(monkeypatch):
    worker = actor()
    for poison, skipped in ((False, 0), (True, 2), (False, 0)):
        monkeypatch.setattr(EmbodiedFSDPActor, "run_training", lambda self, p=poison: train(self, 1, p) and {"a/b": 1})
        metrics = worker.run_training()
        assert metrics == {"a/b": 1, UPDATES: 2.0, SKIPPED_UPDATES: float(skipped)}
        assert worker.last_training_metrics() == metrics


def test_how_rlinf_reads_min_lr():
    """The reason for refusing it: transformers divides it by the optimizer's default, not by the groups' rates."""
    from transformers.optimization import get_cosine_with_min_lr_schedule_with_warmup

    group = {"params": [torch.nn.Parameter(torch.ones(1))], "lr": 4e-5}
    optimizer = torch.optim.AdamW([group])
    schedule = get_cosine_with_min_lr_schedule_with_warmup(optimizer, 0, 4, min_lr=1e-6)
    for _ in range(4):
        optimizer.step()
        schedule.step()
    assert schedule.get_last_lr() == [pytest.approx(4e-8)]
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr()[0] > 5e-6  # and beyond its length it rises
