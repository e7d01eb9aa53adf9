# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's GR00T N1.5 action model with its sharp edges covered. Importing this imports ``gr00t``."""

from __future__ import annotations

from typing import Any

import torch
from rlinf.models.embodiment.gr00t.gr00t_n1d5.gr00t_action_model import GR00T_N1_5_ForRLActionPrediction
from torch.overrides import TorchFunctionMode

from isaaclab_rlinf.mapping.errors import MappingError


class _NoNoise(TorchFunctionMode):
    """While active, RLinf's two sources of noise, ``torch.randn`` and ``torch.normal``, give their mean, zero."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.randn, torch.normal):
            return torch.zeros(kwargs["size"], dtype=kwargs["dtype"], device=kwargs["device"])
        return func(*args, **kwargs)


class TokenTable(torch.nn.Module):
    """Learned tokens of which only ``weight`` is read, under the same name as in an ``nn.Embedding``.

    RLinf's FSDP2 shards every ``nn.Embedding`` on its own, and then only a call of it would see the whole weight.
    """

    def __init__(self, embedding: torch.nn.Embedding) -> None:
        """Take over an embedding's weight."""
        super().__init__()
        self.weight = embedding.weight


def _as_its_weights(module: torch.nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cast a module's inputs to the dtype of its weights.

    Isaac-GR00T casts the state to the dtype of a weight of the action head, which FSDP2 has in the optimizer's dtype at
    that moment; and it keeps the state in a container into which FSDP's own cast does not look.
    """
    if (weight := next(module.parameters(), None)) is None:  # FSDP1 has only views of them
        return inputs
    return tuple(
        value.to(weight.dtype) if torch.is_tensor(value) and value.is_floating_point() else value for value in inputs
    )


class Gr00tN1d5Policy(GR00T_N1_5_ForRLActionPrediction):
    """RLinf's action model.

    Sampling, log-probabilities and values are RLinf's; what is added makes mistakes loud, evaluation repeatable and
    FSDP2 possible, and lets RLinf find the value head. No parameter or buffer is added or renamed: state dicts are
    interchangeable with RLinf's class.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Build RLinf's model; the arguments are those of its class."""
        super().__init__(*args, **kwargs)
        self.action_head.future_tokens = TokenTable(self.action_head.future_tokens)
        self.action_head.state_encoder.register_forward_pre_hook(_as_its_weights)

    @property
    def value_head(self) -> Any:
        """The value head, which lies in the action head; RLinf bootstraps time-outs only if it is found here.

        Raises:
            AttributeError: If there is none, so that ``hasattr`` tells.
        """
        return self.action_head.value_head

    def eval(self) -> Gr00tN1d5Policy:
        """Switch model and transforms to evaluation; returns self, as a module does."""
        super().eval()
        return self

    def predict_action_batch(self, env_obs: dict[str, Any], **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Act on a batch of observations; see RLinf's class.

        In eval mode the flow starts from zero, the mean of the noise, so that an observation has one action; RLinf's
        class draws the start anew in every call.

        Args:
            env_obs: RLinf's observation, left as it is (RLinf's class rounds ``states`` in place).
            kwargs: ``mode``: ``"train"`` or ``"eval"``.

        Raises:
            MappingError: If there are no states, or an image or state is not of the checkpoint's size.
            ValueError: If an instruction does not fit into ``padding_value`` tokens.
        """
        if env_obs.get("states") is None:
            raise MappingError("the observation has no states; RLinf's GR00T N1.5 model needs them (YAML key: states).")
        if kwargs.get("mode") != "eval":
            return super().predict_action_batch(dict(env_obs), **kwargs)
        with _NoNoise():
            return super().predict_action_batch(dict(env_obs), **kwargs)

    def apply_transforms(self, obs: dict[str, Any]) -> dict[str, Any]:
        """Check an observation against the checkpoint's metadata, transform it, and check the prompt's length."""
        self._check_shapes(obs)
        transformed = super().apply_transforms(obs)
        length = transformed["eagle_input_ids"].shape[-1]
        if length > self.padding_value:
            # RLinf would cut the end off, which is the instruction
            raise ValueError(
                f"images and instruction take {length} tokens, rl_head_config.padding_value is {self.padding_value}: "
                f"set it to at least {length}"
            )
        return transformed

    def _check_shapes(self, obs: dict[str, Any]) -> None:
        problems = []
        for key, meta in self.metadata.modalities.video.items():
            if (array := obs.get(f"video.{key}")) is not None:
                size, expected = (array.shape[-2], array.shape[-3]), tuple(meta.resolution)
                if size != expected:
                    problems.append(
                        f"video.{key} is {size[0]}x{size[1]} pixels, trained on {expected[0]}x{expected[1]}"
                    )
        for key, meta in self.metadata.modalities.state.items():
            if (array := obs.get(f"state.{key}")) is not None and array.shape[-1] != meta.shape[0]:
                problems.append(f"state.{key} is {array.shape[-1]} wide, trained on {meta.shape[0]}")
        if problems:
            raise MappingError(
                f"the task does not fit the checkpoint {self.model_path}: " + "; ".join(problems) + ". Change the "
                "camera's size or gr00t_mapping."
            )
