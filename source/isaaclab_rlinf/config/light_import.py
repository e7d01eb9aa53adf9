# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Read declarations from modules that import torch, without importing torch.

A task's configuration names terms and numbers; the torch in the modules around it is for the simulation, and importing
it takes longer than everything else that a check does. Here a forked child imports the modules with a placeholder in
torch's place, reads, sends back the result and ends; the parent stays as it was. The placeholder refuses to be
compared, tested, counted or computed with, so a result cannot depend on it: whatever needs more than the name of
something in torch fails in the child, and the caller does the ordinary import.
"""

from __future__ import annotations

import functools
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


def call_without_torch[Result](function: Callable[..., Result], *arguments: Any) -> Result | None:
    """Call a function in a forked child in which torch is a placeholder; later calls use the same child.

    Args:
        function: A module-level function that imports modules and returns something picklable.
        arguments: Picklable arguments.

    Returns:
        Its result; None when torch is imported already (the ordinary way then costs nothing more), when forking is
        not safe here, or when the function failed, for whatever reason.
    """
    if _ABSENT in sys.modules or threading.active_count() > 1 or not hasattr(os, "fork"):
        return None
    try:
        channel = _child()
        channel.send((function, arguments))
        done, result = channel.recv()
    except Exception:  # what cannot be pickled, or a child that died
        _child.cache_clear()
        return None
    return result if done else None


@functools.cache
def _child() -> Any:
    """Return the pipe to the child, which ends with this process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    context.Process(target=_serve, args=(ours, theirs), daemon=True).start()
    theirs.close()
    return ours


def _serve(parents: Any, channel: Any) -> NoReturn:
    """Answer calls, saying nothing on the parent's streams, until the parent's end of the pipe is closed."""
    parents.close()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, _PlaceholderFinder())
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

    __bool__ = __len__ = __iter__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_all


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
