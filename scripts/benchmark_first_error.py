# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Time from a command to the report of a mistake in the task YAML: a camera that the task does not have.

Four commands in turns, medians over the rounds: Isaac Lab's command with a backend that does nothing (what the host
itself costs), `isaaclab train` with our backend, `isaaclab-rlinf check`, and `isaaclab train` with the backend that is
built into isaaclab (fewer rounds: it is slow). What each command ends with is printed.

    uv run python scripts/benchmark_first_error.py
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import isaaclab_rlinf

NAME = "isaaclab_ppo_tiny_vla_touch_color"
SHIPPED = Path(isaaclab_rlinf.__file__).parent / "tasks" / "touch_color" / "config" / f"{NAME}.yaml"
MISTAKE = ("main_images: front_camera", "main_images: front_camra")
KNOWN_MODEL = "mlp_policy"
"""A model type that RLinf knows by itself: the built-in backend stops at ours before it reads anything else."""
HOST = "import sys; from isaaclab.__main__ import main; sys.argv[0] = 'isaaclab'; "
NO_OP = HOST + "from isaaclab_rl.entrypoints import dispatch; dispatch._run_backend = lambda module, argv: 0; main()"
BUILT_IN = HOST + "from isaaclab_rlinf.compat import isaaclab_dispatch as d; d.route_backends = lambda *a: None; main()"


def main() -> None:
    """Measures every command in turns and prints medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--built_in_rounds", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds after which a command is given up")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        text = SHIPPED.read_text().replace(*MISTAKE)
        Path(place, f"{NAME}.yaml").write_text(text)
        Path(place, "built_in.yaml").write_text(text.replace("model_type: tiny_vla", f"model_type: {KNOWN_MODEL}"))
        config = ["--config_name", NAME, "--config_path", place]
        train = ["train", "--rl_library", "rlinf", *config]
        built_in = ["train", "--rl_library", "rlinf", "--config_name", "built_in", "--config_path", place]
        commands = {
            "host, no-op backend": [sys.executable, "-c", NO_OP, *train],
            "isaaclab train": [sys.executable, "-m", "isaaclab", *train],
            "isaaclab-rlinf check": [sys.executable, "-m", "isaaclab_rlinf.cli", "check", *config],
            "isaaclab's built-in": [sys.executable, "-c", BUILT_IN, *built_in],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(args.rounds):
            for name, command in commands.items():
                if name != "isaaclab's built-in" or turn < args.built_in_rounds:
                    times[name].append(seconds(name, command, place, args.timeout, first=turn == 0))
    host = statistics.median(times["host, no-op backend"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:22}{median:8.2f} s  {median / host:6.2f} of the host's  {median - host:+8.2f} s")


def seconds(name: str, command: list[str], place: str, timeout: float, *, first: bool) -> float:
    """Returns how long a command takes, and in the first round prints what it ends with."""
    start = time.perf_counter()
    try:
        ended = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=timeout)
        code, output = ended.returncode, ended.stdout + ended.stderr
    except subprocess.TimeoutExpired as expired:
        code, output = None, (expired.stdout or b"").decode() + (expired.stderr or b"").decode()
    taken = time.perf_counter() - start
    found = "front_camra" in output
    if first:
        last = [line for line in output.splitlines() if line.strip()][-1:] or ["(no output)"]
        print(f"{name}: exit code {code}, names the mistake: {'yes' if found else 'no'}, last line: {last[0]}")
    return taken


if __name__ == "__main__":
    main()
