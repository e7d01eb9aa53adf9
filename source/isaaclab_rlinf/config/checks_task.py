# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the ``isaaclab`` blocks against the task's own configuration: cameras, states, instruction, success, reward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import did_you_mean, listing, show
from isaaclab_rlinf.config.overrides import KEY, owned_overrides
from isaaclab_rlinf.config.parse import read_isaaclab_block
from isaaclab_rlinf.config.presets import PresetError
from isaaclab_rlinf.config.schema import IsaacLabBlock
from isaaclab_rlinf.config.task_facts import TaskFacts, read_task
from isaaclab_rlinf.config.tasks import find_task
from isaaclab_rlinf.env.time_outs import decided_time_outs, describe_unflagged
from isaaclab_rlinf.mapping.columns import overlapping_states
from isaaclab_rlinf.mapping.instructions import read_instructions, text_problem

_SHOWN = 5
"""Instructions with a problem that are shown one by one."""


def check_blocks(ctx: Context) -> None:
    """Parse both ``isaaclab`` blocks, used by this run or not; equal blocks (a YAML anchor) are reported once.

    Args:
        ctx: The validation in progress; its ``blocks`` are filled, with what can be read of each.
    """
    first: Any = None
    for mode in ("train", "eval"):
        raw = ctx.get(f"env.{mode}.isaaclab", None)
        if raw is None:
            continue
        parsed = read_isaaclab_block(raw, f"env.{mode}.isaaclab")
        if first is None or raw != first:
            ctx.issues.extend(parsed.issues)
        first = raw if first is None else first
        ctx.broken |= parsed.broken
        if parsed.block is not None:
            ctx.blocks[mode] = parsed.block
            lines = overlapping_states(parsed.block.states)
            ctx.notices.extend(f"env.{mode}.isaaclab: {line}" for line in lines)


def check_tasks(ctx: Context) -> None:
    """Check each environment section against its task.

    Args:
        ctx: The validation in progress, after :func:`check_blocks`.
    """
    seen: dict[str, TaskFacts | None] = {}
    for mode in ("train", "eval"):
        task = ctx.get(f"env.{mode}.init_params.id", None)
        if not isinstance(task, str) or not task.strip():
            continue
        params = ctx.get(f"env.{mode}.init_params")
        _check_copies(ctx, mode, params)
        overrides = params.get("env_overrides")
        if isinstance(overrides, Mapping):
            ctx.issues.extend(owned_overrides(overrides, f"env.{mode}"))
        key = f"{task} {overrides} {params.get('presets')}"
        if key not in seen:
            seen[key] = _facts(ctx, mode, task, params)
        facts = seen[key]
        if facts is None:
            continue
        if mode in ctx.blocks:
            _check_observations(ctx, mode, facts)
            _check_instructions(ctx, mode, facts)
            _check_success(ctx, mode, facts)
        if mode == "train" and ctx.training:
            _check_rewards(ctx, facts)
        _check_episode(ctx, mode, facts)


def _check_copies(ctx: Context, mode: str, params: Mapping[str, Any]) -> None:
    """Refuse numbers of RLinf's own tasks that nothing reads here, where they say something else than what is read."""
    for name, read in (("num_envs", "total_num_envs"), ("max_episode_steps", "max_episode_steps")):
        value, real = params.get(name), ctx.get(f"env.{mode}.{read}", None)
        if value is not None and real is not None and value != real:
            where, path = f"env.{mode}.init_params.{name}", f"env.{mode}.{read}"
            ctx.issue(
                where, f"{show(value)} is not read; {path} is, which is {show(real)}", f"${{{path}}}", "remove it"
            )


def _facts(ctx: Context, mode: str, task: str, params: Mapping[str, Any]) -> TaskFacts | None:
    where = f"env.{mode}.init_params.id"
    _import_modules(ctx, mode, params)
    spec, issues = find_task(task, where)
    ctx.issues.extend(issues)
    if spec is None:
        return None
    if "env_cfg_entry_point" not in spec.kwargs:
        ctx.issue(
            where, f"{task!r} is a gym task, but not an Isaac Lab one (no env_cfg_entry_point)", "an Isaac Lab task"
        )
        return None
    overrides, presets = params.get("env_overrides"), params.get("presets")
    try:
        chosen = presets if isinstance(presets, list) else ()  # anything else is reported with its section
        facts = read_task(spec, overrides if isinstance(overrides, Mapping) else None, chosen)
    except PresetError as error:
        ctx.issue(f"env.{mode}.init_params.presets", *error.args)
        return None
    except Exception as error:
        where = _blamed(mode, overrides, error) if overrides else where
        ctx.issue(where, f"the env cfg of {task!r} cannot be loaded: {type(error).__name__}: {error}")
        return None
    ctx.notices.extend(facts.notices)
    prefix = f"env.{mode}.{KEY}"
    ctx.issues.extend(replace(problem, where=f"{prefix}.{problem.where}") for problem in facts.problems)
    return facts


