# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The doctor on made-up installations and machines, and once on this one."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.compat import gr00t_package
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.doctor import machine, needs, software
from isaaclab_rlinf.doctor.known_good import KNOWN_GOOD, RLINF_REVISION, markdown_table

LAYOUTS = {
    "gr00t": ("model/gr00t_n1.py", "experiment/data_config.py"),
    "gr00t_n1d6": ("model/gr00t_n1d6/gr00t_n1d6.py",),
    "gr00t_n1d7": ("model/gr00t_n1d7/gr00t_n1d7.py", "data/types.py"),
    "unknown": ("other.py",),
}
BUNDLED_YAML = "isaaclab_ppo_tiny_vla_touch_color"


def make_gr00t(root: Path, kind: str) -> None:
    """Write a package with the files of a generation, which says so when it is imported."""
    for name in ("__init__.py", *LAYOUTS[kind]):
        file = root / "gr00t" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("raise RuntimeError('imported')\n", encoding="utf-8")


@pytest.fixture
def versions(monkeypatch):
    """Return a dict of installed versions that the doctor sees; the default environment's to begin with."""
    known = {"python": "3.12.3", "isaaclab": "3.0.0", "rlinf": "0.3.0", "torch": "2.11.0+cu130", "ray": "2.60.0"}
    known |= {"transformers": "5.10.4", "tokenizers": "0.22.2", "huggingface-hub": "1.33.0", "diffusers": "0.39.0"}
    known |= {"peft": "0.21.2", "numpy": "2.2.6", "av": "15.1.0", "datasets": "4.8.5", "newton": "1.6.1"}
    known |= {"warp-lang": "1.17.0", "lerobot": "0.6.1"}
    for module in (software, needs, machine):
        monkeypatch.setattr(module, "version", known.get)
    return known


@pytest.fixture
def no_gr00t(monkeypatch):
    """Hide a gr00t package that is really there."""
    found = gr00t_package.package_dir
    monkeypatch.setattr(gr00t_package, "package_dir", lambda name: None if name == "gr00t" else found(name))


def by_subject(findings):
    return {finding.subject: finding for finding in findings}


def test_the_known_good_set_is_all_ok(versions):
    lines = by_subject(software.package_findings("default"))
    assert {name for name, line in lines.items() if line.status not in ("ok", "info")} == set()
    assert lines["torch"].found.startswith("2.11.0+cu130 (built")


def test_other_versions_are_warned_of_and_missing_ones_fail_with_the_repair(versions):
    versions["numpy"] = "2.3.1"
    del versions["ray"]
    lines = by_subject(software.package_findings("default"))
    assert (lines["numpy"].status, lines["numpy"].found, lines["numpy"].good) == ("warn", "2.3.1", ">=2,<2.3")
    assert lines["ray"].status == "fail" and "uv sync" in lines["ray"].fix


def test_a_gr00t_environment_is_held_to_its_own_versions(versions):
    lines = by_subject(software.package_findings("gr00t"))
    assert lines["transformers"].status == "warn" and lines["transformers"].good == "==4.51.3"
    assert lines["pytorch3d"].status == "fail" and "install_gr00t_n1d5.sh" in lines["pytorch3d"].fix
    assert lines["flash-attn"].status == "info", "flash-attn can be done without"
    assert "lerobot" not in lines and "pytorch3d" not in by_subject(software.package_findings("gr00t_n1d7"))


@pytest.mark.parametrize("kind", LAYOUTS)
def test_the_generation_is_told_from_files_without_importing(kind, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    make_gr00t(tmp_path, kind)
    assert gr00t_package.gr00t_generation() == kind
    assert software.environment_kind() == (kind if kind in ("gr00t", "gr00t_n1d7") else "default")
    line = by_subject(software.package_findings("default"))["gr00t (NVIDIA)"]
    assert line.status == {"unknown": "warn", "gr00t_n1d6": "info"}.get(kind, "ok")
    assert "gr00t" not in sys.modules


def test_an_unfinished_gr00t_environment_is_known_by_the_installers_mark(no_gr00t, tmp_path, monkeypatch):
    monkeypatch.setattr(software.sys, "prefix", str(tmp_path / "venv"))
    assert software.environment_kind() == "default"
    (tmp_path / software.INSTALLER_MARK).write_text("n1d7\n", encoding="utf-8")
    assert software.environment_kind() == "gr00t_n1d7"
    installer = Path(__file__).parents[2] / "scripts/lib/gr00t_install.sh"
    assert software.INSTALLER_MARK in installer.read_text(encoding="utf-8")


def make_distribution(root: Path, name: str, origin: dict | None) -> None:
    info = root / f"{name}-0.3.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.3.0\n", encoding="utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")


