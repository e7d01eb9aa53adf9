# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Provokes each kind of mistake of a command line or a task YAML, and prints every report on one page, to be read.

Nothing is started: each command does what it does before Ray and the simulator.

Usage: ``uv run python scripts/provoke_errors.py [--only WORD] > page.txt``
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.config.report import report_text

NAME = "isaaclab_ppo_tiny_vla_touch_color"


@dataclass(frozen=True)
class Mistake:
    """One kind of mistake."""

    kind: str
    overrides: tuple[str, ...] = ()
    flags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Command (``train`` or ``play``) -> its flags; without any, both commands and ``check`` are tried."""
    edits: tuple[tuple[str, str], ...] = ()
    """Text in the YAML -> what stands there instead."""


def _yaml(kind: str, *edits: tuple[str, str]) -> Mistake:
    return Mistake(kind, edits=edits)


def _override(kind: str, *overrides: str) -> Mistake:
    return Mistake(kind, overrides)


def _flag(kind: str, command: str, *flags: str) -> Mistake:
    return Mistake(kind, flags={command: flags})


GAMMA = "gamma: 0.95 "
MISTAKES: tuple[Mistake, ...] = (
    _yaml("syntax: a bracket that is not closed", ("logger_backends: [tensorboard]", "logger_backends: [tensorboard")),
    _yaml("syntax: a key twice", (GAMMA, "gamma: 0.9\n  gamma: 0.95 ")),
    _yaml("interpolation: not closed", (GAMMA, "gamma: ${oc.nope ")),
    _yaml("interpolation: two dots", (GAMMA, "gamma: ${a..b} ")),
    _yaml("interpolation: empty", (GAMMA, "gamma: ${} ")),
    _yaml("interpolation: misspelt", (GAMMA, "gamma: ${algorithm.gae_lamda} ")),
    _yaml("interpolation: of itself", (GAMMA, "gamma: ${algorithm.gamma} ")),
    _yaml(
        "interpolation: in a circle",
        (GAMMA, "gamma: ${algorithm.tau} "),
        ("kl_beta:", "tau: ${algorithm.gamma}\n  kl_beta:"),
    ),
    _yaml("interpolation: environment variable", (GAMMA, "gamma: ${oc.env:NOT_SET_HERE} ")),
    _yaml("interpolation: unknown resolver", (GAMMA, "gamma: ${env:HOME} ")),
    _yaml("defaults: a group that is not there", ("cluster:\n", "defaults: [{model: small}, _self_]\n\ncluster:\n")),
    _yaml("section: missing", ("weight_syncer:\n", "weight_sincer:\n")),
    _yaml("section: a list", ("critic:\n  use_critic_model: false", "critic: [1]")),
    _yaml("camera: misspelt", ("main_images: front_camera", "main_images: front_camra")),
    _yaml("run: a name with slashes", ("experiment_name: touch_color", "experiment_name: ../../x")),
    _override("override: comma", "env.train.isaaclab.task_description=touch, then lift"),
    _override("override: apostrophe", "env.train.isaaclab.task_description=don't touch"),
    _override("override: accents", "env.train.isaaclab.task_description=touche la balle d\u00e9j\u00e0 vue"),
    _override("override: brace not closed", "algorithm.gamma=${oc.env:GAMMA"),
    _override("override: bracket not closed", "env.train.isaaclab.states=[joint_pos"),
    _override("override: unknown key", "algorithm.gama=0.9"),
    _override("override: + for a key that is there", "+algorithm.gamma=0.9"),
    _override("override: one entry of a list", "env.train.isaaclab.states[0]=joint_vel"),
    _override("override: Hydra's own", "hydra.run.dir=here"),
    _override("override: twice", "+actor.model.lora_rank=8", "+actor.model.lora_rank=4"),
    _override(
        "value: wrong kind, range and choice", "algorithm.gamma=two", "actor.optim.lr=-1", "algorithm.adv_type=gea"
    ),
    _override("value: beyond all measure", "env.train.total_num_envs=99999999999", "actor.seed=100000000000"),
    _override("logger: misspelt", "runner.logger.logger_backends=[wnadb]"),
    _override("logger: no login", "runner.logger.logger_backends=[wandb,swanlab]"),
    _override("preset: misspelt selector", "+env.train.init_params.presets=['phsics=newton_mjwarp']"),
    _override("preset: unknown", "+env.train.init_params.presets=['physics=newton_mjwrap']"),
    _override("preset: a value", "+env.train.init_params.presets=['env.sim.dt=0.1']"),
    _override("numbers: environments", "env.train.total_num_envs=63", "rollout.pipeline_stage_num=2"),
    _override("numbers: batch", "actor.global_batch_size=400", "actor.micro_batch_size=200"),
    _override("placement: a device that is not there", "cluster.component_placement=0-7"),
    _override("names: one for two groups", "rollout.group_name=EnvGroup"),
    _override("LoRA: no rank", "actor.model.is_lora=true"),
    _override("model: unknown type", "actor.model.model_type=tiny_vlaa"),
    _override("extension: not importable", "+extensions=[no_such_module]"),
    _flag("flag: model path", "train", "--model_path", "no/where"),
    _flag("flag: task", "play", "--task", "Isaac-Touch-Colour-Arm3-v0"),
    _flag("flag: checkpoint", "play", "--checkpoint", "nowhere"),
    _flag("flag: no run yet", "train", "--checkpoint", "latest"),
    _flag("flag: environments", "train", "--num_envs", "7"),
    _flag("flag: seed", "train", "--seed", "100000000000"),
    _flag("flag: without effect", "train", "--video_length", "100"),
    _flag("flag: .yml", "train", "--config_name", f"{NAME}.yml"),
    _flag("flag: unknown YAML", "play", "--config_name", "isaaclab_ppo_touch_colour"),
)


def bundled_yaml() -> Path:
    """Return the bundled task's YAML."""
    root = Path(importlib.util.find_spec("isaaclab_rlinf").origin).parent
    return root / "tasks/touch_color/config" / f"{NAME}.yaml"


