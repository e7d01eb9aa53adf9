# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Builder of ``model_type: gr00t`` (GR00T N1.5) for RLinf's ``get_model``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.gr00t.checkpoint import has_weights, read_facts
from isaaclab_rlinf.models.gr00t.packages import missing_package
from isaaclab_rlinf.models.gr00t.tags import projector_id
from isaaclab_rlinf.models.seeding import seeded

if TYPE_CHECKING:
    from omegaconf import DictConfig

# The value head of every rank and worker starts from the same weights: FSDP2 does not broadcast them.
_VALUE_HEAD_SEED = 20_260_101


def build_policy(cfg: DictConfig, torch_dtype: Any = None) -> Any:
    """Load a GR00T N1.5 checkpoint as an RL policy, for any embodiment.

    Args:
        cfg: ``actor.model`` or ``rollout.model``: ``model_path``, ``embodiment_tag``, ``denoising_steps``,
            ``num_action_chunks``, ``action_dim``, ``rl_head_config``, and the ``isaaclab`` block put there by
            :func:`isaaclab_rlinf.config.gr00t_block.attach_blocks`.
        torch_dtype: Dtype of the weights; default bfloat16.

    Returns:
        A :class:`.n1d5_policy.Gr00tN1d5Policy` in eval mode.

    Raises:
        ImportError: If ``gr00t`` is not installed or is of another generation.
        ValueError: If tag, projector, data configuration, converters and checkpoint do not fit together.
    """
    import torch

    from isaaclab_rlinf.compat.rlinf_gr00t import RLINF_DATA_CONFIGS, disable_dropout, use_embodiment

    from .converters import block_of, register_converters
    from .data_config import load_data_config

    if reason := missing_package("gr00t"):
        raise ImportError(f"model_type gr00t: {reason}")
    block, tag = block_of(cfg), str(cfg.embodiment_tag)
    # absolute: Isaac-GR00T takes "a/b" for a repository on the Hugging Face hub and asks there
    path = Path(cfg.model_path).expanduser().resolve()
    facts = read_facts(path, tag)
    _check_sizes(cfg, facts)
    index = _projector(tag, block.embodiment_tag_id if block else None, facts.max_embodiments)
    converter = register_converters(cfg, "n1d5")
    use_embodiment(tag, index)
    reference = (block.data_config_class if block else None) or RLINF_DATA_CONFIGS.get(tag)
    if reference is None:
        raise ValueError(f"data_config_class is missing: RLinf has none for embodiment_tag {tag!r}")
    data_config = load_data_config(reference)
    from .n1d5_policy import Gr00tN1d5Policy

    dtype = torch_dtype or torch.bfloat16
    model = Gr00tN1d5Policy.from_pretrained(
        str(path),
        torch_dtype=dtype,
        embodiment_tag=tag,
        modality_config=data_config.modality_config(),
        modality_transform=data_config.transform(),
        denoising_steps=cfg.denoising_steps,
        output_action_chunks=cfg.num_action_chunks,
        obs_converter_type=converter,
        tune_visual=False,
        tune_llm=False,
        rl_head_config=cfg.rl_head_config,
    )
    model.to(dtype)
    if cfg.rl_head_config.add_value_head and not has_weights(path, "action_head.value_head."):
        # loading leaves weights that the files lack uninitialised
        with seeded(_VALUE_HEAD_SEED):
            model.value_head._init_weights()
    if cfg.rl_head_config.disable_dropout:
        disable_dropout(model)
    return model.eval()


def _projector(tag: str, asked: int | None, limit: int) -> int:
    try:
        return projector_id(tag, asked, limit)
    except ValueError as error:
        raise ValueError(f"embodiment_tag_id: {error}") from None


def _check_sizes(cfg: DictConfig, facts: Any) -> None:
    width, chunk = cfg.get("action_dim", None), int(cfg.num_action_chunks)
    if width is not None and int(width) != facts.action_dim:
        raise ValueError(
            f"action_dim is {width}, the checkpoint {facts.path} acts in {facts.action_dim} dims for {facts.tag!r}"
        )
    if not 1 <= chunk <= facts.action_horizon:
        raise ValueError(f"num_action_chunks is {chunk}, the checkpoint predicts {facts.action_horizon} actions")
