# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Two seeded training steps of a policy, PPO and supervised, as numbers that can be compared with recorded ones.

``python tests/models/two_steps.py`` writes ``two_steps.json`` anew: only for a change that is meant to change numbers,
with the reason in the commit message.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tiny_gr00t
import torch
from omegaconf import OmegaConf
from synthetic import VIEWS, expert_chunk, make_scenes

from isaaclab_rlinf.models.seeding import seeded
from isaaclab_rlinf.testing.subject import trainer_forward
from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
from isaaclab_rlinf.workflow.sft import SftSettings
from isaaclab_rlinf.workflow.sft_learner import make_learner
from isaaclab_rlinf.workflow.sft_loop import optimise

TABLE = Path(__file__).with_suffix(".json")
BATCH, STEPS, EPOCHS = 6, 2, 2

# The bundled task's algorithm section, as RLinf's actor hands it to the loss.
ALGORITHM = {
    "task_type": "embodied",
    "loss_type": "actor_critic",
    "logprob_type": "chunk_level",
    "reward_type": "chunk_level",
    "clip_ratio_high": 0.2,
    "clip_ratio_low": 0.2,
    "clip_ratio_c": 3.0,
    "value_clip": 0.2,
    "huber_delta": 10.0,
    "critic_warmup": False,
    "max_episode_steps": 48,
    "loss_mask": None,
    "loss_mask_sum": None,
}


@dataclass(frozen=True)
class Family:
    """How one model family is made for the two steps.

    Attributes:
        policy: Builds the policy, given a directory for files.
        observation: Builds BATCH observations.
        gives_previous: Whether RLinf passes the rollout's log-probabilities to the trainer's forward.
        base: Makes the checkpoint that supervised training starts from; None where it starts from nothing.
    """

    policy: Callable[[Path], torch.nn.Module]
    observation: Callable[[int], dict[str, Any]]
    gives_previous: bool
    base: Callable[[Path], Path] | None


def _tiny_vla_policy(directory: Path) -> torch.nn.Module:
    from isaaclab_rlinf.models.base import bundled_checkpoint
    from isaaclab_rlinf.models.tiny_vla.builder import build_policy

    section = {
        "model_type": "tiny_vla",
        "model_path": str(bundled_checkpoint()),
        "action_dim": 3,
        "num_action_chunks": 8,
        "denoising_steps": 4,
        "rl_head_config": {"noise_level": 0.4, "stochastic_steps": [2, 3], "detach_critic_input": False},
    }
    return build_policy(OmegaConf.create(section))


def _tiny_vla_observation(seed: int) -> dict[str, Any]:
    scene = make_scenes(BATCH, seed)
    return {
        "main_images": scene.images[:, 0],
        "wrist_images": scene.images[:, 1],
        "extra_view_images": None,
        "states": torch.cat([scene.state, 0.1 * scene.state.flip(1)], dim=1),
        "task_descriptions": scene.tasks,
    }


def _n1d7_policy(directory: Path) -> torch.nn.Module:
    from isaaclab_rlinf.models.gr00t_n1d7.builder import build_policy

    return build_policy(OmegaConf.create(tiny_gr00t.settings(tiny_gr00t.make(directory / "policy"))))


def _n1d7_observation(seed: int) -> dict[str, Any]:
    return tiny_gr00t.observation(BATCH, seed)


FAMILIES = {
    "tiny_vla": Family(_tiny_vla_policy, _tiny_vla_observation, False, None),
    "gr00t_n1d7": Family(_n1d7_policy, _n1d7_observation, True, lambda directory: tiny_gr00t.make(directory / "base")),
}


def numbers(name: str, directory: Path) -> dict[str, Any]:
    """What the two steps of a family give: nested dictionaries and lists of floats."""
    family = FAMILIES[name]
    return {"ppo": _ppo(family, directory), "sft_losses": _sft(family, directory)}


