# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The GR00T installers against recording stand-ins of uv, git and uname: nothing is downloaded."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from isaaclab_rlinf.doctor.known_good import GR00T_REVISIONS, KNOWN_GOOD, RLINF_REVISION

SCRIPTS = Path(__file__).parents[2] / "scripts"
N1D5, N1D7 = SCRIPTS / "install_gr00t_n1d5.sh", SCRIPTS / "install_gr00t_n1d7.sh"
RECORD = 'printf "%s %s\\n" "$(basename "$0")" "$*" >>"$LOG"\n'
FAIL = 'if [[ -n ${FAIL_ON:-} && "$*" == *"$FAIL_ON"* ]]; then echo "no route to host" >&2; exit 3; fi\n'
# an environment whose python and command record their calls too
UV = """
if [[ $1 == venv ]]; then
  mkdir -p "${@: -1}/bin"
  for name in python isaaclab-rlinf; do cp "$RECORDER" "${@: -1}/bin/$name"; done
fi
"""
GIT = """
if [[ $1 == init ]]; then mkdir -p "${@: -1}/.git"; fi
"""


@pytest.fixture
def machine(tmp_path: Path):
    """Return a function that runs an installer with stand-ins on PATH: (script, *args, arch=, fail_on=, without=)."""
    tools, log = tmp_path / "tools", tmp_path / "calls.log"
    tools.mkdir()

    def tool(name: str, body: str) -> Path:
        path = tools / name
        path.write_text(f"#!/bin/bash\n{body}", encoding="utf-8")
        path.chmod(0o755)
        return path

    recorder = tool("recorder", RECORD + FAIL)
    bodies = {"uv": RECORD + FAIL + UV, "git": RECORD + FAIL + GIT, "nvcc": "exit 0\n"}

    def run(script: Path, *args: str, arch: str = "x86_64", fail_on: str = "", without: tuple[str, ...] = ()):
        for name, body in bodies.items():
            tool(name, body)
        for name in without:
            (tools / name).unlink()
        tool("uname", f"echo {arch}\n")
        log.write_text("", encoding="utf-8")
        system = tmp_path / "system"  # what a bare system has, so that `without` means without
        system.mkdir(exist_ok=True)
        for name in ("bash", "env", "cat", "mkdir", "basename", "dirname", "cksum", "sed", "ls", "rm", "cp"):
            if not (system / name).exists():
                (system / name).symlink_to(shutil.which(name))
        env = {"PATH": f"{tools}:{system}", "LOG": str(log), "RECORDER": str(recorder), "FAIL_ON": fail_on}
        env["CUDA_HOME"] = str(tmp_path)
        done = subprocess.run([script, *args], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
        return done, log.read_text(encoding="utf-8").splitlines()

    return run


def in_order(text: str, *parts: str) -> None:
    """Assert that the parts stand in a text, one after the other."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is missing or too early in:\n{text}"
        at = found + len(part)


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("flash", [True, False])
def test_dry_run_of_n1d5_prints_the_pins_in_order(machine, tmp_path, arch, flash):
    done, calls = machine(N1D5, "--dry-run", *(() if flash else ("--no-flash-attn",)), "here", arch=arch)
    assert done.returncode == 0, done.stderr
    in_order(
        done.stdout,
        *(() if arch == "x86_64" else ("export LD_PRELOAD=/lib/aarch64-linux-gnu/libgomp.so.1",)),
        f"uv venv --allow-existing --python 3.12 {tmp_path}/here/venv",
        "transformers==4.51.3\ntokenizers>=0.21,<0.22\nhuggingface-hub>=0.30,<1.0\n",
        "--editable",
        "decord2",
        "--no-deps 'rlinf @ git+https://github.com/RLinf/RLinf.git@0f9ea98c7a6d9e3ade24e8f4846c64d3b135dbcc'",
        "PYTORCH3D_NO_EXTENSION=1",
        "pytorch3d.git@v0.7.9",
        "fetch --depth 1 https://github.com/NVIDIA/Isaac-GR00T.git 4af2b622892f7dcb5aae5a3fb70bcb02dc217b96",
        "--no-deps --editable",
        "flash-attn==2.8.3" if flash else "gr00t_n1d5_sdpa.py",
        "activate.sh holds",
        "doctor --model_type gr00t",
    )
    assert ("flash-attn==" in done.stdout) == flash
    assert ("LD_PRELOAD" in done.stdout) == (arch == "aarch64")
    assert not (tmp_path / "here").exists() and calls == []


@pytest.mark.parametrize("flash", [True, False])
def test_dry_run_of_n1d7_prints_the_pins_in_order(machine, tmp_path, flash):
    done, calls = machine(N1D7, "--dry-run", *(() if flash else ("--no-flash-attn",)))
    assert done.returncode == 0, done.stderr
    in_order(
        done.stdout,
        f"{tmp_path}/gr00t_n1d7/venv",
        "transformers==4.57.3\ntokenizers>=0.22,<0.23\nhuggingface-hub>=0.34,<1.0\n",
        "decord2 tyro",
        "RLinf.git@0f9ea98c7a6d9e3ade24e8f4846c64d3b135dbcc",
        "'gr00t @ git+https://github.com/NVIDIA/Isaac-GR00T.git@1a1837f20538b7d7e21f977a11a5aee14f99803c'",
        "flash-attn==2.8.3" if flash else "SDPA by itself",
        "doctor --model_type gr00t_n1d7",
    )
    assert "pytorch3d" not in done.stdout and calls == []


@pytest.mark.parametrize(("script", "kind"), [(N1D5, "gr00t"), (N1D7, "gr00t_n1d7")])
def test_pins_are_those_of_the_doctor(machine, script, kind):
    text = machine(script, "--dry-run")[0].stdout
    assert RLINF_REVISION in text and GR00T_REVISIONS[kind] in text
    for entry in KNOWN_GOOD:
        if entry.package in ("transformers", "tokenizers", "huggingface-hub", "diffusers", "peft", "numpy", "av"):
            assert f"\n{entry.package}{entry.specifier(kind)}\n" in text


def test_a_run_does_the_steps_in_order_and_a_second_run_only_checks(machine, tmp_path):
    done, calls = machine(N1D5, "env")
    assert done.returncode == 0, done.stderr
    in_order(
        "\n".join(calls),
        "uv venv",
        f"uv pip install --python {tmp_path}/env/venv/bin/python --override {tmp_path}/env/pins.txt",
        "uv pip install",
        "RLinf.git",
        "pytorch3d.git@v0.7.9",
        "git init",
        "fetch --depth 1",
        "checkout --quiet --detach 4af2b622892f7dcb5aae5a3fb70bcb02dc217b96",
        "--editable",
        "flash-attn==2.8.3",
        "isaaclab-rlinf doctor --model_type gr00t",
    )
    assert "transformers==4.51.3" in (tmp_path / "env/pins.txt").read_text(encoding="utf-8")
    assert "LD_PRELOAD" not in (tmp_path / "env/activate.sh").read_text(encoding="utf-8")
    again, calls = machine(N1D5, "env")
    assert again.returncode == 0 and calls == ["isaaclab-rlinf doctor --model_type gr00t"]
    assert again.stdout.count("[done]") == done.stdout.count("[step]") == 10


def test_aarch64_activates_with_openmp_first(machine, tmp_path):
    if not Path("/lib/aarch64-linux-gnu/libgomp.so.1").exists():
        done, calls = machine(N1D7, "env", arch="aarch64")
        assert done.returncode == 2 and "apt-get install libgomp1" in done.stderr and calls == []
    text = machine(N1D7, "--dry-run", "env", arch="aarch64")[0].stdout
    in_order(text, "activate.sh holds", "venv/bin/activate", "export LD_PRELOAD=/lib/aarch64-linux-gnu/libgomp.so.1")


def test_a_failing_step_is_explained_and_the_next_run_goes_on_from_there(machine, tmp_path):
    done, calls = machine(N1D7, "--no-flash-attn", "env", fail_on="RLinf.git")
    assert done.returncode == 1
    in_order(
        done.stderr,
        "no route to host",
        "[FAILED] RLinf at the revision",
        "command:  uv pip install",
        "exit code 3",
        "likely causes:",
        "GitHub cannot be reached",
        f"{N1D7} --no-flash-attn env",
    )
    assert not any("Isaac-GR00T.git" in call for call in calls)
    again, calls = machine(N1D7, "--no-flash-attn", "env")
    assert again.returncode == 0
    assert "RLinf.git" in calls[0] and not any("uv venv" in call or "--override" in call for call in calls)


def test_a_doctor_that_finds_something_missing_fails_the_run(machine):
    done, _ = machine(N1D7, "--no-flash-attn", "env", fail_on="doctor --model_type")
    assert done.returncode == 1 and "the environment is incomplete" in done.stderr and "[ready]" not in done.stdout


def test_switching_attention_redoes_only_attention(machine):
    assert machine(N1D5, "--no-flash-attn", "env")[0].returncode == 0
    _, calls = machine(N1D5, "env")
    assert len(calls) == 3
    assert "-- gr00t/model/backbone/eagle2_hg_model" in calls[0] and "flash-attn==2.8.3" in calls[1]
    _, calls = machine(N1D5, "--no-flash-attn", "env")
    assert len(calls) == 2 and "gr00t_n1d5_sdpa.py" in calls[0]


def test_another_python_does_not_replace_the_interpreter_of_an_environment(machine):
    machine(N1D7, "--no-flash-attn", "env")
    _, calls = machine(N1D7, "--no-flash-attn", "--python", "/usr/bin/python3", "env")
    assert calls == ["isaaclab-rlinf doctor --model_type gr00t_n1d7"]


def test_a_removed_checkout_is_fetched_again(machine, tmp_path):
    machine(N1D5, "--no-flash-attn", "env")
    shutil.rmtree(tmp_path / "env/Isaac-GR00T")
    _, calls = machine(N1D5, "--no-flash-attn", "env")
    assert [call.split()[0] for call in calls] == ["git", "git", "git", "uv", "python", "isaaclab-rlinf"]


def test_directories_of_others_are_left_alone(machine, tmp_path):
    mine = tmp_path / "mine"
    (mine / "venv").mkdir(parents=True)
    done, calls = machine(N1D5, "mine")
    assert done.returncode == 2 and "stays as it is" in done.stderr and calls == []
    assert list(mine.iterdir()) == [mine / "venv"]
    machine(N1D5, "env")
    done, calls = machine(N1D7, "env")
    assert done.returncode == 2 and "for n1d5, not for n1d7" in done.stderr and calls == []


def test_everything_missing_is_said_at_once(machine, tmp_path):
    done, _ = machine(N1D5, "env", without=("uv", "git", "nvcc"))
    assert done.returncode == 2
    in_order(done.stderr, "uv is not installed", "git is not installed", "nvcc is not found", "--no-flash-attn")
    assert not (tmp_path / "env").exists()
    assert machine(N1D5, "--dry-run", arch="riscv64")[0].returncode == 2
    assert machine(N1D5, "--dru-run")[0].returncode == 2
    assert "Usage:" in machine(N1D5, "--help")[0].stdout


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck():
    files = sorted([*SCRIPTS.glob("*.sh"), *SCRIPTS.glob("lib/*.sh")])
    done = subprocess.run(["shellcheck", "-x", *files], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stdout