def _blamed(mode: str, overrides: Any, error: Exception) -> str:
    """Return the key path of the override that an error speaks of: the one it quotes, or the only one there is."""
    names = [str(name) for name in overrides] if isinstance(overrides, Mapping) else []
    quoted = [name for name in names if f"'{name}'" in str(error)] or (names if len(names) == 1 else [])
    return ".".join([f"env.{mode}.init_params.env_overrides", *quoted[:1]])


def _import_modules(ctx: Context, mode: str, params: Mapping[str, Any]) -> None:
    """Import the modules that register the task, as every worker will."""
    import importlib

    extensions = ctx.get("extensions", None)
    extensions = extensions if isinstance(extensions, list) else []
    modules = params.get("import_modules")
    # The extensions were put before what the YAML says there.
    own = [name for name in modules if name not in extensions] if isinstance(modules, list) else []
    for where, names in (("extensions", extensions), (f"env.{mode}.init_params.import_modules", own)):
        for name in dict.fromkeys(map(str, names)):
            try:
                importlib.import_module(name)
            except Exception as error:
                found = f"module {name!r} cannot be imported: {type(error).__name__}: {error}"
                ctx.issue(where, found, fix=_search_fix(name, error))


def _search_fix(name: str, error: Exception) -> str:
    """Return where a module is searched for, when it is the module itself that was not found."""
    if not isinstance(error, ModuleNotFoundError) or error.name not in (name, name.partition(".")[0]):
        return ""
    return f"install it, put its directory on PYTHONPATH, or start in its directory (this is {Path.cwd()})"


def _reads(block: IsaacLabBlock) -> Iterator[tuple[str, str, str, str]]:
    """Yield key below the block, observation key ("" where it is broken), group, and the block's key for that group."""
    for name in ("main_images", "wrist_images"):
        if getattr(block, name):
            yield name, getattr(block, name), block.camera_group, "camera_group"
    for index, key in enumerate(block.extra_view_images):
        yield f"extra_view_images[{index}]", key, block.camera_group, "camera_group"
    for index, state in enumerate(block.states):
        yield f"states[{index}]", state.key, block.policy_group, "policy_group"
    if block.task_description.obs:
        yield "task_description.obs", block.task_description.obs, block.policy_group, "policy_group"


def _check_observations(ctx: Context, mode: str, facts: TaskFacts) -> None:
    if facts.groups is None:
        ctx.notices.append(
            f"env.{mode}: {facts.task} is a direct-workflow task; its keys are checked at the first reset"
        )
        return
    where, block = f"env.{mode}.isaaclab", ctx.blocks[mode]
    unknown_groups = set()
    for below, key, group, group_key in _reads(block):
        if not key or not ctx.intact(f"{where}.{group_key}"):
            continue
        if key in facts.groups and group not in facts.groups:
            continue
        if group not in facts.groups:
            unknown_groups.add((group_key, group))
        elif key not in facts.groups[group]:
            _unknown_key(ctx, f"{where}.{below}", key, group, group_key, facts)
    for group_key, group in sorted(unknown_groups):
        names = listing(facts.groups)
        found = f"{facts.task} has no observation group {group!r}"
        ctx.issue(f"{where}.{group_key}", found, names, did_you_mean(group, facts.groups))


def _check_instructions(ctx: Context, mode: str, facts: TaskFacts) -> None:
    """Check the texts that a per-environment index points into, as the simulator's process and the model will."""
    obs = ctx.blocks[mode].task_description.obs
    if not obs or (facts.groups is None and facts.instructions is None):
        return  # a direct-workflow task may add them to its cfg when it is made
    where = f"env.{mode}.isaaclab.task_description.obs"
    _, problems = read_instructions(facts.instructions)
    for problem in problems:
        ctx.issue(where, f"{facts.task}: {problem}", "a tuple of texts", "repair its env cfg, or give one text here")
    if ctx.instruction_issues is None or not isinstance(facts.instructions, tuple | list):
        return
    texts = [(f"[{index}]", text) for index, text in enumerate(facts.instructions) if not text_problem(text)]
    issues = [issue for index, text in texts for issue in ctx.instruction_issues(index, text)]
    for issue in issues[:_SHOWN]:
        ctx.issue(where, f"{facts.task}'s instructions{issue.where}: {issue.found}", issue.allowed, issue.fix)
    if len(issues) > _SHOWN:
        ctx.issue(where, f"{len(issues) - _SHOWN} more such problems in the instructions of {facts.task}")


