# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The PPO / actor-critic actor: RLinf's, usable on a CPU, with a complete resume state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.ratio_check import INITIAL_RATIO_ERROR
from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.workers.actor.fsdp_actor_worker import EmbodiedFSDPActor  # noqa: E402

from .common import use_cpu_threads  # noqa: E402
from .weights import build_and_load  # noqa: E402

if TYPE_CHECKING:
    import torch

TRAINER_STATE_FILENAME = "trainer_state.json"


class ActorWorker(EmbodiedFSDPActor):
    """RLinf's FSDP actor.

    Rank discipline: :meth:`save_checkpoint` and :meth:`load_checkpoint` are collectives, as upstream; the trainer
    state is written by rank 0 and read by every rank.
    """

    def init_worker(self) -> None:
        """Build model and optimizer, seeded, and use the machine's cores where there is no GPU."""
        from rlinf.utils.utils import seed_everything

        use_cpu_threads(self.torch_device_type)
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

    def save_checkpoint(self, save_path: str, step: int = 0) -> None:
        """Save weights, optimizer, scheduler and RNG, and the counters that upstream leaves out.

        Args:
            save_path: The checkpoint's ``actor`` directory.
            step: Global step, as RLinf's runner counts it.
        """
        super().save_checkpoint(save_path, step)
        if self._rank == 0:
            state = {"optimizer_steps": self.optimizer_steps, "step": step}
            (Path(save_path) / TRAINER_STATE_FILENAME).write_text(json.dumps(state), encoding="utf-8")

    def load_checkpoint(self, load_path: str) -> None:
        """Restore what :meth:`save_checkpoint` wrote.

        Critic warm-up that was over when the checkpoint was written stays over: the optimizer is rebuilt with every
        parameter group before its state is loaded, as it was when it was saved.

        Args:
            load_path: The checkpoint's ``actor`` directory.
        """
        state_file = Path(load_path) / TRAINER_STATE_FILENAME
        if state_file.is_file():
            self.optimizer_steps = int(json.loads(state_file.read_text(encoding="utf-8"))["optimizer_steps"])
            if 0 < self.critic_warmup_steps <= self.optimizer_steps:
                self.critic_warmup_steps = 0
                self.optimizer = self.build_optimizer(model=self.model)
                self.lr_scheduler = self.build_lr_scheduler(optimizer=self.optimizer, optim_config=self.cfg.actor.optim)
        super().load_checkpoint(load_path)

    def trainer_state(self) -> dict[str, float]:
        """Return the counters that tell a resumed run from a new one.

        Returns:
            ``optimizer_steps``, ``scheduler_steps`` and the first group's learning rate ``lr``.
        """
        return {
            "optimizer_steps": self.optimizer_steps,
            "scheduler_steps": self.lr_scheduler.last_epoch,
            "lr": self.optimizer.param_groups[0]["lr"],
        }
