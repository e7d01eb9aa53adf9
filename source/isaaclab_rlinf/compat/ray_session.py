# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's use of Ray, made private to a run and repeatable within a process.

rlinf 0.3.0 calls ``ray.init(address="auto")`` without further arguments, keeps its cluster in a singleton that is
never reset, and imports Ray's dashboard agents along with it. Within :func:`private_ray` the call gets the arguments
we need, and on leaving, Ray is shut down and the singleton forgotten, so that a second run in the same process starts
from nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator

FORWARDED_VARIABLES = (
    "ISAACLAB_RLINF_EXTENSIONS",
    "ISAACLAB_RLINF_GROUPS",
    "ISAACLAB_RLINF_NUM_THREADS",
    "ISAACLAB_RLINF_PATH",
    "ISAACLAB_RLINF_SIM_THREADS",
    "TOKENIZERS_PARALLELISM",
)
"""What our code reads from the environment of a worker; RLinf forwards its own ``RLINF_*``."""


@contextlib.contextmanager
def private_ray(started: Callable[[str], None] = lambda session: None) -> Iterator[None]:
    """Give RLinf a Ray cluster of its own, or its own namespace on the one that ``RAY_ADDRESS`` names.

    A cluster of our own has no dashboard, and its session directory is removed afterwards.

    Args:
        started: Called with the session directory of a cluster of our own, as soon as there is one.
    """
    import ray
    from rlinf.scheduler import Cluster

    local = is_private()
    os.environ["RAY_ADDRESS"] = "local" if local else os.environ["RAY_ADDRESS"]
    # Processes of a cluster that was there before us do not inherit our environment.
    variables = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    extra: dict[str, object] = {"include_dashboard": False} if local else {"runtime_env": {"env_vars": variables}}
    extra["job_config"] = _job_config()
    original_init = ray.init
    former_namespace = Cluster.NAMESPACE
    Cluster.NAMESPACE = f"isaaclab_rlinf_{uuid.uuid4().hex[:12]}"

    def init(*args: object, **kwargs: object) -> object:
        result = original_init(*args, **{**extra, **kwargs})
        if local and (session := _session_directory()):
            started(session)
        return result

    ray.init = init
    try:
        yield
    finally:
        ray.init = original_init
        session_dir = _session_directory() if local else None
        _kill_named_actors(Cluster.NAMESPACE)
        ray.shutdown()
        if session_dir:
            shutil.rmtree(session_dir, ignore_errors=True)
        Cluster.NAMESPACE = former_namespace
        if hasattr(Cluster, "_instance"):
            del Cluster._instance


def _job_config() -> object:
    """Return Ray's settings of a job, without search path.

    ray 2.60 puts the driver's working directory, and its script's, before everything else on the search path of every
    worker, where a file of the user's hides a package. Ours follow the driver, see :mod:`isaaclab_rlinf.extension`.
    """
    from ray.job_config import JobConfig

    class PathlessJobConfig(JobConfig):
        """Ray adds to the list between making and sending it."""

        def _serialize(self) -> str:
            self._py_driver_sys_path = []
            return super()._serialize()

    return PathlessJobConfig()


def is_private() -> bool:
    """Return whether a run starts a Ray cluster of its own, in place of joining the one of ``RAY_ADDRESS``."""
    return os.environ.get("RAY_ADDRESS", "") in ("", "local")


def _session_directory() -> str | None:
    """Return the directory of the Ray session that this process started, if it did."""
    from ray._private import worker

    node = worker._global_node
    return node.get_session_dir_path() if node is not None else None


def _kill_named_actors(namespace: str) -> None:
    """End this run's actors on a shared cluster; on our own cluster they end with it."""
    import ray
    from ray.util import list_named_actors

    if not ray.is_initialized() or os.environ["RAY_ADDRESS"] == "local":
        return
    for entry in list_named_actors(all_namespaces=True):
        if entry["namespace"] == namespace:
            with contextlib.suppress(ValueError):  # gone meanwhile
                ray.kill(ray.get_actor(entry["name"], namespace=namespace), no_restart=True)
