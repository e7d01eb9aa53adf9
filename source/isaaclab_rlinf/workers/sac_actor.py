# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The SAC actor: RLinf's, for machines with an accelerator.

rlinf 0.3.0's SAC worker calls ``torch.cuda.synchronize()`` and clips gradients through an FSDP1 method; the config
validator refuses it on a CPU-only machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.workers.actor.fsdp_sac_policy_worker import EmbodiedSACFSDPPolicy  # noqa: E402

from .common import use_cores  # noqa: E402
from .weights import build_and_load  # noqa: E402

if TYPE_CHECKING:
    import torch

from .training_record import TrainingRecord  # noqa: E402


class SacActorWorker(TrainingRecord, EmbodiedSACFSDPPolicy):
    """RLinf's SAC policy worker."""

    def init_worker(self) -> None:
        """Build models and optimizers, and use the cores of the machine."""
        use_cores(self._node_local_world_size)
        super().init_worker()

    def model_provider_func(self) -> torch.nn.Module:
        """Build the model, with the weights of ``runner.ckpt_path``; see :func:`.weights.build_and_load`."""
        return build_and_load(self.cfg, super().model_provider_func)
