# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether an exported model acts as the trained one: actions, log-probabilities and values of the same observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

TOLERANCES = {"float32": (1e-3, 1e-3), "float16": (1e-2, 5e-2), "bfloat16": (5e-2, 0.2)}
"""Largest differences of a model that was merged, cast to a dtype or computes in it: of actions relative to the largest
one, and of log-probabilities and values relative to their spread. Several times what rounding makes of tiny models:
bfloat16 changes their actions by 0.009 and their log-probabilities by 0.04, float16 by 0.001 and 0.012."""
_UNTOUCHED = (1e-4, 1e-4)
"""The same for a model whose weights are the same to the last bit."""
_BATCH = 2


@dataclass(frozen=True)
class Outputs:
    """What the trained model did.

    Attributes:
        observation: Batch that it saw.
        actions: Deterministic actions.
        inputs: What a training would evaluate again: the recorded decisions of one exploring call.
        evaluated: Log-probabilities, and values where there is a critic, of these decisions.
    """

    observation: Mapping[str, Any]
    actions: torch.Tensor
    inputs: Mapping[str, Any]
    evaluated: Mapping[str, torch.Tensor]


def record_outputs(model: torch.nn.Module, model_cfg: Mapping[str, Any], env: Mapping[str, Any]) -> Outputs | str:
    """Let the trained model act on an example, before anything is merged or cast.

    Args:
        model: As training had it.
        model_cfg: Its ``actor.model`` section.
        env: The run's ``env.train`` section, for its observations; may be empty.

    Returns:
        What it did, or why it could not act on an example.
    """
    import torch

    from isaaclab_rlinf.testing.subject import PREV_LOGPROB_TYPES

    try:
        observation = _observation(model_cfg, env)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            actions = _act(model, observation)
            _, result = model.predict_action_batch(env_obs=observation, mode="train")
        inputs = {"forward_inputs": result["forward_inputs"]}
        if model_cfg.get("model_type") in PREV_LOGPROB_TYPES:
            inputs["prev_logprobs"] = result["prev_logprobs"]
        return Outputs(observation, actions, inputs, _evaluate(model, inputs, values=result["prev_values"] is not None))
    except Exception as error:  # a model of any make
        return f"the trained model does not act on an example ({type(error).__name__}: {str(error)[:200]})"


def compare_outputs(
    model: torch.nn.Module, trained: Outputs, *, dtypes: set[str], changed: bool, values: bool
) -> tuple[dict[str, float], list[str]]:
    """Let the exported model do the same.

    Args:
        model: Built from the exported directory.
        trained: What the trained model did.
        dtypes: Dtypes that the two compute with, as ``float32``.
        changed: Whether weights were cast or merged on the way.
        values: Whether the critic was exported.

    Returns:
        The differences by name, and one line for each that is too large.
    """
    import torch

    of_actions, of_others = max(TOLERANCES[dtype] for dtype in dtypes) if changed else _UNTOUCHED
    with torch.random.fork_rng():
        torch.manual_seed(0)
        pairs = {"actions": (_act(model, trained.observation), trained.actions)}
        evaluated = _evaluate(model, trained.inputs, values=values and "values" in trained.evaluated)
    pairs |= {name: (value, trained.evaluated[name]) for name, value in evaluated.items()}
    measured = {name: _difference(*pair, spread=name != "actions") for name, pair in pairs.items()}
    wrong = []
    for name, value in measured.items():
        scale, limit = ("size", of_actions) if name == "actions" else ("spread", of_others)
        if not value <= limit:
            wrong.append(f"{name} differ by {value:.2g} of their {scale}, {limit:g} at most")
    return measured, wrong


def _act(model: torch.nn.Module, observation: Mapping[str, Any]) -> torch.Tensor:
    import torch

    actions, _ = model.eval().predict_action_batch(env_obs=dict(observation), mode="eval")
    return torch.as_tensor(actions).detach().float()


def _evaluate(model: torch.nn.Module, inputs: Mapping[str, Any], *, values: bool) -> dict[str, torch.Tensor]:
    import torch

    from isaaclab_rlinf.testing.subject import trainer_forward

    with torch.no_grad():
        output = trainer_forward(model.eval(), **inputs, compute_values=values)
    wanted = ("logprobs", "values") if values else ("logprobs",)
    return {name: output[name].detach().float() for name in wanted}


def _difference(ours: torch.Tensor, theirs: torch.Tensor, *, spread: bool) -> float:
    """Return the largest difference, relative to the size of the values or to their spread, 1 at least."""
    scale = max(float(theirs.std()), 1.0) if spread else max(float(theirs.abs().max()), 1e-6)
    return float((ours - theirs).abs().max()) / scale


def _observation(model_cfg: Mapping[str, Any], env: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example of what the model sees."""
    from isaaclab_rlinf.testing.builders import example_env_obs

    kind, path = model_cfg.get("model_type"), Path(str(model_cfg["model_path"]))
    block = model_cfg.get("isaaclab") or env.get("isaaclab") or {}
    extra_views = block.get("extra_view_images") or ()
    wrist, extra = bool(block.get("wrist_images")), 1 if isinstance(extra_views, str) else len(extra_views)
    width, size, words = int(model_cfg.get("state_dim") or 0), 64, {}
    if kind == "tiny_vla":
        from isaaclab_rlinf.models.inspect import checkpoint_facts

        facts = checkpoint_facts(path)
        wrist, extra = len(facts.image_views) > 1, max(0, len(facts.image_views) - 2)
        width, size = facts.state_dim, facts.image_size
        words = {"instructions": [" ".join(facts.vocabulary[: facts.max_text_length])]}
    elif kind == "gr00t_n1d7":
        from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts as facts_of_tag

        facts = facts_of_tag(path, model_cfg.get("embodiment_tag"))
        width = facts.state_dim
        if not block:
            wrist, extra = len(facts.image_views) > 1, max(0, len(facts.image_views) - 2)
    slices = [part["slice"][1] for part in (block.get("gr00t_mapping") or {}).get("state") or ()]
    return example_env_obs(
        batch=_BATCH, image_size=size, state_dim=max([width, *slices]), wrist=wrist, extra_views=extra, **words
    )
