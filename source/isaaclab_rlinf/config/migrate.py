# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Bring a task YAML written for an older RLinf up to what RLinf 0.3.0 reads. Every change is told in one notice."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.placement import TOGETHER

if TYPE_CHECKING:
    from omegaconf import DictConfig

_BUCKET_BYTES = 128 * 1024 * 1024


def migrate(cfg: DictConfig) -> list[str]:
    """Supply what RLinf 0.3.0 demands and older YAMLs lack, in place; a value that is set is never replaced.

    Args:
        cfg: A composed configuration, valid or not: what cannot be understood is left for the validator.

    Returns:
        One line for each change that alters what a reader of the YAML would expect.
    """
    from omegaconf import open_dict
    from omegaconf.errors import OmegaConfBaseException

    notices: list[str] = []
    steps = [
        _placement,
        _weight_syncer,
        _rollout_epochs,
        _eval_policy_path,
        _sampling_params,
        _amp,
        _env_offload,
        _betas,
        _gr00t,
        _inherit_model,
    ]
    with open_dict(cfg):
        for step in [*steps, _train_instruction, _eval_instruction]:
            # an interpolation that does not resolve is the validator's to report
            with contextlib.suppress(OmegaConfBaseException):
                step(cfg, notices)
    return notices


def _section(cfg: Any, *path: str) -> Any | None:
    """Return a mapping below a key path, or None when any part of it is absent or not a mapping."""
    from omegaconf import DictConfig

    for key in path:
        if not isinstance(cfg, DictConfig) or cfg._is_none() or cfg._is_missing() or key not in cfg:
            return None
        cfg = cfg[key]
    return cfg if isinstance(cfg, DictConfig) and not cfg._is_none() else None


def _placement(cfg: DictConfig, notices: list[str]) -> None:
    """Write out one value in place of the mapping, which places every component; the command line can give that."""
    cluster = _section(cfg, "cluster")
    value = cluster.get("component_placement") if cluster is not None else None
    if isinstance(value, int | str) and not isinstance(value, bool) and value != "???":
        cluster.component_placement = {TOGETHER: value}


def _weight_syncer(cfg: DictConfig, notices: list[str]) -> None:
    if "weight_syncer" in cfg and cfg.weight_syncer is not None:
        return
    # load_instant: each bucket is loaded as it arrives, so that no second copy of the model is kept
    cfg.weight_syncer = {
        "type": "bucket",
        "bucket": {"bucket_size": _BUCKET_BYTES, "bucket_dtype": None, "is_agent": False, "load_instant": True},
    }
    notices.append(
        "weight_syncer: RLinf 0.3.0 needs it and the YAML has none; using type 'bucket' with 128 MiB buckets"
    )


def _rollout_epochs(cfg: DictConfig, notices: list[str]) -> None:
    algorithm = _section(cfg, "algorithm")
    for mode, old in (("train", "rollout_epoch"), ("eval", "eval_rollout_epoch")):
        env = _section(cfg, "env", mode)
        if env is None:
            continue
        deprecated = algorithm.get(old) if algorithm is not None else None
        current = env.get("rollout_epoch")
        if current is None:
            env.rollout_epoch = 1 if deprecated is None else deprecated
            source = "the default" if deprecated is None else f"from algorithm.{old}, its name before RLinf 0.3.0"
            notices.append(f"env.{mode}.rollout_epoch: {env.rollout_epoch} ({source})")
        elif deprecated is not None and deprecated != current:
            notices.append(f"algorithm.{old}: {deprecated} is not read; env.{mode}.rollout_epoch ({current}) is")


def _eval_policy_path(cfg: DictConfig, notices: list[str]) -> None:
    runner = _section(cfg, "runner")
    path = runner.get("eval_policy_path") if runner is not None else None
    if path is None:
        return
    if not runner.get("only_eval", False):
        notices.append(
            "runner.eval_policy_path: not used in training; to start from these weights use runner.ckpt_path"
        )
    elif runner.get("ckpt_path") is None:
        runner.ckpt_path = path
        notices.append(f"runner.ckpt_path: {path} (from runner.eval_policy_path, which RLinf 0.3.0 does not read)")
    elif runner.ckpt_path != path:
        notices.append("runner.eval_policy_path: not read; runner.ckpt_path is")


def _sampling_params(cfg: DictConfig, notices: list[str]) -> None:
    from omegaconf import OmegaConf

    algorithm, rollout = _section(cfg, "algorithm"), _section(cfg, "rollout")
    old = _section(cfg, "algorithm", "sampling_params")
    if old is None or rollout is None or rollout.get("sampling_params") is not None:
        return
    rollout.sampling_params = OmegaConf.to_container(old, resolve=False)
    length = algorithm.get("length_params")
    if length is not None and "max_new_token" in length and "max_new_tokens" not in rollout.sampling_params:
        rollout.sampling_params.max_new_tokens = length.max_new_token
    notices.append("rollout.sampling_params: copied from algorithm.sampling_params, its place before RLinf 0.3.0")


