# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Host memory that building a policy takes: a GR00T N1.7 with random weights, built as RLinf's workers do.

Writes a checkpoint, by default of one billion parameters (2 GB on disk, twice that with `full_weights.pt`), and loads
it in fresh processes: the base model, and a training checkpoint over it. Prints the peak of resident memory, mapped
files included, and its growth over what the imports take; fails when the growth is above 1.2 times the weights.

    uv run --no-sync python scripts/benchmark_load_memory.py [--width 512] [--precision fp32] [--directory DIR]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinySizes

sys.path.insert(0, str(Path(__file__).parent))
LIMIT = 1.2
MIB = 2**20


def main() -> int:
    """Run the steps, each in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--width", type=int, default=1536, help="width of language model and action head; 16 divides it"
    )
    parser.add_argument("--layers", type=int, default=16, help="layers of each")
    parser.add_argument("--precision", choices=("bf16", "fp32"), default="bf16", help="of the built model")
    parser.add_argument("--directory", type=Path, help="where to write; default a temporary one")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(STEPS[args.step](args)))
        return 0
    print(f"{'':28}{'seconds':>9}{'imports':>10}{'peak':>10}{'growth':>10}   MiB")
    failed = False
    with tempfile.TemporaryDirectory(dir=args.directory) as place:
        for name in STEPS:
            result = _in_child(name, args, place)
            growth = result["peak"] - result["imports"]
            line = f"{name:28}{result['seconds']:9.1f}{result['imports']:10.0f}{result['peak']:10.0f}{growth:10.0f}"
            if weights := result.get("weights"):
                line += f"   {growth / weights:.2f} x weights of {weights:.0f} MiB"
                failed |= growth > LIMIT * weights
            print(line, flush=True)
    print(f"[{'ERROR' if failed else 'INFO'}] limit: {LIMIT} x weights")
    return int(failed)


def write(args: argparse.Namespace) -> dict[str, float]:
    """Write the base checkpoint."""
    from lib.random_gr00t_n1d7 import write_random_checkpoint

    _imports()
    sizes = TinySizes(
        width=args.width,
        vision_width=512,
        vision_layers=2,
        language_layers=args.layers,
        action_width=args.width,
        action_layers=args.layers,
        heads=16,
    )
    return _measured(lambda: write_random_checkpoint(args.directory / "base", sizes))


def build(args: argparse.Namespace) -> dict[str, float]:
    """Build the policy from the base checkpoint."""
    _imports()
    return _measured(lambda: _build(args))


def save(args: argparse.Namespace) -> dict[str, float]:
    """Write the policy's weights as RLinf's actor does."""
    import torch

    _imports()
    return _measured(lambda: torch.save(_build(args).state_dict(), args.directory / "full_weights.pt"))


def build_and_load(args: argparse.Namespace) -> dict[str, float]:
    """Build the policy, then load the training checkpoint over it."""
    from isaaclab_rlinf.workers.weights import load_full_weights

    _imports()

    def work():
        model = _build(args)
        load_full_weights(model, str(args.directory / "full_weights.pt"))
        return model

    return _measured(work)


STEPS = {"write": write, "build": build, "save": save, "build_and_load": build_and_load}


def _build(args: argparse.Namespace):
    from isaaclab_rlinf.models.build import build_registered

    return build_registered(
        {
            "model_type": "gr00t_n1d7",
            "model_path": str(args.directory / "base"),
            "implementation": "lerobot",
            "precision": args.precision,
            "action_dim": 3,
            "num_action_chunks": 8,
        }
    )


def _imports() -> None:
    """Load everything that building imports, so that it is not counted."""
    import tempfile

    from isaaclab_rlinf.compat import prepare_worker_imports
    from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint

    prepare_worker_imports()
    sizes = TinySizes(width=32, vision_width=32, action_width=32, heads=2, patch=16)
    with tempfile.TemporaryDirectory() as place:
        make_tiny_checkpoint(Path(place) / "base", ["touch the red ball"], sizes=sizes)
        _build(argparse.Namespace(directory=Path(place), precision="fp32"))


def _measured(work) -> dict[str, float]:
    import torch

    before, started = _resident(), time.perf_counter()
    result = work()
    numbers = {"imports": before, "seconds": time.perf_counter() - started, "peak": _peak()}
    if isinstance(result, torch.nn.Module):
        numbers["weights"] = sum(parameter.nbytes for parameter in result.parameters()) / MIB
    return numbers


def _resident() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _in_child(name: str, args: argparse.Namespace, place: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--step", name, "--directory", place, "--precision", args.precision]
    command += ["--width", str(args.width), "--layers", str(args.layers)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
