# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check GR00T N1.7: YAML x checkpoint files x what is installed, without importing torch."""

from __future__ import annotations

import re
from pathlib import Path

from isaaclab_rlinf.compat.rlinf_names import STOCK_GR00T_CONVERTERS
from isaaclab_rlinf.config.checks_actions import check_action_mapping
from isaaclab_rlinf.config.checks_sizes import check_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import listing
from isaaclab_rlinf.config.schema import IMAGE_KEYS, IsaacLabBlock
from isaaclab_rlinf.models.gr00t_n1d7.backbone import backbone_directory
from isaaclab_rlinf.models.gr00t_n1d7.files import read_files
from isaaclab_rlinf.models.gr00t_n1d7.image_tokens import image_tokens
from isaaclab_rlinf.models.gr00t_n1d7.implementation import IMPLEMENTATIONS, choose
from isaaclab_rlinf.models.gr00t_n1d7.inspect import Gr00tN1d7Facts, checkpoint_facts
from isaaclab_rlinf.models.gr00t_n1d7.rl_config import Gr00tHeadConfig
from isaaclab_rlinf.models.gr00t_n1d7.views import mapping_problems


def check_n1d7(ctx: Context, section: str, directory: Path | None) -> None:
    """Check everything about a GR00T N1.7 model that its files tell.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
        section: Key path of the model that acts.
        directory: The checkpoint, None when it cannot be read.
    """
    chosen = _implementation(ctx, section)
    facts = _facts(ctx, section, directory)
    if facts is not None:
        of_model = f"embodiment {facts.embodiment_tag!r} of the checkpoint"
        parts = {part.key: part.width for part in facts.action}
        check_sizes(ctx, section, of_model, facts.action_dim, facts.action_horizon, parts)
    if ctx.get(f"{section}.obs_converter_type", None) not in STOCK_GR00T_CONVERTERS:  # which emit what they choose
        check_action_mapping(ctx, section, facts and parts, named=True)
    for mode, block in ctx.blocks.items():
        if facts is not None and ctx.get(f"{section}.obs_converter_type", None) not in STOCK_GR00T_CONVERTERS:
            _check_block(ctx, f"env.{mode}.isaaclab", block, facts, chosen)
    if chosen == "lerobot":
        _check_lerobot(ctx, section, directory, facts)


def _implementation(ctx: Context, section: str) -> str | None:
    key = f"{section}.implementation"
    asked = ctx.get(key, None) or "auto"
    if asked not in IMPLEMENTATIONS:
        return None  # reported with the other keys
    try:
        chosen = choose(asked)
    except ValueError as error:
        ctx.issue(key, str(error), "auto or lerobot")
        return None
    if asked == "auto":
        reason = "installed" if chosen == "isaac_gr00t" else "not installed"
        ctx.notices.append(f"{key}: auto takes {chosen}: NVIDIA's gr00t package of generation N1.7 is {reason}")
    return chosen


def _facts(ctx: Context, section: str, directory: Path | None) -> Gr00tN1d7Facts | None:
    if directory is None:
        return None
    tag = ctx.get(f"{section}.embodiment_tag", None)
    try:
        return checkpoint_facts(directory, tag)
    except ValueError as error:
        if tag is not None or "embodiment_tag is missing" not in str(error):  # a missing tag is reported already
            key = "embodiment_tag" if str(error).startswith("embodiment_tag") else "model_path"
            ctx.issue(f"{section}.{key}", str(error), "a GR00T N1.7 checkpoint directory, and a tag that it has")
        return None


def _check_block(ctx: Context, where: str, block: IsaacLabBlock, facts: Gr00tN1d7Facts, chosen: str | None) -> None:
    known = ctx.intact(*(f"{where}.{name}" for name in IMAGE_KEYS))
    if len(block.cameras) != len(facts.image_views) and known:
        found = f"{len(block.cameras)} cameras ({listing(block.cameras)}), but the model takes {len(facts.image_views)}"
        ctx.issue(f"{where}.main_images", found, f"views for {listing(facts.image_views)}")
    for key, problem in mapping_problems(block, facts):
        ctx.issue(f"{where}.{key}", problem, "the checkpoint's keys")
    language = ctx.get(f"{where}.gr00t_mapping.language", None)
    if language is None and chosen == "isaac_gr00t":
        language = block.gr00t_mapping.language  # the default: NVIDIA's processor asks for the key, lerobot's does not
    if language is not None and language != facts.language_key:
        found = f"{language!r}, but the checkpoint reads the instruction from {facts.language_key!r}"
        ctx.issue(f"{where}.gr00t_mapping.language", found, facts.language_key)
    if block.embodiment_tag_id is not None and block.embodiment_tag_id != facts.embodiment_id:
        found = f"{block.embodiment_tag_id}, but {facts.embodiment_tag!r} is {facts.embodiment_id} in the checkpoint"
        ctx.issue(
            f"{where}.embodiment_tag_id", found, str(facts.embodiment_id), "remove the key: the checkpoint says it"
        )
    if block.data_config_class is not None:
        ctx.notices.append(
            f"{where}.data_config_class: not used by N1.7, whose checkpoint holds its data configuration"
        )


def _check_lerobot(ctx: Context, section: str, directory: Path | None, facts: Gr00tN1d7Facts | None) -> None:
    name = ctx.get(f"{section}.obs_converter_type", None)
    if name in STOCK_GR00T_CONVERTERS:
        found = f"{name!r} is RLinf's own converter, which implementation lerobot does not use"
        ctx.issue(f"{section}.obs_converter_type", found, "no such key", "remove it; gr00t_mapping says all")
    where = f"{section}.rl_head_config"
    steps = ctx.whole(f"{section}.denoising_steps") or (facts.num_denoising_steps if facts else 4)
    length = None
    try:
        length = Gr00tHeadConfig.from_mapping(ctx.get(where, None), steps).prompt_length
    except ValueError as error:
        key = re.match(r"rl_head_config\.(\w+)", str(error))
        ctx.issue(f"{where}.{key[1]}" if key else where, str(error), "see docs/gr00t.md")
    except TypeError:
        pass  # a wrong type, reported by the section's own check
    if directory is not None and facts is not None:
        try:
            files = read_files(directory)
            backbone = backbone_directory(files, ctx.get(f"{section}.backbone_model_path", None))
            per_view = image_tokens(files, backbone)
        except ValueError as error:
            ctx.issue(f"{section}.backbone_model_path", str(error), "a local Qwen3-VL directory")
            return
        _check_prompt_length(ctx, f"{where}.padding_value", length, len(facts.image_views), per_view)


def _check_prompt_length(ctx: Context, key: str, length: int | None, views: int, per_view: int | None) -> None:
    tokens = views * (per_view or 0)
    if length is not None and length <= tokens:
        found = f"{length}, but {views} views alone take {tokens} tokens, so no instruction fits"
        fix = "remove the key: the default leaves 48 for the instruction"
        ctx.issue(key, found, f"more than {tokens}, e.g. {tokens + 48}", fix)