def _unknown_key(ctx: Context, where: str, key: str, group: str, group_key: str, facts: TaskFacts) -> None:
    elsewhere = [name for name, keys in facts.groups.items() if key in keys]
    fix = f"it is in group {elsewhere[0]!r}: set {group_key}" if elsewhere else did_you_mean(key, facts.groups[group])
    ctx.issue(where, f"{facts.task} has no {key!r} in observation group {group!r}", listing(facts.groups[group]), fix)


def _check_success(ctx: Context, mode: str, facts: TaskFacts) -> None:
    if facts.terminations is None:
        return
    where, success = f"env.{mode}.isaaclab.success", ctx.blocks[mode].success
    overrides = ctx.get(f"env.{mode}.{KEY}", None)
    decided = decided_time_outs(overrides if isinstance(overrides, Mapping) else ())
    ctx.notices.extend(describe_unflagged(name) for name in facts.unflagged_time_outs if name not in decided)
    if not ctx.intact(where):
        return
    ends = [name for name, flag in facts.terminations.items() if not flag and name not in facts.unflagged_time_outs]
    if success.termination is not None and success.termination not in facts.terminations:
        hint = did_you_mean(success.termination, facts.terminations)
        found = f"{facts.task} has no termination term {success.termination!r}"
        ctx.issue(f"{where}.termination", found, listing(facts.terminations), hint)
    elif success.termination is not None and facts.terminations[success.termination]:
        found = f"{success.termination!r} is a time-out, which every unfinished episode reaches"
        ctx.issue(f"{where}.termination", found, listing(ends), "name the term that means success")
    elif success.termination in facts.unflagged_time_outs:
        found = f"{success.termination!r} looks like a time-out, which every unfinished episode reaches"
        ctx.issue(f"{where}.termination", found, listing(ends), "name the term that means success")
    elif success.termination is None and success.reward_above is None:
        if facts.unflagged_time_outs:
            name = facts.unflagged_time_outs[0]
            found = f"not set, so each termination counts as success; {name!r} looks like a time-out without its flag"
            fix = f"name the right one, or set env.{mode}.{KEY}: {{terminations.{name}.time_out: true}}"
            ctx.issue(where, found, "{termination: NAME} or {reward_above: x}", fix)
        elif not ends:
            found = f"not set, and {facts.task} ends by time-out only, so nothing would ever count as success"
            ctx.issue(where, found, "{termination: NAME} or {reward_above: x}")
        else:
            who = f"each of {listing(ends)} counts as success; name one if not all do"
            if len(ends) == 1:
                who = f"{ends[0]} counts as success; set {{reward_above: x}} if it means failure"
            ctx.notices.append(f"{where}: not set, so {who}")


def _check_rewards(ctx: Context, facts: TaskFacts) -> None:
    coefficient = ctx.number("env.train.reward_coef")
    if coefficient == 0:
        ctx.issue("env.train.reward_coef", "0: every reward is multiplied by nothing", "a number other than 0")
    if facts.rewards is None:
        return
    active = [name for name, weight in facts.rewards.items() if weight]
    if not active:
        terms = ", ".join(f"{name}: {show(weight)}" for name, weight in facts.rewards.items()) or "no reward terms"
        found = f"{facts.task} gives no reward ({terms}), so there is nothing to learn from"
        fix = "give a term a weight, e.g. env.train.init_params.env_overrides: {rewards.NAME.weight: 1.0}"
        ctx.issue("env.train.init_params.id", found, "a task with a reward term of non-zero weight", fix)


def _check_episode(ctx: Context, mode: str, facts: TaskFacts) -> None:
    where = f"env.{mode}.max_episode_steps"
    steps = ctx.whole(where)
    if steps is not None and facts.episode_steps is not None and steps > facts.episode_steps:
        ctx.notices.append(
            f"{where}: {steps}, but {facts.task} itself ends an episode after {facts.episode_steps} steps"
        )
