# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The rollout worker: RLinf's, told apart train from eval for every model, and explicit about its weights."""

from __future__ import annotations

import re
from typing import Any, Literal

from isaaclab_rlinf.compat import prepare_worker_imports

prepare_worker_imports()

from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker  # noqa: E402

from isaaclab_rlinf.config.seeds import derived_seed, resumed_seed  # noqa: E402

from .common import use_cores  # noqa: E402
from .weights import LoadReport, load_full_weights, without_checkpoint  # noqa: E402


class RolloutWorker(MultiStepRolloutWorker):
    """RLinf's Hugging Face rollout worker."""

    def init_worker(self) -> LoadReport | None:
        """Build the model and, when ``runner.ckpt_path`` is set, load that checkpoint over the base weights.

        Returns:
            What was loaded; None without ``runner.ckpt_path``.

        Raises:
            ValueError: If the checkpoint's keys are not the model's.
        """
        from rlinf.utils.utils import seed_everything

        use_cores(self._node_local_world_size)
        # A resumed run draws other noise than the run before it did.
        resumed_at = re.search(r"global_step_(\d+)$", self.cfg.runner.get("resume_dir", None) or "")
        own = derived_seed(self.cfg.actor.seed, 1000 * (1 + self._rank))
        seed_everything(resumed_seed(own, int(resumed_at[1] if resumed_at else 0)))
        with without_checkpoint(self.cfg) as checkpoint:
            super().init_worker()
        return load_full_weights(self.hf_model, checkpoint) if checkpoint else None

    def setup_sample_params(self) -> None:
        """Tell models that RLinf does not list by name whether they act for training or for evaluation.

        Upstream passes ``mode`` only to a fixed list of model types; every other type sees nothing but these
        parameters, so the mode travels in them. RLinf's own OpenVLA hands them all to ``generate()``, which refuses
        one that it does not know; ``do_sample`` tells it the same.
        """
        super().setup_sample_params()
        if _is_rlinf_openvla(self.hf_model):
            return
        self._train_sampling_params = {**self._train_sampling_params, "mode": "train"}
        self._eval_sampling_params = {**self._eval_sampling_params, "mode": "eval"}

    def predict(self, env_obs: dict[str, Any], mode: Literal["train", "eval"] = "train") -> tuple[Any, dict[str, Any]]:
        """Act on a batch of observations.

        Args:
            env_obs: Mapped observation, batch first.
            mode: ``"train"`` samples, ``"eval"`` acts deterministically.

        Returns:
            Actions (B, T, A) and the model's result dict. Without tensors for ``prev_logprobs`` the rollout cannot
            be trained on, which upstream reports only later and less clearly.

        Raises:
            ValueError: If the model gave no log-probabilities in train mode.
        """
        actions, result = super().predict(env_obs, mode=mode)
        if mode == "train" and result.get("prev_logprobs") is None:
            raise ValueError(
                f"model_type '{self.model_cfg.model_type}' returned no prev_logprobs in train mode; a policy that is "
                "to be trained must return a (B, T, A) tensor (see docs/architecture.md, model contract)."
            )
        return actions, result


def _is_rlinf_openvla(model: Any) -> bool:
    """Whether a policy, below a PEFT wrapper, is RLinf's OpenVLA and not a model registered in its place."""
    model = model.get_base_model() if hasattr(model, "get_base_model") else model
    return type(model).__module__.startswith("rlinf.models.embodiment.openvla.")
