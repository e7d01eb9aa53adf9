# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check GR00T N1.5: YAML x data configuration x checkpoint files, without importing ``gr00t``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isaaclab_rlinf.compat.rlinf_gr00t import RLINF_DATA_CONFIGS
from isaaclab_rlinf.compat.rlinf_names import STOCK_GR00T_CONVERTERS
from isaaclab_rlinf.config.checks_actions import check_action_mapping
from isaaclab_rlinf.config.checks_sizes import check_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import did_you_mean, listing
from isaaclab_rlinf.config.schema import IsaacLabBlock
from isaaclab_rlinf.mapping.gr00t import language_problem
from isaaclab_rlinf.models.gr00t.checkpoint import N1d5Facts, read_facts
from isaaclab_rlinf.models.gr00t.data_config import declared, locate
from isaaclab_rlinf.models.gr00t.tags import MAX_EMBODIMENTS, known_ids, projector_id

_TOKENS_PER_VIEW = 256
"""Image tokens of one 224x224 view."""
HEAD_KEYS = {
    "joint_logprob": "false",
    "noise_method": "flow_sde",
    "ignore_last": "false",
    "safe_get_logprob": "false",
    "noise_anneal": "false",
    "noise_level": "0.3",
    "add_value_head": "true",
    "disable_dropout": "true",
    "use_vlm_value": "false",
    "value_vlm_mode": "mean_token",
    "padding_value": "570",
}
"""What RLinf's N1.5 model reads without a default, with a usual value."""
_HEAD_CHOICES = {
    "noise_method": ("flow_sde", "flow_cps", "reinflow"),
    "value_vlm_mode": ("mean_token", "last_token", "first_token"),
}
_HEAD_MUST = {
    "joint_logprob": (False, "RLinf's actor reads a setting for it that the model does not have"),
    "safe_get_logprob": (False, "torch refuses the zero deviation of every other denoising step"),
    "noise_anneal": (False, "RLinf's model reads a step counter for it that is never set"),
    "add_value_head": (True, "RLinf's model computes values in every call, whatever the algorithm"),
}


def check_n1d5(ctx: Context, section: str, directory: Path | None) -> None:
    """Check everything about a GR00T N1.5 model that its files tell.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
        section: Key path of the model that acts.
        directory: The checkpoint, None when it cannot be read.
    """
    _check_head(ctx, f"{section}.rl_head_config")
    tag = ctx.get(f"{section}.embodiment_tag", None)
    facts = _facts(ctx, section, directory, tag) if isinstance(tag, str) else None
    if facts is not None:
        of_model = f"the checkpoint's {facts.tag!r}"
        check_sizes(ctx, section, of_model, facts.action_dim, facts.action_horizon, facts.action)
        _check_prompt_length(ctx, section, facts)
    if ctx.get(f"{section}.obs_converter_type", None) not in STOCK_GR00T_CONVERTERS:  # which emit what they choose
        check_action_mapping(ctx, section, facts and facts.action, named=True)
    for mode, block in ctx.blocks.items():
        where = f"env.{mode}.isaaclab"
        if isinstance(tag, str):
            _check_projector(ctx, where, tag, block, facts)
        config = _data_config(ctx, where, tag, block)
        if facts is not None:
            _check_data_config(ctx, where, config, facts)
        if not block.states:
            ctx.issue(f"{where}.states", "missing; RLinf's GR00T N1.5 model cannot do without states", "a list")
        if ctx.get(f"{section}.obs_converter_type", None) not in STOCK_GR00T_CONVERTERS:
            _check_mapping(ctx, section, where, block, config, facts)
    if ctx.get(f"{section}.rl_model_path", None):
        fix = "use --checkpoint, or runner.ckpt_path"
        ctx.issue(f"{section}.rl_model_path", "set, but it has no effect", "no such key", fix)


def _facts(ctx: Context, section: str, directory: Path | None, tag: str) -> N1d5Facts | None:
    if directory is None:
        return None
    try:
        return read_facts(directory, tag)
    except ValueError as error:
        key = "embodiment_tag" if "has no embodiment" in str(error) else "model_path"
        ctx.issue(f"{section}.{key}", str(error), "a GR00T N1.5 checkpoint directory, and a tag that it has")
        return None


def _check_projector(ctx: Context, where: str, tag: str, block: IsaacLabBlock, facts: N1d5Facts | None) -> None:
    if block.embodiment_tag is not None and block.embodiment_tag != tag:
        return  # reported already
    limit = facts.max_embodiments if facts else MAX_EMBODIMENTS
    try:
        projector_id(tag, block.embodiment_tag_id, limit)
    except ValueError as error:
        known = sorted(set(known_ids(tag).values()))
        allowed = " or ".join(map(str, known)) if known else f"0 to {limit - 1}"
        ctx.issue(f"{where}.embodiment_tag_id", str(error), allowed)


def _data_config(ctx: Context, where: str, tag: Any, block: IsaacLabBlock) -> dict[str, Any]:
    """Return what the block's data configuration declares; empty when it cannot be read."""
    key = f"{where}.data_config_class"
    if block.data_config_class is None:
        if tag not in RLINF_DATA_CONFIGS:
            found = f"missing; RLinf has a data configuration only for: {listing(sorted(RLINF_DATA_CONFIGS))}"
            ctx.issue(key, found, "file.py:Class beside the YAML, or module:Class")
        return {}
    try:
        return declared(locate(block.data_config_class, ctx.source.parent)) or {}
    except ValueError as error:
        ctx.issue(key, str(error), "file.py:Class beside the YAML, or module:Class")
        return {}


