# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""docs/yaml_reference.md against the schema and the parser: same keys, same defaults."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from isaaclab_rlinf.config.parse import parse_isaaclab_block
from isaaclab_rlinf.config.rlinf_keys import SECTIONS, TOP_LEVEL
from isaaclab_rlinf.config.schema import (
    ActionMapping,
    Gr00tMapping,
    Gr00tStateSpec,
    IsaacLabBlock,
    StateSpec,
    SuccessSpec,
    TaskDescription,
)

DOCUMENT = Path(__file__).parents[2] / "docs/yaml_reference.md"
NESTED = {"gr00t_mapping": Gr00tMapping, "action_mapping": ActionMapping, "success": SuccessSpec}
VIDEO = ("main_images", "wrist_images", "extra_view_images")


def table(name: str) -> dict[str, tuple[str, str, str]]:
    """Return key -> (type, default, meaning) of a marked table."""
    text = DOCUMENT.read_text(encoding="utf-8").partition(f"<!-- {name}: begin")[2].partition(f"<!-- {name}: end")[0]
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `"):
            assert len(cells) == 4, line
            assert cells[0].strip("` ") not in rows
            rows[cells[0].strip("` ")] = (cells[1], cells[2].strip("`"), cells[3])
    assert rows
    return rows


def shown(default: Any) -> str:
    if default is dataclasses.MISSING:
        return "required"
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return "[]" if default == () else str(default)


def schema_defaults() -> dict[str, str]:
    """Return YAML key path -> default as the document shows it."""
    rows = {"task_description.obs": "none"}
    for field in dataclasses.fields(IsaacLabBlock):
        if field.name in NESTED:
            for inner in dataclasses.fields(NESTED[field.name]):
                video = "video." if field.name == "gr00t_mapping" and inner.name in VIDEO else ""
                rows[f"{field.name}.{video}{inner.name}"] = shown(inner.default)
        else:
            rows[field.name] = shown(field.default)
    del rows["gr00t_mapping.state"]
    for prefix, spec in (("states[]", StateSpec), ("gr00t_mapping.state[]", Gr00tStateSpec)):
        rows |= {f"{prefix}.{field.name}": shown(field.default) for field in dataclasses.fields(spec)}
    return rows


def test_the_block_table_is_the_schema():
    documented = {key: default for key, (_, default, _) in table("block").items()}
    expected = schema_defaults()
    expected["main_images"] = "required"  # None in the schema, which is built without it nowhere but in tests
    assert documented == expected


def test_the_schema_has_no_class_that_this_test_does_not_know():
    used = {field.type for field in dataclasses.fields(IsaacLabBlock)}
    classes = {name for text in used for name in re.findall(r"[A-Z]\w+(?:Spec|Mapping|Description)", str(text))}
    assert classes == {cls.__name__ for cls in (TaskDescription, StateSpec, Gr00tMapping, ActionMapping, SuccessSpec)}


@pytest.mark.parametrize(
    ("raw", "prefix"),
    [
        ({}, ""),
        ({"task_description": {}}, "task_description."),
        ({"gr00t_mapping": {"video": {}}}, "gr00t_mapping.video."),
        ({"gr00t_mapping": {"state": [{}]}}, "gr00t_mapping.state[]."),
        ({"action_mapping": {}}, "action_mapping."),
        ({"success": {}}, "success."),
        ({"states": [{}]}, "states[]."),
    ],
)
def test_the_parser_accepts_exactly_the_documented_keys(raw, prefix):
    inner = raw
    for part in prefix.removesuffix(".").replace("[]", "").split(".") if prefix else ():
        inner = inner[part]
    (inner[0] if isinstance(inner, list) else inner)["zzz"] = 1
    _, issues = parse_isaaclab_block(raw, "block")
    (issue,) = [issue for issue in issues if issue.found == "unknown key" and issue.where.endswith(".zzz")]
    below = [key.removeprefix(prefix) for key in table("block") if key.startswith(prefix)]
    documented = {re.split(r"[.\[]", key)[0] for key in below}
    assert set(issue.allowed.split(", ")) == documented


def test_environment_settings_are_known_and_every_one_of_ours_is_documented():
    documented = table("env")
    for key in documented:
        section, _, name = key.partition(".")
        assert name in SECTIONS[f"env.train.{section}"], key
    rlinfs = {"init_params": {"num_envs", "max_episode_steps", "task_description"}, "video_cfg": {"info_on_video"}}
    rlinfs["video_cfg"].add("extra_info_on_video")
    for section, names in rlinfs.items():
        assert set(SECTIONS[f"env.train.{section}"]) - names == {
            key.partition(".")[2] for key in documented if key.startswith(section)
        }


def test_other_keys_are_known():
    for key in table("other"):
        section, _, name = key.rpartition(".")
        assert name in (SECTIONS[section] if section else TOP_LEVEL), key


def test_environment_defaults_are_the_codes():
    import inspect

    from isaaclab_rlinf.env.protocol import VideoSpec
    from isaaclab_rlinf.env.simulator import Simulator

    documented = table("env")
    code = {f"video_cfg.{field.name}": field.default for field in dataclasses.fields(VideoSpec)}
    code |= {f"init_params.{name}": p.default for name, p in inspect.signature(Simulator).parameters.items()}
    for key in ("max_envs", "max_seconds", "width", "height"):
        assert float(documented[f"video_cfg.{key}"][1]) == code[f"video_cfg.{key}"]
    for key in ("start_timeout", "step_timeout"):
        assert float(documented[f"init_params.{key}"][1]) == code[f"init_params.{key}"]
    assert code["video_cfg.fps"] is None
