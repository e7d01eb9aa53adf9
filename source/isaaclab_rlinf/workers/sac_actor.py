# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The SAC actor: RLinf's, for machines with an accelerator.

rlinf 0.3.0's SAC worker calls ``torch.cuda.synchronize()`` and clips gradients through an FSDP1 method; the config
validator refuses it on a CPU-only machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.rlinf_checkpoint import random_state_of
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.workers.actor.fsdp_sac_policy_worker import EmbodiedSACFSDPPolicy  # noqa: E402

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

_POLICY, _CRITIC, _TEMPERATURE = _SECTIONS = (
    "actor.optim",
    "actor.critic_optim",
    "algorithm.entropy_tuning.optim",
)
"""Where the settings of SAC's three optimizers stand."""


class SacActorWorker(TrainingRecord, EmbodiedSACFSDPPolicy):
    """RLinf's SAC policy worker, with counters in its checkpoints and the settings that are given now after resuming.

    Rank discipline: as :class:`~isaaclab_rlinf.workers.actor.ActorWorker`.
    """

    _changed_settings: tuple[str, ...] = ()
    _random_notices: list[str] = []  # noqa: RUF012 - replaced, never changed

    def init_worker(self) -> None:
        """Build models and optimizers, and use the cores of the machine."""
        use_cores(self._node_local_world_size)
        super().init_worker()

    def model_provider_func(self) -> torch.nn.Module:
        """Build the model, with the weights of ``runner.ckpt_path``; see :func:`.weights.build_and_load`."""
        return build_and_load(self.cfg, super().model_provider_func)

    def save_checkpoint(self, save_base_path: str, step: int) -> None:
        """Save what upstream saves, the number of updates and what shaped the schedules.

        Args:
            save_base_path: The checkpoint's ``actor`` directory.
            step: Global step, as RLinf's runner counts it.
        """
        super().save_checkpoint(save_base_path, step)
        if self._rank == 0:
            state = {"optimizer_steps": self.update_step, "step": step, "schedules": self._schedules()}
            write_trainer_state(save_base_path, state)

    def load_checkpoint(self, load_base_path: str) -> None:
        """Restore what :meth:`save_checkpoint` wrote, but for the settings: those that are given now win.

        Args:
            load_base_path: The checkpoint's ``actor`` directory.
        """
        state = read_trainer_state(load_base_path)
        self.update_step = int(state.get("optimizer_steps", self.update_step))
        optimizers, former = self._optimizers(), state.get("schedules", {})
        given = {section: settings_of(optimizer) for section, optimizer in optimizers.items()}
        # a checkpoint's schedule may be of another kind: only its place is read
        places = {section: SchedulePosition() for section in _SECTIONS}
        self.lr_scheduler, self.qf_lr_scheduler = places[_POLICY], places[_CRITIC]
        self.alpha_lr_scheduler = [places[_TEMPERATURE]]
        with random_state_of(load_base_path) as self._random_notices:
            super().load_checkpoint(load_base_path)
        changes: list[str] = []
        for section, optimizer in optimizers.items():
            changes += put_settings(optimizer, given[section], ("lr",), section)
        self.build_lr_schedulers()
        moved = {_POLICY: self.lr_scheduler, _CRITIC: self.qf_lr_scheduler, _TEMPERATURE: self.alpha_lr_scheduler}
        for section, schedule in self._schedules().items():
            move_schedule(moved[section], places[section].last_epoch)
            changes += schedule_changes(schedule, former.get(section, schedule), section)
        self._changed_settings = tuple(changes)

    def trainer_state(self) -> dict[str, Any]:
        """Return what tells a resumed run from a new one; see :meth:`.actor.ActorWorker.trainer_state`."""
        return {
            "optimizer_steps": self.update_step,
            "scheduler_steps": self.lr_scheduler.last_epoch,
            "lr": self.optimizer.param_groups[0]["lr"],
            "changed": self._changed_settings,
            "notices": tuple(self._random_notices),
        }

    def _optimizers(self) -> dict[str, torch.optim.Optimizer]:
        """Return the optimizers by the section of their settings; a fixed temperature has none."""
        found = zip(_SECTIONS, (self.optimizer, self.qf_optimizer, self.alpha_optimizer), strict=True)
        return {section: optimizer for section, optimizer in found if optimizer is not None}

    def _schedules(self) -> dict[str, dict[str, Any]]:
        from omegaconf import OmegaConf

        return {section: schedule_of(OmegaConf.select(self.cfg, section)) for section in self._optimizers()}
