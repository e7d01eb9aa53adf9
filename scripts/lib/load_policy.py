# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A policy and its evaluation config in this process, without Ray, for the scripts that look inside episodes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omegaconf import DictConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which policy plays what."""
    parser.add_argument("--config_name", default="isaaclab_ppo_tiny_vla_touch_color")
    parser.add_argument("--model_path", default="bundled")
    parser.add_argument("--weights", help="full_weights.pt to load over the base model")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--num_envs", type=int, default=50)
    parser.add_argument("overrides", nargs="*", help="Hydra overrides")


def load_policy(args: argparse.Namespace) -> tuple[DictConfig, Any]:
    """Return the checked config of an evaluation, and the policy with its weights.

    Args:
        args: Namespace with the flags of :func:`add_arguments`.
    """
    from isaaclab_rlinf.compat import prepare_worker_imports

    prepare_worker_imports()
    from rlinf.models import get_model

    from isaaclab_rlinf.backends.cli_args import parse_play_args
    from isaaclab_rlinf.backends.prepare import prepare_play
    from isaaclab_rlinf.extension import register
    from isaaclab_rlinf.workers.weights import load_full_weights

    flags = ["--config_name", args.config_name, "--num_envs", str(args.num_envs)]
    if args.model_path != "bundled":
        flags += ["--model_path", args.model_path]
    cfg = prepare_play(parse_play_args([*flags, *args.overrides])).cfg
    register()
    policy = get_model(cfg.rollout.model).eval()
    if args.weights:
        print(load_full_weights(policy, args.weights))
    return cfg, policy
