# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Upstream private names that we replace or override must still exist, and behave as we assume."""

import inspect


def test_transformers_alias_is_still_needed_and_possible():
    import transformers

    from isaaclab_rlinf.compat.transformers_aliases import REMOVED_AUTO_CLASSES, alias_removed_auto_classes

    for current in REMOVED_AUTO_CLASSES.values():
        assert hasattr(transformers, current)
    alias_removed_auto_classes()
    for removed, current in REMOVED_AUTO_CLASSES.items():
        assert getattr(transformers, removed) is getattr(transformers, current)


def test_worker_results_are_awaited_in_a_replaceable_method():
    from rlinf.scheduler.worker.worker_group import WorkerGroupFuncResult

    source = inspect.getsource(WorkerGroupFuncResult._wait_for_results)
    assert "SIGUSR1" in source
    for attribute in ("_remote_results", "_local_results", "_wait_done", "_cls_name", "_func_name", "_pid"):
        assert attribute in inspect.getsource(WorkerGroupFuncResult)


def test_cluster_is_a_singleton_started_through_ray_init():
    from rlinf.scheduler.cluster import cluster

    source = inspect.getsource(cluster.Cluster)
    assert "cls._instance" in source
    assert "ray.init(**ray_init_kwargs)" in source
    assert "self._node_probe = NodeProbe(" in source


def test_runner_saves_through_the_overridden_method():
    from rlinf.runners.embodied_runner import EmbodiedRunner

    assert "self._save_checkpoint()" in inspect.getsource(EmbodiedRunner._maybe_eval_and_checkpoint)
    source = inspect.getsource(EmbodiedRunner._save_checkpoint)
    assert "checkpoints/global_step_" in source
    assert "self.actor.save_checkpoint(actor_save_path, self.global_step).wait()" in source


def test_rollout_worker_passes_sampling_parameters_to_unlisted_models():
    from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker

    assert "_train_sampling_params" in inspect.getsource(MultiStepRolloutWorker.predict)
    assert "_eval_sampling_params" in inspect.getsource(MultiStepRolloutWorker.setup_sample_params)


def test_the_models_that_are_given_no_sampling_parameters():
    import re

    from rlinf.config import SupportedModel
    from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker

    from isaaclab_rlinf.config.checks_effects import NO_SAMPLING
    from isaaclab_rlinf.config.keys_model import SAMPLING_READ

    listed = inspect.getsource(MultiStepRolloutWorker.predict).partition(" in [")[2].partition("]:")[0]
    names = re.findall(r"SupportedModel\.(\w+)", listed)
    assert {"tiny_vla", *(getattr(SupportedModel, name).value for name in names)} == set(NO_SAMPLING)
    read = re.findall(
        r'sampling_params(?:\["|\.get\(")(\w+)', inspect.getsource(MultiStepRolloutWorker.setup_sample_params)
    )
    # RLinf's config fills both temperatures from `temperature`
    assert {"temperature", *read} == set(SAMPLING_READ)
