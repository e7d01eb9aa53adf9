# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Builder of the GR00T N1.7 policy for RLinf's ``get_model``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.gr00t.converters import block_of
from isaaclab_rlinf.models.lean_build import parameters_on_meta, read_weights, set_weights
from isaaclab_rlinf.models.seeding import seeded

from .implementation import choose
from .inspect import checkpoint_facts
from .rl_config import Gr00tHeadConfig

if TYPE_CHECKING:
    import torch

    from .modeling import Gr00tN1d7Model
    from .processing import Gr00tN1d7Processor
    from .rl_policy import Gr00tN1d7ForRL

# The value head of every rank and worker starts from the same weights: FSDP2 does not broadcast them.
_VALUE_HEAD_SEED = 20_260_101
TUNED = {
    "tune_llm": False,
    "tune_visual": False,
    "tune_projector": True,
    "tune_diffusion_model": True,
    "tune_vlln": True,
}
"""Which parts are trained unless ``actor.model`` says otherwise: the action head, as Isaac-GR00T fine-tunes."""


def build(cfg: Mapping[str, Any], torch_dtype: Any = None) -> Any:
    """Build the policy with the implementation that ``implementation`` asks for.

    Args:
        cfg: ``actor.model`` or ``rollout.model``.
        torch_dtype: Dtype of the weights; default float32.

    Raises:
        ValueError: If the implementation is unknown or its package is not installed, or as :func:`build_policy`.
    """
    if choose(cfg.get("implementation") or "auto") == "isaac_gr00t":
        from isaaclab_rlinf.models.gr00t.rlinf_models import build_rlinf_policy

        return build_rlinf_policy(cfg, torch_dtype, generation="n1d7")
    return build_policy(cfg, torch_dtype)


def build_policy(cfg: Mapping[str, Any], torch_dtype: Any = None) -> Gr00tN1d7ForRL:
    """Load a GR00T N1.7 checkpoint as an RL policy on lerobot's network.

    Args:
        cfg: ``actor.model`` or ``rollout.model``: ``model_path``, ``embodiment_tag``, ``action_dim``,
            ``num_action_chunks``; optional ``denoising_steps``, ``rl_head_config``, ``backbone_model_path``,
            ``isaaclab`` (the task YAML's block) and the keys of :data:`TUNED`.
        torch_dtype: Dtype of the weights; default float32.

    Returns:
        The policy, with its processor, in eval mode.

    Raises:
        ValueError: If files are missing or the config disagrees with the checkpoint.
        ImportError: If lerobot is absent.
    """
    import torch

    from .modeling import new_config
    from .processing import Gr00tN1d7Processor
    from .rl_policy import Gr00tN1d7ForRL

    path = Path(cfg["model_path"]).expanduser().resolve()
    tag = cfg.get("embodiment_tag")
    facts = checkpoint_facts(path, tag)
    _check_sizes(cfg, facts)
    steps = int(cfg.get("denoising_steps") or facts.num_denoising_steps)
    head = Gr00tHeadConfig.from_mapping(cfg.get("rl_head_config"), steps)
    processor = Gr00tN1d7Processor.from_directory(
        path, tag, block_of(cfg), cfg.get("backbone_model_path"), head.prompt_length
    )
    with seeded(_VALUE_HEAD_SEED), parameters_on_meta():
        config = new_config(processor.files.config)
        model = Gr00tN1d7ForRL(config, processor, head, int(cfg["num_action_chunks"]), steps)
    with seeded(_VALUE_HEAD_SEED):
        model.reset_value_head()
    load_weights(model, path, torch_dtype or torch.float32)
    set_trainable(model, cfg)
    return model.eval()


def set_trainable(model: Gr00tN1d7Model, cfg: Mapping[str, Any]) -> None:
    """Freeze and free parts of the network by the keys of :data:`TUNED`; the value head is always trained."""
    flags = {key: bool(default if cfg.get(key) is None else cfg.get(key)) for key, default in TUNED.items()}
    model.set_trainable(
        llm=flags["tune_llm"],
        visual=flags["tune_visual"],
        projector=flags["tune_projector"],
        diffusion=flags["tune_diffusion_model"],
        vlln=flags["tune_vlln"],
    )


def load_network(processor: Gr00tN1d7Processor) -> Gr00tN1d7Model:
    """Load the plain network of a processor's checkpoint, without an RL head, in float32.

    Args:
        processor: Its files say where the weights are.

    Raises:
        ValueError: As :func:`load_weights`.
    """
    import torch

    from .modeling import Gr00tN1d7Model, new_config

    with seeded(0), parameters_on_meta():  # nothing random remains
        model = Gr00tN1d7Model(new_config(processor.files.config), processor.backbone_dir, processor.prompts.patches)
    load_weights(model, processor.files.path, torch.float32)
    return model


def load_weights(model: Gr00tN1d7Model, path: Path, dtype: torch.dtype) -> None:
    """Load safetensors, one file or shards, all keys or none; only the value head may be absent.

    Args:
        model: The network; its parameters become ``dtype``, its buffers stay as they are.
        path: The checkpoint directory.
        dtype: Dtype of the weights.

    Raises:
        ValueError: If keys are missing, unexpected or of another shape; the message counts and names them.
    """
    from isaaclab_rlinf.models.weight_files import differences, read_shapes

    from .modeling import is_unused

    own = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    shapes = read_shapes(path)
    foreign = [key for key in shapes if key.startswith("action_head.value_head.")]
    found = {key: shape for key, shape in shapes.items() if key not in foreign and not is_unused(key)}
    expected = {key: shape for key, shape in own.items() if key in found or not key.startswith("value_head.")}
    if problems := differences(found, expected):
        raise ValueError(f"the weights in {path} do not fit the model that its config.json describes: {problems}")
    if foreign:
        print(
            f"[INFO] {len(foreign)} weights of RLinf's own value head in {path} are of another shape of critic; "
            "not loaded"
        )
    set_weights(model, ((key, value) for key, value in read_weights(path) if key in found), dtype)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)


def _check_sizes(cfg: Mapping[str, Any], facts: Any) -> None:
    if int(cfg["action_dim"]) != facts.action_dim:
        raise ValueError(
            f"action_dim is {cfg['action_dim']} in the config, embodiment {facts.embodiment_tag!r} of {facts.path} has "
            f"{facts.action_dim}: set actor.model.action_dim to {facts.action_dim} (padding is added by "
            "action_mapping, after the model)"
        )
    if not 1 <= int(cfg["num_action_chunks"]) <= facts.action_horizon:
        raise ValueError(
            f"num_action_chunks is {cfg['num_action_chunks']} in the config, embodiment {facts.embodiment_tag!r} of "
            f"{facts.path} predicts {facts.action_horizon} actions per call: set actor.model.num_action_chunks to "
            f"1..{facts.action_horizon}"
        )
