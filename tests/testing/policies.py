# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A policy that keeps the contract, and one subclass for each way to break it."""

from __future__ import annotations

import sys

import torch
from rlinf.models.embodiment.base_policy import BasePolicy
from torch import nn
from torch.distributions import Normal

CHUNK, WIDTH, STATE = 4, 3, 5
CFG = {"model_type": "toy", "num_action_chunks": CHUNK, "action_dim": WIDTH, "add_value_head": True}


class Layer(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


class Good(nn.Module, BasePolicy):
    """Gaussian actions around a function of the state."""

    forward = BasePolicy.forward
    _no_split_modules = ["Layer"]  # noqa: RUF012

    def __init__(self, seed: int = 0) -> None:
        nn.Module.__init__(self)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.body = nn.Sequential(Layer(STATE, 16), Layer(16, 16))
            self.mean = nn.Linear(16, CHUNK * WIDTH)
            self.log_std = nn.Parameter(torch.full((CHUNK, WIDTH), -1.0))
            self.value_head = nn.Linear(16, 1)

    def distribution(self, states: torch.Tensor) -> tuple[Normal, torch.Tensor]:
        features = self.body(states)
        mean = self.mean(features).unflatten(1, (CHUNK, WIDTH))
        return Normal(mean, self.log_std.exp()), self.value_head(features)

    @torch.no_grad()
    def predict_action_batch(self, env_obs, mode="train", **_):
        states = env_obs["states"]
        distribution, values = self.distribution(states)
        actions = distribution.sample() if mode == "train" else distribution.mean
        return actions, {
            "prev_logprobs": distribution.log_prob(actions),
            "prev_values": values,
            "forward_inputs": {"states": states, "action": actions},
        }

    def default_forward(self, forward_inputs, compute_values=True, **_):
        distribution, values = self.distribution(forward_inputs["states"])
        return {"logprobs": distribution.log_prob(forward_inputs["action"]), "values": values, "entropy": None}


class Changed(Good):
    """Changes what the rollout returns."""

    def predict_action_batch(self, env_obs, mode="train", **kwargs):
        return self.change(*super().predict_action_batch(env_obs, mode, **kwargs), mode=mode)


class NoForward(Good):
    forward = nn.Module.forward


class AbstractFirst(BasePolicy, nn.Module):
    """Bases in the order that FSDP2 cannot change."""

    forward = BasePolicy.forward
    _no_split_modules = ["Layer"]  # noqa: RUF012
    __init__ = Good.__init__
    distribution, predict_action_batch, default_forward = (
        Good.distribution,
        Good.predict_action_batch,
        Good.default_forward,
    )


class NestedValueHead(Good):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.ModuleDict({"value_head": self.value_head})
        del self.value_head

    def distribution(self, states):
        features = self.body(states)
        mean = self.mean(features).unflatten(1, (CHUNK, WIDTH))
        return Normal(mean, self.log_std.exp()), self.head["value_head"](features)


class OtherCritic(Good):
    def __init__(self) -> None:
        super().__init__()
        self.critic = self.value_head
        del self.value_head

    def distribution(self, states):
        features = self.body(states)
        mean = self.mean(features).unflatten(1, (CHUNK, WIDTH))
        return Normal(mean, self.log_std.exp()), self.critic(features)


class Frozen(Good):
    def __init__(self) -> None:
        super().__init__()
        self.requires_grad_(False)


class UnnamedLayers(Good):
    _no_split_modules = None


class Padded(Changed):
    def change(self, actions, result, mode):
        return torch.cat([actions, torch.zeros_like(actions)], dim=-1), result


class DoubleActions(Changed):
    def change(self, actions, result, mode):
        return actions.double().numpy(), result


class NoLogprobs(Changed):
    def change(self, actions, result, mode):
        return actions, {**result, "prev_logprobs": None}


class SummedLogprobs(Changed):
    def change(self, actions, result, mode):
        return actions, {**result, "prev_logprobs": result["prev_logprobs"].sum(dim=(1, 2))}


class CoarseLogprobs(Changed):
    def change(self, actions, result, mode):
        return actions, {**result, "prev_logprobs": result["prev_logprobs"].bfloat16()}


class FlatValues(Changed):
    def change(self, actions, result, mode):
        return actions, {**result, "prev_values": result["prev_values"][:, 0]}


class TextInputs(Changed):
    def change(self, actions, result, mode):
        inputs = {**result["forward_inputs"], "prompt": ["touch"], "time": torch.tensor(0.5)}
        return actions, {**result, "forward_inputs": inputs}


class NotFinite(Changed):
    def change(self, actions, result, mode):
        return actions / 0.0, result


class KeepsGraph(Good):
    predict_action_batch = Good.predict_action_batch.__wrapped__


class ChangesObservation(Good):
    def predict_action_batch(self, env_obs, mode="train", **kwargs):
        env_obs["states"].mul_(2.0)
        return super().predict_action_batch(env_obs, mode, **kwargs)


class NoExploration(Good):
    def predict_action_batch(self, env_obs, mode="train", **kwargs):
        return super().predict_action_batch(env_obs, "eval", **kwargs)


class IgnoresMode(Good):
    def predict_action_batch(self, env_obs, mode="train", **kwargs):
        return super().predict_action_batch(env_obs, "train", **kwargs)


class NoMode(Good):
    def predict_action_batch(self, env_obs):
        return super().predict_action_batch(env_obs)


class BatchStatistics(Good):
    def distribution(self, states):
        return super().distribution(states - states.mean(dim=0))


class ClampedActions(Changed):
    """Records the action after clamping, as a processor would."""

    def change(self, actions, result, mode):
        inputs = {**result["forward_inputs"], "action": actions.clamp(-0.2, 0.2)}
        return actions, {**result, "forward_inputs": inputs}


class FreshNoise(Good):
    def default_forward(self, forward_inputs, **kwargs):
        noise = 1e-6 * torch.randn_like(forward_inputs["action"])
        return super().default_forward({**forward_inputs, "action": forward_inputs["action"] + noise}, **kwargs)


class Dropout(Good):
    def __init__(self) -> None:
        super().__init__()
        self.body.append(nn.Dropout(0.3))


class Detached(Good):
    @torch.no_grad()
    def default_forward(self, forward_inputs, **kwargs):
        return super().default_forward(forward_inputs, **kwargs)


class DetachedMean(Good):
    def distribution(self, states):
        distribution, values = super().distribution(states)
        return Normal(distribution.mean.detach(), distribution.stddev.detach() + 0 * self.log_std), values


class ConstantValues(Good):
    def distribution(self, states):
        distribution, values = super().distribution(states)
        return distribution, values.detach() + 0 * self.log_std.sum()


class RandomInit(Good):
    def __init__(self) -> None:
        super().__init__(seed=torch.seed() % 1000)


class HiddenState(Good):
    """Acts by a tensor that is in no state dict: drawn at build time."""

    def __init__(self) -> None:
        super().__init__()
        self.offset = torch.rand(CHUNK, WIDTH)

    def distribution(self, states):
        distribution, values = super().distribution(states)
        return Normal(distribution.mean + self.offset, distribution.stddev), values


class ReadsSharded(Good):
    """Reads a layer's weight outside that layer's forward."""

    def distribution(self, states):
        distribution, values = super().distribution(states)
        return distribution, values + self.body[0].linear.weight.sum()


class FailsInAnotherProcess(Good):
    """Builds only where the tests run."""

    def __init__(self) -> None:
        if "pytest" not in sys.modules:
            raise FileNotFoundError("no checkpoint here")
        super().__init__()
