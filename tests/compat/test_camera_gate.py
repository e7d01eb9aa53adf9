# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The camera gate on a manager with Isaac Lab's interface, and the reasons for not using it."""

from types import SimpleNamespace

import pytest

from isaaclab_rlinf.compat.isaaclab_observations import install_camera_gate, term_columns, why_rendered_always


class Manager:
    """``compute`` calls ``compute_group`` through the instance, as Isaac Lab's does."""

    def __init__(self, **term):
        self.active_terms = {"policy": ["x"], "camera_images": ["front"]}
        plain = {"history_length": 0, "delay_max_lag": 0, "noise": None, "modifiers": None, "func": print}
        self._group_obs_term_cfgs = {"camera_images": [SimpleNamespace(**{**plain, **term})]}
        self.computed = []

    def compute_group(self, group_name, update_history=False):
        self.computed.append(group_name)
        return {group_name: 1}

    def compute(self, update_history=False):
        return {name: self.compute_group(name, update_history=update_history) for name in self.active_terms}


def test_only_the_camera_group_of_a_step_is_left_out():
    manager = Manager()
    gate = install_camera_gate(manager, "camera_images")
    assert manager.compute(update_history=True)["camera_images"]
    gate.open = False
    assert manager.compute(update_history=True) == {"policy": {"policy": 1}, "camera_images": {}}
    assert manager.compute()["camera_images"], "the final observation has its images"
    gate.open_for_final = False
    assert manager.compute()["camera_images"] == {}
    assert manager.computed.count("policy") == 4, "other groups advance on every step"


@pytest.mark.parametrize(
    ("term", "needle"),
    [
        ({"history_length": 2}, "history"),
        ({"delay_max_lag": 1}, "delay"),
        ({"noise": object()}, "noise"),
        ({"modifiers": [1]}, "modifiers"),
    ],
)
def test_camera_terms_with_a_memory_are_always_rendered(term, needle):
    assert needle in why_rendered_always(Manager(**term), "camera_images", "policy")


def test_shared_group_is_always_rendered_and_a_plain_one_is_not():
    assert "share" in why_rendered_always(Manager(), "camera_images", "camera_images")
    assert why_rendered_always(Manager(), "camera_images", "policy") is None


def test_columns_of_concatenated_groups():
    manager = SimpleNamespace(
        active_terms={"a": ["x", "y"], "b": ["z"], "c": ["image", "w"]},
        group_obs_term_dim={"a": [(3,), (2,)], "b": [(1,)], "c": [(4, 4, 3), (1,)]},
        group_obs_concatenate={"a": True, "b": False, "c": True},
    )
    assert term_columns(manager) == {"a": {"x": (0, 3), "y": (3, 5)}}