def test_where_rlinf_came_from(tmp_path, monkeypatch):
    url = "https://github.com/RLinf/RLinf.git"
    cases = {
        "release": None,
        "the one that Isaac Lab documents": {"url": url, "vcs_info": {"vcs": "git", "commit_id": RLINF_REVISION}},
        "another revision: abc": {"url": url, "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        "directory /src/RLinf": {"url": "file:///src/RLinf", "dir_info": {"editable": True}},
    }
    for number, (text, origin) in enumerate(cases.items()):
        root = tmp_path / str(number)
        make_distribution(root, "rlinf", origin)
        monkeypatch.syspath_prepend(root)
        assert text in by_subject(software.package_findings("default"))["rlinf"].found


def test_a_checkout_at_another_revision_is_warned_of(tmp_path, monkeypatch):
    make_gr00t(tmp_path / "repo", "gr00t_n1d7")
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/.git/HEAD").write_text("ab" * 20 + "\n", encoding="utf-8")
    make_distribution(tmp_path / "site", "gr00t", {"url": f"file://{tmp_path}/repo", "dir_info": {"editable": True}})
    for path in ("repo", "site"):
        monkeypatch.syspath_prepend(tmp_path / path)
    line = by_subject(software.package_findings("gr00t_n1d7"))["gr00t (NVIDIA)"]
    assert line.status == "warn" and "abab" in line.found and "1a1837f" in line.good


def statuses(model_type, implementation=None):
    return [line.status for line in needs.model_findings(model_type, implementation)]


def test_what_each_model_type_needs(versions, no_gr00t, monkeypatch):
    assert statuses("tiny_vla") == ["ok"] and statuses("mlp_policy") == ["ok"] and statuses("mine") == ["info"]
    for model_type, repair in (
        ("gr00t", "install_gr00t_n1d5.sh"),
        ("gr00t_n1d6", "--model gr00t_n1d6"),
        ("openvla_oft", "--model openvla-oft"),
        ("openpi", "--model openpi"),
    ):
        (line,) = needs.model_findings(model_type)
        assert line.status == "fail" and repair in line.fix
    assert statuses("gr00t_n1d7") == statuses("gr00t_n1d7", "lerobot") == ["ok"]
    assert "install_gr00t_n1d7.sh" in needs.model_findings("gr00t_n1d7", "isaac_gr00t")[0].fix
    assert statuses("gr00t_n1d7", "nvidia") == ["fail"]
    monkeypatch.setattr(needs, "lerobot_has_n1d7", lambda: False)
    assert statuses("gr00t_n1d7") == ["fail"]


def test_nvidias_code_needs_its_transformers(versions, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    make_gr00t(tmp_path, "gr00t")
    assert statuses("gr00t") == ["ok", "fail"]
    versions["transformers"] = "4.51.3"
    assert statuses("gr00t") == ["ok"] and statuses("tiny_vla") == ["fail"]
    (line,) = needs.model_findings("gr00t_n1d7", "isaac_gr00t")
    assert line.status == "fail" and "gr00t is N1.5" in line.found


def test_a_checkpoint_of_another_kind_fails(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "gr00t_n1_5"}', encoding="utf-8")
    assert [line.status for line in needs.checkpoint_findings(tmp_path, "--model_path", "gr00t")] == ["ok"]
    (line,) = needs.checkpoint_findings(tmp_path, "--model_path", "gr00t_n1d7")
    assert line.status == "fail" and "model_type: gr00t" in line.fix
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.json in .* cannot be read"):
        needs.checkpoint_findings(tmp_path, "--model_path", None)


def fake_nvml(cuda: int) -> types.ModuleType:
    """Return a stand-in for pynvml with one GPU whose driver knows a version of CUDA."""
    nvml = types.ModuleType("pynvml")
    nvml.NVMLError = OSError
    nvml.nvmlInit = nvml.nvmlShutdown = lambda: None
    nvml.nvmlDeviceGetCount = lambda: 1
    nvml.nvmlDeviceGetHandleByIndex = lambda index: index
    nvml.nvmlDeviceGetName = lambda handle: "GPU of the test"
    nvml.nvmlDeviceGetMemoryInfo = lambda handle: types.SimpleNamespace(total=80 * 2**30, free=79 * 2**30)
    nvml.nvmlSystemGetCudaDriverVersion = lambda: cuda * 1000 + 40
    nvml.nvmlSystemGetDriverVersion = lambda: "580.1"
    nvml.__spec__ = types.SimpleNamespace(name="pynvml")
    return nvml


@pytest.mark.parametrize(("cuda", "status"), [(12, "fail"), (13, "ok")])
def test_gpu_and_driver_against_torchs_cuda(cuda, status, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(cuda))
    monkeypatch.setattr(machine, "torch_cuda_major", lambda: 13)
    lines = by_subject(machine.machine_findings())
    assert lines["GPU 0"].found == "GPU of the test, 79 of 80 GiB free"
    assert lines["GPU driver"].status == status


@pytest.mark.parametrize(
    ("query", "subject", "found", "status"),
    [
        ("nvmlDeviceGetMemoryInfo", "GPU 0", "GPU of the test, memory unknown", "ok"),
        ("nvmlDeviceGetName", "GPU 0", "name unknown, 79 of 80 GiB free", "ok"),
        ("nvmlDeviceGetHandleByIndex", "GPU 0", "cannot be reached (Not Supported)", "warn"),
        ("nvmlDeviceGetCount", "GPU", "NVML does not say how many (Not Supported)", "warn"),
        ("nvmlSystemGetDriverVersion", "GPU driver", "version unknown, up to CUDA 13", "ok"),
        ("nvmlSystemGetCudaDriverVersion", "GPU driver", "580.1; NVML does not say which CUDA it knows", "info"),
    ],
)
def test_what_nvml_does_not_answer_is_unknown(query, subject, found, status, monkeypatch):
    nvml = fake_nvml(13)

    def refuse(*_):
        raise nvml.NVMLError("Not Supported")

    setattr(nvml, query, refuse)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(machine, "torch_cuda_major", lambda: 13)
    line = by_subject(machine.machine_findings())[subject]
    assert (line.found, line.status) == (found, status)


@pytest.mark.parametrize(
    ("value", "found", "status"),
    [
        ("0,1", "'0,1' leaves GPU 0-1", "ok"),
        ("1", "'1' leaves GPU 1", "info"),
        ("", "'' leaves no GPU", "info"),
        ("MIG-x", "'MIG-x' leaves parts of GPUs", "info"),
    ],
)
def test_hidden_gpus_are_told(value, found, status, monkeypatch):
    monkeypatch.setattr(machine, "count_accelerators", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    line = by_subject(machine.machine_findings())["CUDA_VISIBLE_DEVICES"]
    assert (line.found, line.status) == (found, status)
    monkeypatch.setattr(machine, "count_accelerators", lambda: 0)
    assert "CUDA_VISIBLE_DEVICES" not in by_subject(machine.machine_findings())


def test_small_shared_memory_and_wrong_preload(monkeypatch):
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: types.SimpleNamespace(total=64e6, free=64e6))
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("LD_PRELOAD", "/lib/aarch64-linux-gnu/libgomp.so.1")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    lines = by_subject(machine.machine_findings())
    assert lines["/dev/shm"].status == "warn" and "--shm-size" in lines["/dev/shm"].fix
    assert lines["LD_PRELOAD"].status == "fail" and lines["Ray cluster"].status == "info"
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    assert by_subject(machine.machine_findings())["LD_PRELOAD"].status == "ok"


def test_exit_codes(no_gr00t, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "--config_name", BUNDLED_YAML]) == 0
    assert "model_type tiny_vla" in capsys.readouterr().out
    assert main(["doctor", "--config_name", "isaaclab_ppo_gr00t_n1d7_touch_color"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "actor.model.model_path: 'gr00t_touch_color' is not a directory" in told and "--model_path DIR" in told
    assert main(["doctor", "--model_type", "gr00t"]) == 1
    assert "scripts/install_gr00t_n1d5.sh" in capsys.readouterr().out
    assert main(["doctor", "--config_name", "no_such_yaml"]) == 2
    assert main(["doctor", "--model_path", str(tmp_path / "none")]) == 2
    assert main(["doctor", "--config_name", BUNDLED_YAML, "--model_type", "gr00t"]) == 2


def test_nothing_heavy_is_imported():
    heavy = ("torch", "transformers", "ray", "rlinf", "isaaclab", "lerobot", "gymnasium")
    code = (
        "import sys; from isaaclab_rlinf.cli import main; code = main(['doctor', '--model_type', 'gr00t_n1d7']);"
        f"assert code == 0; print('HEAVY', [name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "HEAVY []" in done.stdout


def test_the_documentation_holds_the_table():
    text = (Path(__file__).parents[2] / "docs/installation.md").read_text(encoding="utf-8")
    assert markdown_table() in text
    assert len({entry.package for entry in KNOWN_GOOD}) == len(KNOWN_GOOD)


@pytest.mark.parametrize(
    ("found", "answer", "status"),
    [(None, None, "info"), ("6.0.1.0", None, "warn"), ("6.0.1.0", "no", "warn"), ("6.0.1.0", "YES", "ok")],
)
def test_isaac_sim_asks_for_its_license_where_nobody_answers(versions, no_gr00t, monkeypatch, found, answer, status):
    versions["isaacsim"] = found
    monkeypatch.delenv("OMNI_KIT_ACCEPT_EULA", raising=False)
    if answer is not None:
        monkeypatch.setenv("OMNI_KIT_ACCEPT_EULA", answer)
    finding = by_subject(software.package_findings("default"))["Isaac Sim"]
    assert finding.status == status
    assert ("OMNI_KIT_ACCEPT_EULA=YES" in finding.fix) == (status == "warn")
