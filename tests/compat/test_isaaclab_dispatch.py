# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The dispatch table of isaaclab 3.0.0 must be what the plug-in writes into."""

import inspect

import pytest


@pytest.fixture
def table():
    from isaaclab_rl.entrypoints import dispatch

    before = {action: dict(modules) for action, modules in dispatch._BACKEND_MODULES.items()}
    yield dispatch._BACKEND_MODULES
    for action, modules in before.items():
        dispatch._BACKEND_MODULES[action].update(modules)


def test_the_table_is_read_after_entry_points_are_loaded():
    from isaaclab_rl.entrypoints import dispatch

    source = inspect.getsource(dispatch.run_cli)
    assert source.index("load_external_tasks()") < source.index("backends = _BACKEND_MODULES[action]")
    assert "module.run(argv)" in inspect.getsource(dispatch._run_backend)


def test_routing(table):
    from isaaclab_rlinf.compat.isaaclab_dispatch import route_backends

    route_backends("rlinf", {"train": "a.b", "play": "c.d"})
    assert (table["train"]["rlinf"], table["play"]["rlinf"]) == ("a.b", "c.d")
    assert table["train"]["rsl_rl"] == "isaaclab_rl.entrypoints.backends.train_rsl_rl"


def test_an_unknown_shape_changes_nothing(table):
    from isaaclab_rlinf.compat.isaaclab_dispatch import route_backends

    before = table["train"]["rlinf"]
    with pytest.raises(RuntimeError, match="made for isaaclab"):
        route_backends("rlinf", {"train": "a.b", "evaluate": "c.d"})
    assert table["train"]["rlinf"] == before
