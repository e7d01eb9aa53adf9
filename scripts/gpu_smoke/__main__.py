# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``scripts/gpu_smoke.sh``: run the lane and print its table."""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

from . import identity, plan, table
from .outcome import FAILED, Result
from .runner import Lane

REPORT = "report.md"


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/gpu_smoke.sh", description="Check what only a machine with GPUs can show; see docs/gpu.md."
    )
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="cpu: the same in small; default cuda."
    )
    parser.add_argument(
        "--results", type=Path, default=Path("gpu_smoke_results"), metavar="DIR",
        help="Where results, logs and the report go; default ./gpu_smoke_results.",
    )  # fmt: skip
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="NAME",
        help="Repeat checks that passed before; 'all' repeats every one.",
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="Only these checks.")
    parser.add_argument("--serial", action="store_true", help="One group after the other; always so with --device cpu.")
    parser.add_argument("--list", action="store_true", help="Print the checks and end.")
    args = parser.parse_args(argv)
    try:
        plan.named([*args.only, *(name for name in args.again if name != "all")])
    except ValueError as error:
        parser.error(str(error))
    return args


def main(argv: list[str]) -> int:
    """Run the lane.

    Args:
        argv: Arguments.

    Returns:
        0 when nothing failed, also when there was no GPU to check; 1 when a check failed, 2 for a wrong command line,
        130 when interrupted.
    """
    args = parse(argv)
    if args.list:
        print("\n".join(f"{check.name:<20}{check.proves}" for check in plan.CHECKS))
        return 0
    if args.device == "cuda" and not gpu_count():
        print("[INFO] skipped: torch finds no GPU here. --device cpu runs the same checks in small.")
        return 0
    checks = plan.named(args.only) if args.only else plan.CHECKS
    where = identity.identity(args.device)
    directory = args.results.absolute() / _slug(where["gpus"] if args.device == "cuda" else "cpu")
    print(
        f"[INFO] {where['commit']} on {where['gpus'] if args.device == 'cuda' else 'the CPU'}; results in {directory}",
        flush=True,
    )
    lane = Lane(
        args.device, directory, where, tell=_tell, again=frozenset(args.again),
        serial=args.serial or args.device == "cpu",
    )  # fmt: skip
    code, started = 0, time.monotonic()
    try:
        results = lane.run(checks)
    except KeyboardInterrupt:
        code = 130
        results = {check.name: lane.results.get(check.name) or Result(check.name, "not run", reason="interrupted")
                   for check in checks}  # fmt: skip
    clock = time.monotonic() - started
    print(f"\n{table.terminal_table(checks, results)}\n\n{table.summary(results, clock)}")
    report = directory / REPORT
    report.write_text(table.report(checks, results, where, identity.details(), clock), encoding="utf-8")
    print(f"Report to send: {report}; logs beside it")
    return code or int(any(result.status == FAILED for result in results.values()))


def gpu_count() -> int:
    """Return the number of GPUs that torch sees."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _tell(result: Result) -> None:
    kept = " (kept)" if result.kept else ""
    print(f"  {result.name:<20}{result.seconds:6.0f} s  {result.status}{kept}  {result.note}", flush=True)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