def provoke(mistake: Mistake, directory: Path) -> dict[str, tuple[Issue, ...] | str]:
    """Make a mistake with every command that it can be made with.

    Args:
        mistake: The mistake.
        directory: An empty directory; the YAML is written there, and the commands run there.

    Returns:
        Command -> its issues, or what it printed when it ended by itself; empty when it would start.
    """
    text = bundled_yaml().read_text(encoding="utf-8")
    for old, new in mistake.edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    (directory / "mine.yaml").write_text(text, encoding="utf-8")
    commands = list(mistake.flags) or ["train", "play", "check"]
    with contextlib.chdir(directory):
        return {command: _run(command, mistake) for command in commands}


def _run(command: str, mistake: Mistake) -> tuple[Issue, ...] | str:
    from isaaclab_rlinf.backends import cli_args, prepare
    from isaaclab_rlinf.cli import _parser
    from isaaclab_rlinf.inspection.check_cli import check_config

    flags = mistake.flags.get(command, ())
    named = () if "--config_name" in flags else ("--config_name", "mine.yaml")
    argv = [*named, "--device", "cpu", *flags, *mistake.overrides]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            if command == "check":
                args, args_overrides = _parser().parse_known_args(["check", *argv])
                args.overrides = args_overrides
                check_config(args)
            elif command == "train":
                prepare.prepare_train(cli_args.parse_train_args(argv))
            else:
                prepare.prepare_play(cli_args.parse_play_args(argv))
    except ConfigError as error:
        return error.issues
    except SystemExit:
        return said.getvalue().strip().splitlines()[-1]
    return ()


def pages(only: str = "") -> Iterator[str]:
    """Yield a paragraph for each mistake and each report that it gets.

    Args:
        only: A word that the kind has.
    """
    for name in ("WANDB_API_KEY", "WANDB_MODE", "SWANLAB_API_KEY"):
        os.environ.pop(name, None)
    for mistake in (mistake for mistake in MISTAKES if only in mistake.kind):
        with tempfile.TemporaryDirectory() as directory:
            outcome = provoke(mistake, Path(directory).resolve())
            texts: dict[str, list[str]] = {}
            for command, found in outcome.items():
                with contextlib.chdir(directory):
                    report = found if isinstance(found, str) else report_text(found) or "(would start)"
                texts.setdefault(report, []).append(command)
        yield f"##### {mistake.kind}\n" + "\n".join(f"--- {', '.join(who)}\n{text}\n" for text, who in texts.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="A word that the kind of mistake has.")
    for page in pages(parser.parse_args().only):
        print(page, flush=True)
