# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The SAC actor: RLinf's, for machines with an accelerator.

rlinf 0.3.0's SAC worker calls ``torch.cuda.synchronize()`` and clips gradients through an FSDP1 method; the config
validator refuses it on a CPU-only machine.
"""

from __future__ import annotations

from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.workers.actor.fsdp_sac_policy_worker import EmbodiedSACFSDPPolicy  # noqa: E402


class SacActorWorker(EmbodiedSACFSDPPolicy):
    """RLinf's SAC policy worker."""