def _ppo(family: Family, directory: Path) -> list[dict[str, Any]]:
    """Two steps of rollout and update; each update goes over its batch twice, so that the ratio is not always 1."""
    policy = family.policy(directory)
    named = [(name, weight) for name, weight in policy.named_parameters() if weight.requires_grad]
    groups = [
        {"params": [weight for name, weight in named if "value_head" not in name], "lr": 8e-5},
        {"params": [weight for name, weight in named if "value_head" in name], "lr": 1e-3},
    ]
    optimizer = torch.optim.Adam(groups)
    return [_step(policy, family, optimizer, step) for step in range(STEPS)]


def _step(policy: torch.nn.Module, family: Family, optimizer: torch.optim.Optimizer, step: int) -> dict[str, Any]:
    policy.eval()
    with seeded(100 + step):
        actions, rollout = policy.predict_action_batch(env_obs=family.observation(step), mode="train")
        advantages, returns = torch.randn(BATCH, 1), torch.randn(BATCH, 1)
    policy.train()
    updates = [_update(policy, family, optimizer, rollout, advantages, returns) for _ in range(EPOCHS)]
    policy.eval()
    evaluated, _ = policy.predict_action_batch(env_obs=family.observation(step), mode="eval")
    return {
        "actions": actions.mean(dim=(1, 2)).tolist(),
        "logprobs": rollout["prev_logprobs"].float().sum(dim=(1, 2)).tolist(),
        "values": rollout["prev_values"].float().flatten().tolist(),
        "losses": [loss for loss, _, _ in updates],
        "grad_norms": [norm for _, norm, _ in updates],
        "logprobs_in_update": [logprobs for _, _, logprobs in updates],
        "evaluated_actions": evaluated.mean(dim=(1, 2)).tolist(),
    }


def _update(
    policy: torch.nn.Module,
    family: Family,
    optimizer: torch.optim.Optimizer,
    rollout: dict[str, Any],
    advantages: torch.Tensor,
    returns: torch.Tensor,
) -> tuple[float, float, list[float]]:
    """One optimizer step on RLinf's own loss: loss, gradient norm before clipping, log-probabilities."""
    import rlinf.algorithms.losses  # noqa: F401  registers the losses
    from rlinf.algorithms.registry import policy_loss

    previous = rollout["prev_logprobs"]
    output = trainer_forward(policy, rollout["forward_inputs"], previous if family.gives_previous else None)
    loss, _ = policy_loss(
        **ALGORITHM,
        single_action_dim=previous.shape[-1],
        logprobs=output["logprobs"],
        old_logprobs=previous,
        values=output["values"],
        prev_values=rollout["prev_values"],
        advantages=advantages,
        returns=returns,
    )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_([w for group in optimizer.param_groups for w in group["params"]], 1.0)
    optimizer.step()
    return loss.item(), norm.item(), output["logprobs"].detach().float().sum(dim=(1, 2)).tolist()


def _sft(family: Family, directory: Path) -> list[float]:
    """Losses of three supervised steps: the third has seen two updates."""
    settings = SftSettings(steps=3, batch_size=8, lr=1e-4, base=family.base and family.base(directory))
    with seeded(settings.seed):
        demonstrations = _demonstrations()
        learner = make_learner(demonstrations, settings)
    return optimise(learner, demonstrations, settings, directory / "tensorboard")


def _demonstrations() -> Demonstrations:
    """Six episodes of eight frames, in which nothing but the state and the action moves."""
    scene, horizon = make_scenes(BATCH, seed=7), 8
    action = expert_chunk(scene, horizon).flatten(0, 1)
    return Demonstrations(
        views=VIEWS,
        images=scene.images.repeat_interleave(horizon, dim=0),
        state=torch.cat([action.roll(1, dims=0), 0.1 * action], dim=1),
        action=action,
        tasks=tuple(task for task in scene.tasks for _ in range(horizon)),
        last_frame=(torch.arange(BATCH) * horizon + horizon - 1).repeat_interleave(horizon),
        episodes=BATCH,
        fps=20,
    )


def main() -> None:
    """Write the table."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        table = {name: numbers(name, Path(directory) / name) for name in FAMILIES}
    TABLE.write_text(json.dumps(table, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