def _check_data_config(ctx: Context, where: str, config: dict[str, Any], facts: N1d5Facts) -> None:
    """RLinf counts views and action dims by the checkpoint's metadata, the transforms by the data configuration."""
    tables = {
        "video_keys": ("video", facts.video, True),
        "state_keys": ("state", facts.state, False),
        "action_keys": ("action", facts.action, True),
    }
    for name, (modality, of_checkpoint, all_of_them) in tables.items():
        if name not in config:
            continue
        known = {f"{modality}.{key}" for key in of_checkpoint}
        unknown, unused = set(config[name]) - known, known - set(config[name]) if all_of_them else set()
        if unknown or unused:
            found = f"{name} {listing(config[name])} do not fit the checkpoint's {listing(sorted(known))}"
            ctx.issue(
                f"{where}.data_config_class", found, "the same keys", did_you_mean(next(iter(unknown), ""), known)
            )


def _check_prompt_length(ctx: Context, section: str, facts: N1d5Facts) -> None:
    padding = ctx.get(f"{section}.rl_head_config.padding_value", None)
    tokens = _TOKENS_PER_VIEW * len(facts.video)
    if isinstance(padding, int) and not isinstance(padding, bool) and padding <= tokens:
        found = f"{padding}, but {len(facts.video)} views alone take {tokens} tokens; RLinf would cut the instruction"
        ctx.issue(f"{section}.rl_head_config.padding_value", found, f"more than {tokens}, e.g. {tokens + 80}")


def _check_mapping(
    ctx: Context,
    section: str,
    where: str,
    block: IsaacLabBlock,
    config: dict[str, Any],
    facts: N1d5Facts | None,
) -> None:
    mapping, key = block.gr00t_mapping, f"{where}.gr00t_mapping"
    if problem := language_problem(mapping.language):
        ctx.issue(f"{key}.language", problem, "annotation.human.action.task_description, for example")
    video = [name for name in (mapping.main_images, mapping.wrist_images, *mapping.extra_view_images) if name]
    state = {part.gr00t_key: part.slice[1] - part.slice[0] for part in mapping.state}
    if facts is not None:
        _check_keys(ctx, f"{key}.video", video, config.get("video_keys") or [f"video.{name}" for name in facts.video])
        for name, width in state.items():
            expected = facts.state.get(name.removeprefix("state."))
            if expected is not None and expected != width:
                ctx.issue(f"{key}.state", f"{name} has {width} columns, the checkpoint {expected}", str(expected))
        if sum(state.values()) > facts.max_state_dim:
            found = f"{sum(state.values())} columns, but the model takes {facts.max_state_dim} and would drop the rest"
            ctx.issue(f"{key}.state", found, f"at most {facts.max_state_dim}")
    elif config.get("video_keys"):
        _check_keys(ctx, f"{key}.video", video, config["video_keys"])
    if config.get("state_keys"):
        _check_keys(ctx, f"{key}.state", list(state), config["state_keys"])
    elif facts is not None and not set(state) <= {f"state.{name}" for name in facts.state}:
        _check_keys(ctx, f"{key}.state", list(state), [f"state.{name}" for name in facts.state])


def _check_keys(ctx: Context, where: str, mapped: list[str], needed: Iterable[str]) -> None:
    """Views and states that a block does not map at all are reported with their own keys."""
    missing, unknown = sorted(set(needed) - set(mapped)), sorted(set(mapped) - set(needed))
    if mapped and (missing or unknown):
        parts = [f"lacks {listing(missing)}"] if missing else []
        parts += [f"has {listing(unknown)}, which the model does not read"] if unknown else []
        fix = did_you_mean(unknown[0], missing) if unknown and missing else ""
        ctx.issue(where, "; ".join(parts), listing(needed), fix)


def _check_head(ctx: Context, where: str) -> None:
    head = ctx.get(where, None)
    if not isinstance(head, dict):
        ctx.issue(where, "missing; RLinf's GR00T N1.5 model cannot do without it", f"a mapping of {listing(HEAD_KEYS)}")
        return
    for key, usual in HEAD_KEYS.items():
        if key not in head:
            ctx.issue(f"{where}.{key}", "missing; RLinf's GR00T N1.5 model has no default for it", f"usually {usual}")
    for key, (value, reason) in _HEAD_MUST.items():
        if isinstance(head.get(key), bool) and head[key] is not value:
            ctx.issue(f"{where}.{key}", f"{str(not value).lower()}: {reason}", str(value).lower())
    for key, choices in _HEAD_CHOICES.items():
        if isinstance(head.get(key), str) and head[key] not in choices:
            ctx.issue(f"{where}.{key}", repr(head[key]), listing(choices), did_you_mean(head[key], choices))
    if head.get("disable_dropout") is False:
        ctx.notices.append(f"{where}.disable_dropout: false; PPO's ratio will not be 1 before the first update")
