# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The process of one group: ``python -m gpu_smoke.worker``. Runs its checks in turn and writes each one's end.

A check that crashes the process is the runner's to book, which then starts another process for the rest.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path

from .context import Context
from .outcome import NOT_RUN, PASSED, Result, kept_result, verdict, write_result
from .plan import Check, named


def run_check(check: Check, device: str, directory: Path, where: dict[str, str]) -> Result:
    """Run one check in this process.

    Args:
        check: What to run.
        device: ``cuda`` or ``cpu``.
        directory: Of the results; the group's work directory is below it.
        where: Identity that the result is remembered with.

    Returns:
        Its end, written to the directory as well.
    """
    missing = [name for name in check.after if kept_result(directory, name, where) is None]
    if missing:
        result = Result(check.name, NOT_RUN, reason=f"needs {', '.join(missing)}, which has not passed", where=where)
        write_result(directory, result)
        return result
    work = directory / "work" / check.group
    work.mkdir(parents=True, exist_ok=True)
    context = Context(device, work)
    started = time.monotonic()
    status, reason = PASSED, ""
    try:
        importlib.import_module(f"gpu_smoke.checks.{check.module}").run(context, *check.args)
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        status, reason = verdict(error)
    result = Result(check.name, status, time.monotonic() - started, reason, context.measured, where)
    sys.stdout.flush()
    write_result(directory, result)
    return result


def main() -> None:
    """Run the checks that the command line names, each with its own log."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--where", type=json.loads, required=True)
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    if args.device == "cpu":  # before torch is imported
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    by_name = {check.name: check for check in named(args.names)}
    for name in args.names:
        log = os.open(args.results / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        run_check(by_name[name], args.device, args.results, args.where)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # process groups and simulators that a check left behind must not hold up the next group


if __name__ == "__main__":
    main()
