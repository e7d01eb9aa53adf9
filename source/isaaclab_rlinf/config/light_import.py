# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Read declarations from modules that import torch, without importing torch.

A task's configuration names terms and numbers; the torch in the modules around it is for the simulation, and importing
it takes longer than everything else that a check does. Here a forked child imports the modules with a placeholder in
torch's place, reads, sends back the result and ends; the parent stays as it was. The placeholder refuses to be
compared (but by ``is``), tested, counted, formatted or computed with, so a result does not depend on it: whatever
needs more than the name of something in torch fails in the child, and the caller does the ordinary import.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import multiprocessing
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, NoReturn

_ABSENT = "torch"
ANSWER_SECONDS = 60.0
"""After this the ordinary import takes over: a module may wait for something that only it knows of."""


def call_without_torch[Result](function: Callable[..., Result], *arguments: Any) -> Result | None:
    """Call a function in a forked child in which torch is a placeholder; later calls use the same child.

    Args:
        function: A module-level function that imports modules and returns something picklable.
        arguments: Picklable arguments.

    Returns:
        Its result; None when torch is imported already (the ordinary way then costs nothing more), when forking is
        not safe here, or when the function failed, for whatever reason, or took longer than ``ANSWER_SECONDS``.
    """
    if not _possible():
        return None
    try:
        channel = _child()
        channel.send((function, arguments))
        if not channel.poll(ANSWER_SECONDS):
            raise TimeoutError
        done, result = channel.recv()
    except Exception:  # what cannot be pickled, a child that died, or one that hangs
        end_child()
        return None
    return result if done else None


def start_early(*modules: str) -> None:
    """Start the child now, importing modules that will be needed, while this process does other work.

    Args:
        modules: Names; one that cannot be imported is left to the call that needs it.
    """
    if _possible():
        _child(modules)


def _possible() -> bool:
    return _ABSENT not in sys.modules and threading.active_count() == 1 and hasattr(os, "fork")


_running: tuple[Any, Any] | None = None
"""The pipe to the child, and the child, once there is one."""


def end_child() -> None:
    """End the child, if there is one: once nothing more will be read, so that it is not carried through a run."""
    global _running
    if _running is not None:
        channel, process = _running
        _running = None
        channel.close()
        process.kill()  # it has nothing to lose, and may hang in a module
        process.join()


def known(value: Any) -> Any:
    """Return a value, refusing a placeholder: for values that a result depends on.

    Raises:
        TypeError: If the value is, or derives from, something in torch's placeholder.
    """
    if isinstance(value, _Placeholder):
        _refuse(value)
    return value


def _child(modules: tuple[str, ...] = ()) -> Any:
    """Return the pipe to the child, which ends with this process at the latest."""
    global _running
    if _running is None:
        context = multiprocessing.get_context("fork")
        channel, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(channel, theirs, modules), daemon=True)
        process.start()
        theirs.close()
        _running = channel, process
    return _running[0]


def _serve(parents: Any, channel: Any, modules: tuple[str, ...]) -> NoReturn:
    """Answer calls, saying nothing on the parent's streams, until the parent's end of the pipe is closed."""
    parents.close()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, _PlaceholderFinder())
    for module in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    while True:
        try:
            function, arguments = channel.recv()
        except EOFError:
            os._exit(0)
        try:
            answer = (True, function(*arguments))
        except BaseException:
            answer = (False, None)
        channel.send(answer)


class _Placeholder(type):
    """The type of everything inside the placeholder torch: a class, so that it can be annotated and subclassed."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _placeholder(f"{cls.__qualname__}.{name}")

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "_stands_in" not in cls.__dict__:
            raise TypeError(f"{cls.__qualname__} derives from a placeholder of torch")
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType)
        return args[0] if decorates else _placeholder(f"{cls.__qualname__}()")

    def __eq__(cls, other: object) -> bool:
        if cls is not other and isinstance(other, _Placeholder | str | int | float):
            _refuse(cls)
        return cls is other  # against anything else: typing compares what it is given with its own special forms

    __hash__ = type.__hash__

    def _refuse_all(cls, *_: Any) -> NoReturn:
        _refuse(cls)

    __bool__ = __len__ = __format__ = __iter__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_all


def _refuse(cls: type) -> NoReturn:
    raise TypeError(f"the value of torch's {cls.__qualname__} is needed")


def _placeholder(name: str) -> Any:
    return _Placeholder(name.rpartition(".")[2], (), {"_stands_in": True, "__qualname__": name})


class _PlaceholderModule(types.ModuleType):
    """torch, or a module in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _placeholder(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class _PlaceholderFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch before the real one is found."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for torch and what is in it, None for everything else."""
        if name.partition(".")[0] != _ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return the placeholder."""
        return _PlaceholderModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it until it is asked for."""
