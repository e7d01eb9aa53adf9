# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""tiny_vla as an RLinf policy: exploration by the flow SDE, log-probabilities and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from rlinf.models.embodiment.base_policy import BasePolicy
from rlinf.models.embodiment.modules.value_head import ValueHead
from torch import nn

from isaaclab_rlinf.models.flow_rollout import RECORD_KEYS, FlowSampler
from isaaclab_rlinf.models.policy_inputs import check_sampling_keys, images_from_env, resolve_mode
from isaaclab_rlinf.models.rl_head import RLHeadConfig

from .configuration import TinyVLAConfig
from .modeling import TinyVLAModel
from .processing import TinyVLAProcessor

OBSERVATION_KEYS = ("pixel_values", "input_ids", "attention_mask", "state")


class TinyVLAForRL(TinyVLAModel, BasePolicy):
    """The policy that RLinf's rollout and actor workers hold.

    State-dict keys are those of :class:`TinyVLAModel` plus ``value_head.*``. The order of the bases matters: with
    BasePolicy, an ABC, first, FSDP2 cannot change the class of an instance ("object layout differs").

    Exploration is :mod:`isaaclab_rlinf.models.flow_rollout`'s.
    """

    # BasePolicy's dispatch to default_forward, not the supervised loss.
    forward = BasePolicy.forward

    def __init__(
        self,
        config: TinyVLAConfig,
        rl_head: RLHeadConfig | None = None,
        num_action_chunks: int | None = None,
        denoising_steps: int | None = None,
    ) -> None:
        """Build the policy with fresh weights.

        Args:
            config: Model configuration.
            rl_head: Exploration and critic settings.
            num_action_chunks: Number of leading actions that are executed; default the whole horizon.
            denoising_steps: Default ``config.num_denoising_steps``.
        """
        super().__init__(config)
        self.rl_head = rl_head or RLHeadConfig()
        self.num_action_chunks = num_action_chunks or config.action_horizon
        self.denoising_steps = denoising_steps or config.num_denoising_steps
        self.processor: TinyVLAProcessor | None = None
        self._global_step = 0
        if self.rl_head.add_value_head:
            self.value_head = ValueHead(
                2 * config.hidden_size, hidden_sizes=(256, 128), activation="relu", bias_last=True
            )
            self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """As the model's, and RLinf's own initialisation for the value head, unless it came from the checkpoint."""
        if isinstance(module, ValueHead):
            if not any(getattr(parameter, "_is_hf_initialized", False) for parameter in module.parameters()):
                module._init_weights("relu")
        else:
            super()._init_weights(module)

    @torch.no_grad()
    def predict_action_batch(
        self,
        env_obs: Mapping[str, Any],
        mode: Literal["train", "eval"] | None = None,
        compute_values: bool = True,
        do_sample: bool | None = None,
        **sampling_params: Any,
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Choose actions for a batch of observations.

        Args:
            env_obs: RLinf observation: images as in :func:`images_from_env`, ``states`` (B, D) and
                ``task_descriptions`` (B strings).
            mode: "train" explores, "eval" is deterministic; None decides by ``do_sample``.
            compute_values: Whether to return values.
            do_sample: See :func:`resolve_mode`.
            **sampling_params: RLinf's text-generation settings, without meaning for continuous actions.

        Returns:
            Actions, float32 (B, num_action_chunks, A) in environment units, and a dict with ``prev_logprobs``
            (B, num_action_chunks, A), ``prev_values`` (B, 1) and ``forward_inputs``, the batch-first tensors that
            :meth:`default_forward` takes. In eval nothing is random: ``prev_logprobs`` is None and
            ``forward_inputs`` empty. ``prev_values`` is None without a value head.

        Raises:
            TypeError: On an unknown keyword.
            ValueError: If the observation does not fit the checkpoint.
        """
        check_sampling_keys(sampling_params)
        if self.processor is None:
            raise RuntimeError("TinyVLAForRL has no processor; build it with models.tiny_vla.builder.build_policy")
        inputs = self._prepare(env_obs)
        context, mask = self.encode(**inputs)
        explore = resolve_mode(mode, do_sample) == "train"
        sample, record = self._denoise(context, mask, explore)
        actions = self.processor.unnormalize("action", sample[:, : self.num_action_chunks])
        values = self._values(context, mask) if compute_values and self.rl_head.add_value_head else None
        logprobs = record.pop("logprobs", None)
        return actions, {
            "prev_logprobs": logprobs,
            "prev_values": values,
            "forward_inputs": {**inputs, **record} if explore else {},
        }

    def default_forward(
        self,
        forward_inputs: Mapping[str, torch.Tensor],
        compute_logprobs: bool = True,
        compute_entropy: bool = False,
        compute_values: bool = True,
        **_: Any,
    ) -> dict[str, torch.Tensor | None]:
        """Log-probabilities, values and entropy of recorded decisions under the present weights.

        Args:
            forward_inputs: ``forward_inputs`` of :meth:`predict_action_batch`, any batch size.
            compute_logprobs: Whether to run the action head.
            compute_entropy: Whether to return the entropy. The noise of the flow SDE does not depend on the weights,
                so it is constant and an entropy bonus has no gradient.
            compute_values: Whether to return values.
            **_: What RLinf passes to language models (``use_cache``).

        Returns:
            ``logprobs`` and ``entropy`` float32 (B, num_action_chunks, A), ``values`` float32 (B, 1); None for what
            was not asked for.
        """
        inputs = {key: forward_inputs[key] for key in OBSERVATION_KEYS}
        context, mask = self.encode(**inputs)
        output: dict[str, torch.Tensor | None] = {"logprobs": None, "values": None, "entropy": None}
        if compute_logprobs or compute_entropy:
            record = {key: forward_inputs[key] for key in RECORD_KEYS}
            logprobs, entropy = self._sampler.replay(self._velocity(context, mask), record)
            if compute_logprobs:
                output["logprobs"] = logprobs[:, : self.num_action_chunks]
            if compute_entropy:
                output["entropy"] = entropy[:, : self.num_action_chunks]
        if compute_values and self.rl_head.add_value_head:
            output["values"] = self._values(context, mask)
        return output

    def set_global_step(self, global_step: int) -> None:
        """Take the number of training steps done; RLinf's rollout worker tells it, an annealed noise level needs it."""
        self._global_step = global_step

    def _prepare(self, env_obs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        device = self.action_head.position.device
        batch = self.processor(images_from_env(env_obs), env_obs["task_descriptions"], env_obs["states"])
        return {key: batch[key].to(device) for key in OBSERVATION_KEYS}

    @property
    def _sampler(self) -> FlowSampler:
        return FlowSampler(self.denoising_steps, self.rl_head, self._global_step)

    def _velocity(
        self, context: torch.Tensor, mask: torch.Tensor
    ) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        projected = self.action_head.project_context(context)
        return lambda sample, step: self.action_head(sample, step / self.denoising_steps, projected, mask)

    def _denoise(
        self, context: torch.Tensor, mask: torch.Tensor, explore: bool
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Integrate from noise to actions (B, T, A); log-probabilities are of the executed ones."""
        shape = (context.shape[0], self.config.action_horizon, self.config.action_dim)
        dtype = self.action_head.position.dtype
        sample, record = self._sampler.sample(self._velocity(context, mask), shape, context.device, dtype, explore)
        if record:
            record["logprobs"] = record["logprobs"][:, : self.num_action_chunks]
        return sample, record

    def _values(self, context: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Values, float32 (B, 1), from the summary token and the mean of the others."""
        if self.rl_head.detach_critic_input:
            context = context.detach()
        weight = mask[:, 1:, None].to(context.dtype)
        pooled = (context[:, 1:] * weight).sum(dim=1) / weight.sum(dim=1)
        return self.value_head(torch.cat([context[:, 0], pooled], dim=-1)).float()