def _amp(cfg: DictConfig, notices: list[str]) -> None:
    fsdp, old = _section(cfg, "actor", "fsdp_config"), _section(cfg, "actor", "fsdp_config", "amp")
    known = {"enabled": bool, "precision": str, "use_grad_scaler": bool}
    if old is None or any(not isinstance(value, known.get(key, ())) for key, value in old.items()):
        return
    if "amp_autocast" not in fsdp:
        fsdp.amp_autocast = {"enabled": old.get("enabled", False), "precision": old.get("precision", "bf16")}
    if "grad_scaler" not in fsdp:
        fsdp.grad_scaler = {"enabled": bool(old.get("enabled", False) and old.get("use_grad_scaler", False))}
    del fsdp["amp"]
    notices.append("actor.fsdp_config.amp: split into amp_autocast and grad_scaler, which RLinf 0.3.0 reads instead")


def _env_offload(cfg: DictConfig, notices: list[str]) -> None:
    """Drop a key of older YAMLs that RLinf does not read; its place today, ``env.<mode>``, is refused."""
    env = _section(cfg, "env")
    if env is None or type(env.get("enable_offload")) is not bool:
        return
    if env.enable_offload:
        notices.append(
            "env.enable_offload: true is dropped: RLinf 0.3.0 does not read it, and a simulator cannot leave its "
            "device and come back; actor.enable_offload and rollout.enable_offload free device memory"
        )
    del env["enable_offload"]


def _betas(cfg: DictConfig, notices: list[str]) -> None:
    """Write a whole number as a float: torch refuses one beta of either kind."""
    optim = _section(cfg, "actor", "optim")
    for key in ("adam_beta1", "adam_beta2"):
        if optim is not None and type(optim.get(key)) is int:
            optim[key] = float(optim[key])


def _gr00t(cfg: DictConfig, notices: list[str]) -> None:
    """Fill in what a GR00T model section leaves to the block, and RLinf's noise default for N1.7."""
    model, block = _section(cfg, "actor", "model"), _section(cfg, "env", "train", "isaaclab")
    section = "actor.model"
    if model is None or model.get("model_type") is None:  # a YAML for evaluation only
        model, section = _section(cfg, "rollout", "model"), "rollout.model"
    block = block if block is not None else _section(cfg, "env", "eval", "isaaclab")
    kind = model.get("model_type") if model is not None else None
    if not isinstance(kind, str) or not kind.startswith("gr00t"):
        return
    for key, default in (("embodiment_tag", None), ("obs_converter_type", "isaaclab_rlinf")):
        value = block.get(key) if block is not None else None
        if model.get(key) is None and (value or default):
            model[key] = value or default
    head = _section(model, "rl_head_config")
    by_rlinf = kind == "gr00t_n1d7" and _rlinf_runs_n1d7(model.get("implementation"))
    if by_rlinf and head is not None and head.get("action_noise_scale") is None:
        head.action_noise_scale = 0.0
        notices.append(
            f"{section}.rl_head_config.action_noise_scale: 0 (RLinf's default 0.1 adds noise to the action after its "
            "log-probability was taken)"
        )


def _rlinf_runs_n1d7(implementation: Any) -> bool:
    """Whether RLinf's own class will run GR00T N1.7, rather than ours on lerobot's network."""
    from isaaclab_rlinf.compat.gr00t_package import gr00t_generation

    if implementation in (None, "auto"):
        return gr00t_generation() == "gr00t_n1d7"
    return implementation == "isaac_gr00t"


def _inherit_model(cfg: DictConfig, notices: list[str]) -> None:
    """Give ``rollout.model`` every ``actor.model`` setting; what it sets itself wins."""
    from omegaconf import OmegaConf

    actor, rollout = _section(cfg, "actor", "model"), _section(cfg, "rollout")
    if actor is None or rollout is None:
        return
    own = rollout.get("model")
    # interpolations are copied unresolved, so that a later change of their target reaches both models
    merged = OmegaConf.create(OmegaConf.to_container(actor, resolve=False))
    if own is not None:
        if not OmegaConf.is_dict(own):
            return
        merged = OmegaConf.merge(merged, OmegaConf.create(OmegaConf.to_container(own, resolve=False)))
    rollout.model = merged


def _train_instruction(cfg: DictConfig, notices: list[str]) -> None:
    _instruction(cfg, "train", notices)


def _eval_instruction(cfg: DictConfig, notices: list[str]) -> None:
    _instruction(cfg, "eval", notices)


def _instruction(cfg: DictConfig, mode: str, notices: list[str]) -> None:
    """Keep RLinf's ``init_params.task_description`` equal to the block's instruction."""
    block, init = _section(cfg, "env", mode, "isaaclab"), _section(cfg, "env", mode, "init_params")
    if block is None or init is None:
        return
    text = block.get("task_description")
    old = init.get("task_description")
    if text is None and isinstance(old, str) and old.strip():
        block.task_description = old
        notices.append(f"env.{mode}.isaaclab.task_description: {old!r} (from env.{mode}.init_params.task_description)")
    elif isinstance(text, str) and (old is None or isinstance(old, str)):
        init.task_description = text
        if old is not None and old != text:
            notices.append(
                f"env.{mode}.init_params.task_description: {old!r} is replaced by the isaaclab block's {text!r}"
            )
    elif init.get("task_description") is None:
        # RLinf's environment base class reads this key; per-environment instructions come from the task
        init.task_description = ""
