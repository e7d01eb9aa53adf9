# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A task's declarations without torch: the same as with it, and never a result that depends on the placeholder."""

from __future__ import annotations

import subprocess
import sys
import typing
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.config.light_import import _PlaceholderModule
from isaaclab_rlinf.config.task_facts import _facts

IN_A_FRESH_PROCESS = """
import multiprocessing
import sys
import gymnasium
import isaaclab_rlinf.plugin
from isaaclab_rlinf.config import light_import, task_facts

spec = gymnasium.registry["Isaac-Touch-Color-Arm3-v0"]
arguments = (spec.id, spec.kwargs["env_cfg_entry_point"], (), {"rewards.progress.weight": 2.0})
light = light_import.call_without_torch(task_facts._read, *arguments)
assert light is not None and light.rewards["progress"] == 2.0, light
try:
    task_facts.read_task(spec, {"rewards.nonsense": 1})
except ValueError as error:
    assert "rewards.nonsense" in str(error)
assert light_import.call_without_torch(eval, "__import__('torch').cuda.is_available() and 1") is None
assert light_import.call_without_torch(eval, "__import__('sys').exit(3)") is None
assert light_import.call_without_torch(lambda: 1) is None, "cannot be pickled"
assert light_import.call_without_torch(eval, "1 + 1") == 2, "the next call has a child again"
light_import.ANSWER_SECONDS = 0.3
assert light_import.call_without_torch(eval, "__import__('time').sleep(100)") is None, "hangs"
light_import.ANSWER_SECONDS = 60
assert light_import.call_without_torch(eval, "1 + 1") == 2 and len(multiprocessing.active_children()) == 1
light_import.end_child()
light_import.end_child()
assert multiprocessing.active_children() == []
assert not {"torch", "isaaclab.envs"} & set(sys.modules)
assert task_facts._read(*arguments) == light
assert "torch" in sys.modules and light_import.call_without_torch(eval, "1 + 1") is None
"""


def test_facts_are_the_same_with_and_without_torch():
    ended = subprocess.run([sys.executable, "-c", IN_A_FRESH_PROCESS], capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr


def test_the_placeholder_serves_declarations():
    torch = _PlaceholderModule("torch")

    class Net(torch.nn.Module):
        pass

    def function(x: torch.Tensor | None) -> torch.Tensor:
        return x

    assert torch.jit.script(function) is function and torch.no_grad()(function) is function
    assert not isinstance(3, torch.Tensor)
    assert typing.get_type_hints(typing.NamedTuple("T", [("a", torch.Tensor)]))["a"] is torch.Tensor
    assert torch.float32 is torch.float32 and torch.float32 == torch.float32
    with pytest.raises(TypeError, match="derives from a placeholder"):
        Net()


@pytest.mark.parametrize(
    "use",
    [
        lambda torch: bool(torch.cuda.is_available()),
        lambda torch: torch.float32 == torch.float64,
        lambda torch: torch.device("cpu") == "cpu",
        lambda torch: torch.float32 != torch.float64,
        lambda torch: len(torch.zeros(3)),
        lambda torch: list(torch.zeros(3)),
        lambda torch: torch.zeros(3) < 1,
        lambda torch: torch.zeros(3) + 1,
        lambda torch: float(torch.zeros(3)),
        lambda torch: torch.__version__ >= "2",
        lambda torch: f"Isaac-Touch-{torch.cuda.device_count()}-v0",
    ],
)
def test_the_placeholder_refuses_to_be_a_value(use):
    with pytest.raises((TypeError, AttributeError)):
        use(_PlaceholderModule("torch"))


TORCH = _PlaceholderModule("torch")
TERM = SimpleNamespace(func=TORCH.norm, weight=1, time_out=False)


def cfg(**changes):
    """Return a configuration of one term of each kind, whose functions may well be torch's."""
    sections = {"observations": SimpleNamespace(policy=SimpleNamespace(a=TERM)), "rewards": SimpleNamespace(r=TERM)}
    numbers = {"decimation": 2, "episode_length_s": 1.0, "sim": SimpleNamespace(dt=0.1)}
    return SimpleNamespace(**{**sections, "terminations": SimpleNamespace(t=TERM), **numbers, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"decimation": TORCH.cuda.device_count()},
        {"episode_length_s": TORCH.tensor(1.0)},
        {"sim": SimpleNamespace(dt=TORCH.tensor(0.1))},
        {"sim": TORCH.x},
        {"observations": TORCH.x},
        {"observations": SimpleNamespace(policy=TORCH.x)},
        {"observations": SimpleNamespace(policy=SimpleNamespace(a=TORCH.x))},
        {"terminations": SimpleNamespace(t=TORCH.x)},
        {"terminations": SimpleNamespace(t=SimpleNamespace(func=1, time_out=TORCH.x))},
        {"rewards": TORCH.x},
        {"rewards": SimpleNamespace(r=SimpleNamespace(func=1, weight=TORCH.x))},
        {"instructions": TORCH.x},
    ],
)
def test_facts_that_would_depend_on_a_placeholder_are_refused(changes):
    assert _facts("t", cfg()).episode_steps == 5
    with pytest.raises(TypeError):
        _facts("t", cfg(**changes))
