# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""tiny_vla as an RLinf policy: exploration by the flow SDE, log-probabilities and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from rlinf.models.embodiment.base_policy import BasePolicy
from rlinf.models.embodiment.modules.value_head import ValueHead
from torch import nn

from isaaclab_rlinf.models.rl_head import RLHeadConfig

from .configuration import TinyVLAConfig
from .flow import flow_step, gaussian_entropy, gaussian_log_prob
from .modeling import TinyVLAModel
from .processing import TinyVLAProcessor

OBSERVATION_KEYS = ("pixel_values", "input_ids", "attention_mask", "state")
# RLinf passes its text-generation settings to every model type; of these only `do_sample` means something here.
SAMPLING_KEYS = frozenset({"do_sample", "temperature", "top_k", "top_p", "max_new_tokens"})


def images_from_env(env_obs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Name the images of an RLinf observation.

    Args:
        env_obs: ``main_images`` and ``wrist_images`` (B, H, W, 3) and ``extra_view_images`` (B, N, H, W, 3), each
            possibly absent or None.

    Returns:
        Images (B, H, W, 3) by view name; extra views are ``extra_view_images_0``, ``extra_view_images_1``, ...
    """
    images = {name: env_obs[name] for name in ("main_images", "wrist_images") if env_obs.get(name) is not None}
    extra = env_obs.get("extra_view_images")
    if extra is not None:
        images.update({f"extra_view_images_{index}": extra[:, index] for index in range(extra.shape[1])})
    return images


def resolve_mode(mode: str | None, do_sample: bool | None) -> Literal["train", "eval"]:
    """Decide between exploring and acting: explicit ``mode``, else ``do_sample`` False means eval, else train.

    Raises:
        ValueError: If ``mode`` is neither "train" nor "eval".
    """
    if mode not in (None, "train", "eval"):
        raise ValueError(f"mode is {mode!r}; allowed: 'train', 'eval'")
    return mode or ("eval" if do_sample is False else "train")


class TinyVLAForRL(TinyVLAModel, BasePolicy):
    """The policy that RLinf's rollout and actor workers hold.

    State-dict keys are those of :class:`TinyVLAModel` plus ``value_head.*``. The order of the bases matters: with
    BasePolicy, an ABC, first, FSDP2 cannot change the class of an instance ("object layout differs").

    In a rollout one denoising step per sample, drawn at random, is stochastic; the others are Euler steps. The
    log-probability is that step's Normal, per action element. Samples before and after the step are kept exactly as
    they are representable in the weights' dtype, so the trainer's inputs equal the rollout's, bit for bit.
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
        unknown = set(sampling_params) - SAMPLING_KEYS
        if unknown:
            raise TypeError(f"predict_action_batch got unknown arguments {sorted(unknown)}")
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
            step = forward_inputs["denoise_inds"]
            before, after = forward_inputs["sample_before"].float(), forward_inputs["sample_after"].float()
            velocity = self.action_head(
                before, step / self.denoising_steps, self.action_head.project_context(context), mask
            )
            mean, std = flow_step(before, velocity, step, self.denoising_steps, self.rl_head.noise_level)
            executed = slice(None, self.num_action_chunks)
            if compute_logprobs:
                output["logprobs"] = gaussian_log_prob(after, mean, std)[:, executed]
            if compute_entropy:
                output["entropy"] = gaussian_entropy(std).expand_as(after)[:, executed]
        if compute_values and self.rl_head.add_value_head:
            output["values"] = self._values(context, mask)
        return output

    def _prepare(self, env_obs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        device = self.action_head.position.device
        batch = self.processor(images_from_env(env_obs), env_obs["task_descriptions"], env_obs["states"])
        return {key: batch[key].to(device) for key in OBSERVATION_KEYS}

    def _denoise(
        self, context: torch.Tensor, mask: torch.Tensor, explore: bool
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Integrate from noise (zeros in eval) to actions (B, T, A), recording the stochastic step."""
        steps, device, batch = self.denoising_steps, context.device, context.shape[0]
        shape = (batch, self.config.action_horizon, self.config.action_dim)
        sample = self._round(torch.randn(shape, device=device)) if explore else torch.zeros(shape, device=device)
        chosen = self._draw_steps(batch, device) if explore else torch.full((batch,), -1, device=device)
        before, after = torch.zeros_like(sample), torch.zeros_like(sample)
        logprobs = torch.zeros_like(sample)
        projected = self.action_head.project_context(context)
        for index in range(steps):
            step = torch.full((1,), index, device=device)
            velocity = self.action_head(sample, step / steps, projected, mask)
            active = (chosen == index)[:, None, None]
            mean, std = flow_step(sample, velocity, step, steps, self.rl_head.noise_level * active.float())
            following = mean + std * torch.randn_like(mean) if explore else mean
            following = self._round(following)
            if explore:
                safe = torch.where(active, std, torch.ones_like(std))
                before = torch.where(active, sample, before)
                after = torch.where(active, following, after)
                logprobs = torch.where(active, gaussian_log_prob(following, mean, safe), logprobs)
            sample = following
        if not explore:
            return sample, {}
        logprobs = logprobs[:, : self.num_action_chunks]
        return sample, {"sample_before": before, "sample_after": after, "denoise_inds": chosen, "logprobs": logprobs}

    def _draw_steps(self, batch: int, device: torch.device) -> torch.Tensor:
        candidates = self.rl_head.stochastic_steps or tuple(range(self.denoising_steps))
        return torch.tensor(candidates, device=device)[torch.randint(len(candidates), (batch,), device=device)]

    def _round(self, sample: torch.Tensor) -> torch.Tensor:
        """Round float32 to what the weights' dtype can represent (mixed-precision FSDP casts inputs to it)."""
        return sample.to(self.action_head.position.dtype).float()

    def _values(self, context: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Values, float32 (B, 1), from the summary token and the mean of the others."""
        if self.rl_head.detach_critic_input:
            context = context.detach()
        weight = mask[:, 1:, None].to(context.dtype)
        pooled = (context[:, 1:] * weight).sum(dim=1) / weight.sum(dim=1)
        return self.value_head(torch.cat([context[:, 0], pooled], dim=-1)).float()
