# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Shared fixtures. Child processes must find a bytecode cache: start-up is import-bound."""

import os

import pytest

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Under `uv run pytest` Ray would upload the project, .venv included, for every worker (see backends/session.py).
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")


def pytest_runtest_setup(item):
    """Skip what needs a GPU where there is none; torch is imported for such tests only."""
    if item.get_closest_marker("gpu") is None:
        return
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU; `scripts/gpu_smoke.sh --device cpu` runs the same checks in small")


@pytest.fixture
def one_thread():
    """Small tensors are computed fastest on one thread, and the result then hangs on no thread count."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
