# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Page-locking the shared memory, with a stand-in of the CUDA runtime that keeps the last error as the real one."""

import pytest
import torch

from isaaclab_rlinf.env.shared_buffers import allocate, page_lock

NOT_SUPPORTED = 801


class Runtime:
    """``torch.cuda.cudart()``, and a kernel launch that raises the runtime's last error, once."""

    def __init__(self, room):
        self.room, self.registered, self.pending = room, [], 0

    def cudaHostRegister(self, pointer, size, flags):  # noqa: N802  CUDA's name
        if len(self.registered) == self.room:
            self.pending = NOT_SUPPORTED
            return NOT_SUPPORTED
        self.registered.append((pointer, size))
        return 0

    def launch(self, *args, device, **kwargs):
        assert device == "cuda"
        code, self.pending = self.pending, 0
        if code:
            raise RuntimeError(f"CUDA error {code}")


@pytest.fixture
def runtime(monkeypatch):
    def install(room):
        stand_in = Runtime(room)
        monkeypatch.setattr(torch.cuda, "cudart", lambda: stand_in)
        monkeypatch.setattr(torch, "ones", stand_in.launch)
        return stand_in

    return install


BUFFERS = allocate({"a": ((2, 3), torch.float32), "b": ((5,), torch.bool), "c": ((1,), torch.float64)})


def test_all_memory_is_registered(runtime):
    cuda = runtime(3)
    assert page_lock(BUFFERS) is None
    assert cuda.registered == [(BUFFERS[name].data_ptr(), size) for name, size in (("a", 24), ("b", 5), ("c", 8))]


def test_a_refused_registration_leaves_no_error_behind_and_is_told_once(runtime):
    cuda = runtime(1)
    assert "error 801" in page_lock(BUFFERS)
    assert cuda.pending == 0, "the next kernel launch, wherever it is, would raise it"
    assert len(cuda.registered) == 1, "the rest is not tried"


def test_an_error_that_stays_is_not_hidden(runtime, monkeypatch):
    runtime(0)

    def always(*args, **kwargs):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(torch, "ones", always)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        page_lock(BUFFERS)
