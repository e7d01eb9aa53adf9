# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A checkpoint goes on where it was not written: on a GPU, back on a CPU, on more ranks and on fewer."""

from __future__ import annotations

import multiprocessing
import traceback

import pytest
import torch
from test_actor_resume import actor, resumed, train
from torch.distributed.checkpoint import FileSystemReader
from torch.distributed.checkpoint.api import CheckpointException

from isaaclab_rlinf.testing.sharding import gloo_mesh, shard

RNG = "fsdp_checkpoint.rng."


class Accelerator:
    """What RLinf's random state asks of ``torch.cuda``."""

    def __init__(self):
        self.state = torch.arange(16, dtype=torch.uint8)

    def __getattr__(self, name):
        return lambda *args, **kwargs: None

    def is_available(self):
        return True

    def get_rng_state(self):
        return self.state

    def set_rng_state(self, state):
        self.state = state


@pytest.fixture
def rank(tmp_path):
    """One rank."""
    with gloo_mesh(tmp_path / "store") as mesh:
        yield mesh


@pytest.fixture
def device(monkeypatch):
    """Make RLinf save and restore random states as on a GPU, or again as on a CPU."""
    from rlinf.scheduler import Worker

    def become(kind):
        monkeypatch.undo()
        if kind == "cuda":
            accelerator = Accelerator()
            monkeypatch.setattr(Worker, "torch_platform", accelerator)
            monkeypatch.setattr(Worker, "torch_device_type", "cuda")
            return accelerator
        return None

    return become


def keys(directory):
    return set(FileSystemReader(directory / "dcp_checkpoint").read_metadata().state_dict_metadata)


def saved_on(device, kind, directory):
    accelerator = device(kind)
    if accelerator:
        accelerator.state += 100
    worker = train(actor(), 2)
    worker.save_checkpoint(str(directory), 2)
    return worker


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_on_the_same_kind_of_device_everything_is_restored(rank, device, tmp_path, kind):
    worker = saved_on(device, kind, tmp_path)
    assert (RNG + "cuda" in keys(tmp_path)) == (kind == "cuda")
    accelerator, drawn = device(kind), torch.rand(1)
    later = resumed(tmp_path)
    assert later.trainer_state()["notices"] == ()
    assert torch.rand(1) == drawn
    assert all(map(torch.equal, later.model.parameters(), worker.model.parameters()))
    assert accelerator is None or int(accelerator.state[0]) == 100


def test_a_checkpoint_of_a_cpu_is_resumed_on_a_gpu(rank, device, tmp_path):
    worker = saved_on(device, "cpu", tmp_path)
    accelerator, drawn = device("cuda"), torch.rand(1)
    with pytest.raises(CheckpointException, match=r"Missing key in checkpoint state_dict: fsdp_checkpoint\.rng\.cuda"):
        super(type(worker), worker).load_checkpoint(str(tmp_path))  # delete compat/rlinf_checkpoint.py when it loads
    later = resumed(tmp_path)
    assert later.trainer_state()["notices"] == (
        "random numbers on cuda start from the seed: the checkpoint was written without",
    )
    assert torch.rand(1) == drawn and int(accelerator.state[0]) == 0
    assert all(map(torch.equal, later.model.parameters(), worker.model.parameters()))
    later.save_checkpoint(str(tmp_path / "again"), 2)
    assert RNG + "cuda" in keys(tmp_path / "again")


def test_a_checkpoint_of_a_gpu_is_resumed_on_a_cpu(rank, device, tmp_path):
    worker = saved_on(device, "cuda", tmp_path)
    device("cpu")
    later = resumed(tmp_path)
    assert later.trainer_state()["notices"] == (
        "the checkpoint's random state of cuda is not used: there is none here",
    )
    assert all(map(torch.equal, later.model.parameters(), worker.model.parameters()))


@pytest.mark.parametrize("part", ["numpy", "model"])
def test_nothing_else_may_be_missing(rank, device, tmp_path, monkeypatch, part):
    from rlinf.hybrid_engines.fsdp.strategy.checkpoint import Checkpoint

    complete = Checkpoint.state_dict

    def incomplete(self):
        state = complete(self)
        if part == "numpy":
            del state["rng"]["numpy"]
        else:
            del state["model"]["body.bias"]
        return state

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "state_dict", incomplete)
        train(actor(), 1).save_checkpoint(str(tmp_path), 1)
    device("cuda")
    with pytest.raises(CheckpointException, match="Missing key in checkpoint state_dict"):
        resumed(tmp_path)


def _rank(folder, rank, world_size, load, save, steps):
    try:
        torch.set_num_threads(1)
        with gloo_mesh(folder / f"store-{save.name}", rank, world_size) as mesh:
            worker = actor(lambda model: shard(model, mesh))
            if load is not None:
                worker.load_checkpoint(str(load))
            train(worker, steps).save_checkpoint(str(save), steps)
            state = {name: value.full_tensor() for name, value in worker.model.state_dict().items()}
            torch.save((state, worker.trainer_state()), save / f"rank{rank}.pt")
    except BaseException:
        traceback.print_exc()
        raise


def on_ranks(world_size, folder, load, save, steps=2):
    """Train ``steps`` steps on so many ranks, from ``load`` to ``save``; returns each rank's full weights and state."""
    save.mkdir()
    context = multiprocessing.get_context("forkserver")  # of a process in which nothing ran that a fork could break
    context.set_forkserver_preload(["isaaclab_rlinf.workers.actor", "rlinf.hybrid_engines.fsdp.strategy.fsdp2"])
    ranks = [
        context.Process(target=_rank, args=(folder, rank, world_size, load, save, steps)) for rank in range(world_size)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(120)
    for process in ranks:
        process.kill()
    assert [process.exitcode for process in ranks] == [0] * world_size
    return [torch.load(save / f"rank{rank}.pt") for rank in range(world_size)]


def test_one_rank_then_two_then_one_are_one_training(tmp_path):
    one = on_ranks(1, tmp_path, None, tmp_path / "one")
    two = on_ranks(2, tmp_path, tmp_path / "one", tmp_path / "two")
    back = on_ranks(1, tmp_path, tmp_path / "two", tmp_path / "back")
    straight = on_ranks(1, tmp_path, None, tmp_path / "straight", steps=6)
    assert [state["optimizer_steps"] for _, state in (*one, *two, *back)] == [4, 8, 8, 12]
    assert all(state["notices"] == state["changed"] == () for _, state in (*two, *back))
    for name, value in straight[0][0].items():
        assert torch.equal(two[0][0][name], two[1][0][name])
        assert torch.allclose(back[0][0][name], value, atol=1e-6), name
        assert not torch.allclose(two[0][0][name], value, atol=1e-4), name
