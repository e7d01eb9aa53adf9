# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 as an RLinf policy: exploration by the flow SDE, log-probabilities and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from rlinf.models.embodiment.base_policy import BasePolicy
from rlinf.models.embodiment.modules.value_head import ValueHead

from isaaclab_rlinf.models.flow_rollout import RECORD_KEYS, FlowSampler
from isaaclab_rlinf.models.policy_inputs import check_sampling_keys, resolve_mode

from .modeling import BLOCKS, Context, Gr00tN1d7Model
from .processing import OBSERVATION_KEYS, Gr00tN1d7Processor, write_processor_files
from .rl_config import Gr00tHeadConfig


class Gr00tN1d7ForRL(Gr00tN1d7Model, BasePolicy):
    """The policy that RLinf's rollout and actor workers hold.

    State-dict keys are those of a released checkpoint plus ``value_head.*``. The order of the bases matters: with
    BasePolicy, an ABC, first, FSDP2 cannot change the class of an instance ("object layout differs").

    Exploration is :mod:`isaaclab_rlinf.models.flow_rollout`'s. No noise is added to actions afterwards.
    """

    # BasePolicy's dispatch to default_forward, not lerobot's supervised forward.
    forward = BasePolicy.forward

    def __init__(
        self,
        config: Any,
        processor: Gr00tN1d7Processor,
        head: Gr00tHeadConfig,
        num_action_chunks: int,
        denoising_steps: int,
    ) -> None:
        """Build the policy with fresh weights, dropout off.

        Args:
            config: ``GR00TN17Config``.
            processor: The embodiment's processor.
            head: Exploration and critic settings.
            num_action_chunks: Number of leading actions that are executed.
            denoising_steps: Number of integration steps.
        """
        super().__init__(config, processor.backbone_dir, processor.prompts.patches)
        self.processor = processor
        self.rl_head = head.flow
        self.num_action_chunks = num_action_chunks
        self.denoising_steps = denoising_steps
        self._global_step = 0
        self.reset_value_head()
        self.disable_dropout()

    def reset_value_head(self) -> None:
        """Give the policy a fresh value head, if it is to have one; the only part that no checkpoint need hold."""
        if not self.rl_head.add_value_head:
            return
        width = self.config.backbone_embedding_dim + self.config.input_embedding_dim
        sizes = (1024, 512, 256) if width >= 512 else (256, 128)
        self.value_head = ValueHead(width, hidden_sizes=sizes, activation="relu", bias_last=True)
        self._no_split_modules = [*BLOCKS, "ValueHead"]

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
            env_obs: RLinf's observation, see :class:`~.processing.Gr00tN1d7Processor`.
            mode: "train" explores, "eval" is deterministic; None decides by ``do_sample``.
            compute_values: Whether to return values.
            do_sample: See :func:`~isaaclab_rlinf.models.policy_inputs.resolve_mode`.
            **sampling_params: RLinf's text-generation settings, without meaning for continuous actions.

        Returns:
            Actions, float32 (B, num_action_chunks, A) in environment units, relative ones decoded against the given
            state; and a dict with ``prev_logprobs`` (B, num_action_chunks, A), ``prev_values`` (B, 1) and
            ``forward_inputs``, the batch-first tensors that :meth:`default_forward` takes. In eval nothing is random:
            ``prev_logprobs`` is None and ``forward_inputs`` empty. ``prev_values`` is None without a value head.

        Raises:
            TypeError: On an unknown keyword.
            ValueError: If the observation does not fit the checkpoint.
        """
        check_sampling_keys(sampling_params)
        inputs, raw_state = self.processor(env_obs)
        inputs = {key: value.to(self.input_device) for key, value in inputs.items()}
        context = self.encode(**inputs)
        explore = resolve_mode(mode, do_sample) == "train"
        shape = (inputs["state"].shape[0], self.config.action_horizon, self.config.max_action_dim)
        sample, record = self._sampler.sample(
            self._velocity(context), shape, context.features.device, self.weight_dtype, explore
        )
        executed = sample[:, : self.num_action_chunks]
        actions = self.processor.decode_actions(executed, {k: v.to(sample.device) for k, v in raw_state.items()})
        logprobs = record.pop("logprobs", None)
        return actions, {
            "prev_logprobs": None if logprobs is None else self._executed(logprobs),
            "prev_values": self._values(context) if compute_values and self.rl_head.add_value_head else None,
            "forward_inputs": {**inputs, **record} if explore else {},
        }

    def default_forward(
        self,
        forward_inputs: Mapping[str, torch.Tensor],
        compute_logprobs: bool = True,
        compute_entropy: bool = False,
        compute_values: bool = True,
        prev_logprobs: torch.Tensor | None = None,
        **_: Any,
    ) -> dict[str, torch.Tensor | None]:
        """Log-probabilities, values and entropy of recorded decisions under the present weights.

        Args:
            forward_inputs: ``forward_inputs`` of :meth:`predict_action_batch`, any batch size.
            compute_logprobs: Whether to run the action head.
            compute_entropy: Whether to return the (constant) entropy.
            compute_values: Whether to return values.
            prev_logprobs: The rollout's; RLinf's actor passes them to GR00T models and reads them back.
            **_: What RLinf passes to language models (``use_cache``).

        Returns:
            ``logprobs`` and ``entropy`` float32 (B, num_action_chunks, A), ``values`` float32 (B, 1), None for what
            was not asked for; and ``prev_logprobs`` as given.
        """
        context = self.encode(**{key: forward_inputs[key] for key in OBSERVATION_KEYS})
        output: dict[str, torch.Tensor | None] = {
            "logprobs": None,
            "values": None,
            "entropy": None,
            "prev_logprobs": prev_logprobs,
        }
        if compute_logprobs or compute_entropy:
            record = {key: forward_inputs[key] for key in RECORD_KEYS}
            logprobs, entropy = self._sampler.replay(self._velocity(context), record)
            if compute_logprobs:
                output["logprobs"] = self._executed(logprobs)
            if compute_entropy:
                output["entropy"] = self._executed(entropy)
        if compute_values and self.rl_head.add_value_head:
            output["values"] = self._values(context)
        return output

    def set_global_step(self, global_step: int) -> None:
        """Take the number of training steps done; RLinf's rollout worker tells it, an annealed noise level needs it."""
        self._global_step = global_step

    def save_pretrained(self, save_directory: str | Path, **kwargs: Any) -> None:
        """Write a checkpoint directory that this package, and Isaac-GR00T apart from the value head, can load.

        Args:
            save_directory: Directory to create; the processor files of the loaded checkpoint are copied into it, and
                the backbone's configuration and tokenizer to ``backbone/``.
            **kwargs: For transformers' ``save_pretrained``.
        """
        super().save_pretrained(save_directory, **kwargs)
        write_processor_files(self.processor, Path(save_directory))

    @property
    def _sampler(self) -> FlowSampler:
        return FlowSampler(self.denoising_steps, self.rl_head, self._global_step)

    def _velocity(self, context: Context) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        """Velocity by step index; the flow time is discretised as NVIDIA's integration loop does it."""
        buckets = self.config.num_timestep_buckets
        table = torch.tensor(
            [int(step / self.denoising_steps * buckets) for step in range(self.denoising_steps)],
            device=context.features.device,
        )
        return lambda sample, step: self.velocity(sample, table[step].expand(sample.shape[0]), context)

    def _executed(self, values: torch.Tensor) -> torch.Tensor:
        """The executed actions' meaningful dimensions (B, num_action_chunks, A)."""
        return values[:, : self.num_action_chunks, : self.processor.facts.action_dim]

    def _values(self, context: Context) -> torch.Tensor:
        """Values, float32 (B, 1), from the mean of the vision-language features and the state features."""
        weight = context.mask[..., None].to(context.features.dtype)
        pooled = (context.features * weight).sum(dim=1) / weight.sum(dim=1)
        joined = torch.cat([pooled, context.state[:, 0]], dim=-1)
        return self.value_head(joined.detach() if self.rl_head.detach_critic_input else joined).float()
