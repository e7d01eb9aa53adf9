# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The PPO / actor-critic actor: RLinf's, usable on a CPU, with a complete resume state and counted updates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.health import SKIPPED_UPDATES, UPDATES
from isaaclab_rlinf.backends.ratio_check import INITIAL_RATIO_ERROR
from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.rlinf_checkpoint import random_state_of
from isaaclab_rlinf.compat.rlinf_fsdp import ExactFsdp
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.workers.actor.fsdp_actor_worker import EmbodiedFSDPActor  # noqa: E402

from .common import use_cores  # noqa: E402
from .optimizer_settings import (  # noqa: E402
    SchedulePosition,
    move_schedule,
    put_settings,
    read_trainer_state,
    schedule_changes,
    schedule_of,
    settings_of,
    write_trainer_state,
)
from .training_record import TrainingRecord  # noqa: E402
from .weights import build_and_load  # noqa: E402

if TYPE_CHECKING:
    import torch


class ActorWorker(TrainingRecord, ExactFsdp, EmbodiedFSDPActor):
    """RLinf's FSDP actor.

    Rank discipline: :meth:`save_checkpoint` and :meth:`load_checkpoint` are collectives, as upstream; the trainer
    state is written by rank 0 and read by every rank.
    """

    _first_update = _skipped_updates = 0
    _changed_settings: tuple[str, ...] = ()
    _random_notices: list[str] = []  # noqa: RUF012 - replaced, never changed

    def init_worker(self) -> None:
        """Build model and optimizer, seeded, and use the cores of the machine."""
        from rlinf.utils.utils import seed_everything

        use_cores(self._node_local_world_size)
        seed_everything(self.cfg.actor.seed)
        super().init_worker()

    def model_provider_func(self) -> torch.nn.Module:
        """Build the model, with the weights of ``runner.ckpt_path``; see :func:`.weights.build_and_load`."""
        return build_and_load(self.cfg, super().model_provider_func)

    def train_micro_batch(self, micro_batch: dict[str, Any], metrics: dict[str, list[Any]], *, is_last: bool) -> None:
        """Accumulate gradients of one micro batch; during a step's first minibatch also record the ratio's error.

        Args:
            micro_batch: Tensors of the micro batch, batch-first.
            metrics: Metrics of the step so far; what is measured is appended.
            is_last: Whether the optimizer steps after this micro batch.
        """
        before_first_update = len(metrics.get("actor/ratio_abs", ())) < self.gradient_accumulation
        super().train_micro_batch(micro_batch, metrics, is_last=is_last)
        if before_first_update and "actor/ratio_abs" in metrics:
            metrics.setdefault(INITIAL_RATIO_ERROR, []).append(metrics["actor/ratio_abs"][-1])

    def before_training(self) -> None:
        """Begin to count the step's updates."""
        self._first_update, self._skipped_updates = self.optimizer_steps, 0

    def optimizer_step(self) -> tuple[float, list[float]]:
        """Update the weights; upstream does not where the gradient is not finite, here on any rank.

        Returns:
            The gradient's norm, and the learning rate of each parameter group.
        """
        norm, rates = super().optimizer_step()
        self._skipped_updates += not math.isfinite(float(norm))
        return norm, rates

    def added_metrics(self) -> dict[str, float]:
        """Return the step's updates, and how many of them were skipped."""
        updates = self.optimizer_steps - self._first_update
        return {UPDATES: float(updates), SKIPPED_UPDATES: float(self._skipped_updates)}

    def save_checkpoint(self, save_path: str, step: int = 0) -> None:
        """Save weights, optimizer, scheduler and RNG, and the counters that upstream leaves out.

        Args:
            save_path: The checkpoint's ``actor`` directory.
            step: Global step, as RLinf's runner counts it.
        """
        super().save_checkpoint(save_path, step)
        if self._rank == 0:
            state = {
                "optimizer_steps": self.optimizer_steps,
                "step": step,
                "critic_warmup_steps": self.critic_warmup_steps,
                "schedule": schedule_of(self.cfg.actor.optim),
            }
            write_trainer_state(save_path, state)

    def load_checkpoint(self, load_path: str) -> None:
        """Restore what :meth:`save_checkpoint` wrote, but for the settings: those that are given now win.

        It may have been written on another kind of device, or by another number of ranks.

        Args:
            load_path: The checkpoint's ``actor`` directory.
        """
        state = read_trainer_state(load_path)
        self.optimizer_steps = int(state.get("optimizer_steps", self.optimizer_steps))
        schedule, in_warmup = schedule_of(self.cfg.actor.optim), self._match_warmup(state.get("critic_warmup_steps"))
        settings, position = settings_of(self.optimizer), SchedulePosition()
        self.lr_scheduler = [position]  # the checkpoint's schedule may be of another kind: only its place is read
        with random_state_of(load_path) as self._random_notices:
            super().load_checkpoint(load_path)
        rates = ("value_lr",) if in_warmup else ("lr", "value_lr")[: len(settings)]
        changes = put_settings(self.optimizer, settings, rates)
        if in_warmup and not self.critic_warmup_steps:  # it ends here, as upstream ends it: with a new optimizer
            self.optimizer, position = self.build_optimizer(model=self.model), SchedulePosition()
        self.lr_scheduler = self.build_lr_scheduler(optimizer=self.optimizer, optim_config=self.cfg.actor.optim)
        move_schedule(self.lr_scheduler, position.last_epoch)
        self._changed_settings += (*changes, *schedule_changes(schedule, state.get("schedule", schedule)))

    def _match_warmup(self, saved_in: int | None) -> bool:
        """Give the optimizer the parameter groups that it was saved with: the value head's alone in a warm-up.

        Args:
            saved_in: Length of the critic's warm-up that the checkpoint lies in, 0 beyond one; None when the
                checkpoint does not say.

        Returns:
            Whether the checkpoint lies in a warm-up. One that was over stays over, and one that is over with the
            length given now ends: ``critic_warmup_steps`` is then 0.
        """
        given = self.critic_warmup_steps
        in_warmup = 0 < self.optimizer_steps < given if saved_in is None else saved_in > 0
        if (given > 0) != in_warmup:
            self.optimizer = self.build_optimizer(model=self.model, enable_critic_warmup=in_warmup)
            # a schedule marks each group with its initial rate, by which settings are compared
            self.build_lr_scheduler(optimizer=self.optimizer, optim_config=self.cfg.actor.optim)
        if not in_warmup or self.optimizer_steps >= given:
            self.critic_warmup_steps = 0
        if not in_warmup and self.optimizer_steps < given:
            where = f"the checkpoint lies beyond it, at {self.optimizer_steps} updates"
            self._changed_settings = (f"actor.optim.critic_warmup_steps: {given} has no effect; {where}",)
        return in_warmup

    def trainer_state(self) -> dict[str, Any]:
        """Return what tells a resumed run from a new one.

        Returns:
            ``optimizer_steps``, ``scheduler_steps``, the first group's learning rate ``lr``, ``changed``: one text
            for each setting that is another than the checkpoint's, and ``notices``: what else differs.
        """
        return {
            "optimizer_steps": self.optimizer_steps,
            "scheduler_steps": self.lr_scheduler.last_epoch,
            "lr": self.optimizer.param_groups[0]["lr"],
            "changed": self._changed_settings,
            "notices": tuple(self._random_notices),
        }
