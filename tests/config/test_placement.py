# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where workers are placed on machines with GPUs, which are made up here: only their number is read."""

import shlex
from argparse import Namespace
from pathlib import Path

import pytest
from bases import only

from isaaclab_rlinf.backends import apply_args
from isaaclab_rlinf.backends.cli_args import parse_play_args, parse_train_args
from isaaclab_rlinf.backends.prepare import prepare_play, prepare_train
from isaaclab_rlinf.config import accelerators, validate
from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.placement import ranks_text, read_placement, world_sizes
from isaaclab_rlinf.config.validate import examine

GPUS = (1, 2, 4, 8)
PLACEMENT = "cluster.component_placement"
YAMLS = sorted((Path(validate.__file__).parents[1] / "tasks/touch_color/config").glob("*.yaml"))
ABOUT_NUMBERS = ("cluster.", "actor.micro_batch_size", "actor.global_batch_size", "env.")


@pytest.fixture
def machine(monkeypatch):
    """Give this machine a number of GPUs."""

    def with_gpus(count: int | None) -> None:
        monkeypatch.setattr(apply_args, "_GPU_DEVICES", ())  # torch must not be asked for what is not there
        for module in (accelerators, apply_args, validate):
            monkeypatch.setattr(module, "count_accelerators", lambda: count)

    return with_gpus


def about_numbers(issues):
    return [str(issue) for issue in issues if issue.where.startswith(ABOUT_NUMBERS)]


def outcome_of(source: Path, gpus: int, *overrides: str, mode: str = "train"):
    cfg = compose_config(source, overrides)
    migrate(cfg)
    return examine(cfg, source=source, mode=mode, num_accelerators=gpus)


# --- the bundled YAMLs


@pytest.mark.parametrize("gpus", GPUS)
def test_the_first_command_of_the_readme_is_a_valid_run(gpus, machine):
    machine(gpus)
    command = ["--config_name", "isaaclab_ppo_tiny_vla_touch_color"]
    sizes = {"actor": 1, "env": 1, "rollout": 1}
    for prepare, parse in ((prepare_train, parse_train_args), (prepare_play, parse_play_args)):
        run = prepare(parse(command))
        assert world_sizes(run.cfg.cluster.component_placement, 1, gpus) == (sizes, [])


@pytest.mark.parametrize("gpus", GPUS[1:])
def test_an_evaluation_runs_on_every_gpu_as_it_is_told(gpus, machine, bundled_yaml):
    machine(gpus)
    command = ["--config_name", str(bundled_yaml), "--num_episodes", "50"]
    (notice,) = prepare_play(parse_play_args(command)).notices
    assert f"uses 1 of {gpus} GPUs; {PLACEMENT}=all uses all" in notice
    run = prepare_play(parse_play_args([*command, f"{PLACEMENT}=all"]))
    assert run.episodes == 50 and run.cfg.env.eval.total_num_envs % gpus == 0
    assert run.notices == ()


@pytest.mark.parametrize("gpus", GPUS)
@pytest.mark.parametrize("source", YAMLS, ids=lambda path: path.stem)
def test_every_bundled_yaml_fits_any_number_of_gpus(source, gpus):
    for mode in ("train", "play"):
        assert about_numbers(outcome_of(source, gpus, mode=mode).issues) == []


@pytest.mark.parametrize("gpus", GPUS[1:])
@pytest.mark.parametrize("source", YAMLS, ids=lambda path: path.stem)
def test_the_notice_names_the_command_line_that_uses_every_gpu(source, gpus):
    (notice,) = (line for line in outcome_of(source, gpus).notices if line.startswith(PLACEMENT))
    assert f"uses 1 of {gpus} GPUs" in notice
    overrides = shlex.split(notice.partition("GPUs; ")[2].removesuffix(" uses all"))
    assert overrides[0] == f"{PLACEMENT}=all"
    outcome = outcome_of(source, gpus, *overrides)
    assert about_numbers(outcome.issues) == []
    assert not any(line.startswith(PLACEMENT) for line in outcome.notices)


@pytest.mark.parametrize("gpus", GPUS[1:])
@pytest.mark.parametrize("name", ["tiny_vla", "gr00t_n1d7"])
def test_the_documented_line_uses_every_gpu(name, gpus):
    (source,) = (path for path in YAMLS if f"ppo_{name}_" in path.name)
    guide = (Path(__file__).parents[2] / "docs/user_guide.md").read_text(encoding="utf-8")
    (line,) = (line for line in guide.splitlines() if f" {PLACEMENT}=all " in line and line.startswith("    "))
    overrides = [word for word in shlex.split(line) if "=" in word]
    outcome = outcome_of(source, gpus, *overrides)
    assert about_numbers(outcome.issues) == []
    assert not any(line.startswith(PLACEMENT) for line in outcome.notices)


@pytest.mark.parametrize(("gpus", "fewer"), [(4, "0-1"), (8, "0-1")])
def test_a_yaml_that_asks_for_too_many_gpus_is_refused_with_a_line_that_works(gpus, fewer, check, trocar_yaml):
    issues = check(source=trocar_yaml, accelerators=gpus).issues
    assert issues
    for issue in issues:
        assert issue.fix.endswith(f"{PLACEMENT}={fewer}")
    for ranks in (fewer, "0"):
        assert check(f"{PLACEMENT}={ranks}", source=trocar_yaml, accelerators=gpus).issues == ()


# --- one value for every component, and keys with commas


@pytest.mark.parametrize(
    ("value", "meant", "size"),
    [("all", "all", 4), ("0", 0, 1), ("2", 2, 1), ("0-3", "0-3", 4), ("'1,3'", "1,3", 2)],
)
def test_one_value_places_every_component(value, meant, size, bundled_yaml):
    cfg = compose_config(bundled_yaml, [f"{PLACEMENT}={value}"])
    assert migrate(cfg) == []
    assert cfg.cluster.component_placement == {"actor,env,rollout": meant}
    assert set(world_sizes(cfg.cluster.component_placement, 1, 4)[0].values()) == {size}


@pytest.mark.parametrize("value", ["null", "true", "foo", "1.5"])
def test_another_value_is_refused(value, bundled_yaml):
    (issue,) = (i for i in outcome_of(bundled_yaml, 0, f"{PLACEMENT}={value}").issues if "model" not in i.where)
    assert issue.where == PLACEMENT


@pytest.mark.parametrize(
    ("override", "advised"),
    [
        (f"{PLACEMENT}={{'actor,env,rollout': 0-3}}", [f"{PLACEMENT}=0-3"]),
        (f"{PLACEMENT}={{'actor,env,rollout': '0-3'}}", [f"{PLACEMENT}=0-3"]),
        (f"{PLACEMENT}.actor,env,rollout=0-3", [f"{PLACEMENT}=0-3"]),
        (f"{PLACEMENT}=0-1,2-3", [f"{PLACEMENT}='0-1,2-3'"]),
        (f"{PLACEMENT}=[0-1, 2-3]", [f"{PLACEMENT}='0-1,2-3'"]),
        (
            f"{PLACEMENT}={{actor: 0-1, env: 2-3, rollout: 0-1}}",
            [f"~{PLACEMENT}", f"+{PLACEMENT}={{actor: 0-1, env: 2-3, rollout: 0-1}}"],
        ),
    ],
)
def test_a_placement_that_hydra_cannot_set_is_refused_with_the_line_that_does(override, advised, bundled_yaml):
    args = parse_train_args(["--config_name", str(bundled_yaml), override])
    with pytest.raises(ConfigError) as error:
        prepare_train(args)
    (issue,) = error.value.issues
    assert issue.where.startswith(PLACEMENT) and shlex.split(issue.fix) == advised
    cfg = compose_config(bundled_yaml, advised)
    migrate(cfg)
    sizes, errors = world_sizes(cfg.cluster.component_placement, 1, 4)
    assert errors == [] and sizes["actor"] == (4 if len(advised) == 1 else 2)


def test_a_component_that_is_placed_twice_is_told_how_to_replace_the_mapping(check, bundled_yaml):
    issue = only(check(f"+{PLACEMENT}.env=0"))
    assert "env: placed twice" in issue.found
    overrides = shlex.split(issue.fix.partition("YAML's: ")[2])
    assert check(*overrides).issues == ()


# --- reading a placement


def test_ranks_are_written_as_a_placement_has_them():
    assert [ranks_text(ranks) for ranks in ([0], [3, 1, 2], [0, 2, 3, 5])] == ["0", "1-3", "0,2-3,5"]


def test_the_gpus_of_each_process():
    components, errors = read_placement({"actor": "1-2", "env": "0:0-1,3", "rollout": "0-3:0-1"}, 1, 4)
    assert errors == []
    assert components["actor"].processes == ((1,), (2,))
    assert components["env"].processes == ((0,), (0,), (3,))
    assert components["rollout"].processes == ((0, 1), (2, 3))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0,0", "ascending order, each once"),
        ("1,0", "ascending order, each once"),
        ({"node_group": "nodes", "placement": 0}, "did you mean 'node'?"),
        ({"node_group": "node"}, "placement beside it"),
        ({"node_group": "node", "placement": "0-3"}, "there are 1"),
    ],
)
def test_what_rlinf_would_refuse_late(value, told, check):
    assert told in only(check(placement={"actor,rollout": 0, "env": value}, accelerators=4)).found


def test_node_groups_of_ones_own():
    groups = [{"label": "fast", "node_ranks": 0}, {"label": "plain", "node_ranks": "0", "ignore_hardware": True}]
    placement = {
        "actor": {"node_group": "fast", "placement": "all"},
        "rollout": {"node_group": "cluster", "placement": "all"},
        "env": {"node_group": "plain", "placement": "0:0-2"},
    }
    components, errors = read_placement(placement, 1, 4, groups)
    assert errors == []
    assert [component.size for component in components.values()] == [4, 4, 3]
    assert [component.on_nodes for component in components.values()] == [False, False, True]


# --- processes that would share a GPU


@pytest.mark.parametrize(
    ("count", "gpus", "spread"), [(8, 8, "0-7"), (8, 4, "0-3:0-7"), (2, 8, "0-1"), (3, 2, "0:0-2"), (6, 4, "0-2:0-5")]
)
def test_simulators_on_a_node_would_all_use_its_first_gpu(count, gpus, spread, check):
    on_node = {"actor,rollout": 0, "env": {"node_group": "node", "placement": f"0:0-{count - 1}"}}
    numbers = [f"env.train.total_num_envs={count * 8}", f"env.eval.total_num_envs={count * 8}"]
    numbers += ["actor.micro_batch_size=1", "actor.global_batch_size=1"]
    issue = only(check(*numbers, placement=on_node, accelerators=gpus))
    assert "each would use its node's GPU 0" in issue.found
    assert issue.fix == f"env: {spread} spreads them; env: 0:0-{count - 1} shares GPU 0"
    for ranks in (spread, f"0:0-{count - 1}"):
        placement = {"actor,rollout": 0, "env": ranks}
        assert world_sizes(placement, 1, gpus)[0]["env"] == count
        assert check(*numbers, placement=placement, accelerators=gpus).issues == ()
    # one GPU is what they would share anyway, and simulators on the CPU share none
    assert check(*numbers, placement=on_node, accelerators=1).issues == ()
    assert check(*numbers, "+env.train.init_params.device=cpu", placement=on_node, accelerators=gpus).issues == ()


def test_ranks_of_an_actor_cannot_share_a_gpu(check):
    numbers = ("actor.micro_batch_size=64",)
    issue = only(check(*numbers, placement={"actor": "1:0-1", "env,rollout": 0}, accelerators=2))
    assert "several ranks on GPU 1" in issue.found and issue.fix == "actor: 1"
    assert check(*numbers, placement={"actor": "1", "env,rollout": 0}, accelerators=2).issues == ()
    assert check(*numbers, placement={"actor": "0:0-1", "env,rollout": 0}, accelerators=0).issues == ()


def test_gpus_that_a_process_has_and_does_not_use_are_told(check):
    outcome = check(placement={"actor,env": 0, "rollout": "0-3:0"}, accelerators=4)
    assert any("rollout: a process uses one GPU" in line and "GPU 1-3 is not used" in line for line in outcome.notices)


def test_several_machines_need_a_cluster(check, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert "RAY_ADDRESS" in only(check("cluster.num_nodes=2")).fix


# --- devices


@pytest.mark.parametrize("device", ["cuda:1", "cuda:7", "tpu", "CUDA"])
def test_flag_and_yaml_refuse_a_device_alike(device, machine, bundled_yaml, capsys):
    machine(8)
    with pytest.raises(SystemExit) as end:
        parse_train_args(["--config_name", "x", "--device", device])
    assert end.value.code == 2
    told = capsys.readouterr().err
    for mode in ("train", "eval"):
        override = f"+env.{mode}.init_params.device={device}"
        with pytest.raises(ConfigError) as error:
            prepare_train(parse_train_args(["--config_name", str(bundled_yaml), override]))
        (issue,) = error.value.issues
        assert issue.where == f"env.{mode}.init_params.device"
        assert str(issue).removeprefix(issue.where) in told
    if device == "cuda:1":
        assert f"{PLACEMENT}=1 puts the run on GPU 1" in told


def test_a_gpu_that_torch_cannot_use_ends_the_run_before_it_starts(machine, monkeypatch):
    import torch

    machine(1)
    monkeypatch.setattr(apply_args, "_GPU_DEVICES", ("/",))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for device in (None, "cuda"):
        with pytest.raises(ConfigError, match="unset CUDA_VISIBLE_DEVICES") as error:
            apply_args._simulator_device(device, "--device")
        assert "--device cpu" in error.value.issues[0].fix
    machine(0)
    monkeypatch.setattr(apply_args, "_GPU_DEVICES", ("/",))
    assert apply_args._simulator_device(None, "--device") == "cpu"


# --- CUDA_VISIBLE_DEVICES


@pytest.mark.parametrize(
    ("value", "ranks", "advised"),
    [
        ("3", "0", "3"),
        ("2,3", "0-1", "2-3"),
        ("3,1", "0-1", "'1,3'"),
        ("4,5,6,7", "all", "4-7"),
        ("1,2,3", "0-1", "1-2"),
        ("GPU-b", "0", "1"),
    ],
)
def test_hidden_gpus_are_not_taken(value, ranks, advised, check, monkeypatch):
    monkeypatch.setattr(accelerators, "_with_nvml", lambda query: ["GPU-a1", "GPU-b2", "GPU-c3"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    numbers = ("actor.micro_batch_size=1", "env.train.total_num_envs=64")
    issue = only(check(*numbers, f"{PLACEMENT}={ranks}", accelerators=8))
    assert f"CUDA_VISIBLE_DEVICES={value!r} leaves GPU" in issue.found
    (override,) = shlex.split(issue.fix.partition(", or unset")[0])
    assert override == f"{PLACEMENT}={advised}"
    assert check(*numbers, override, accelerators=8).issues == ()


@pytest.mark.parametrize(
    ("value", "told"), [("", "hides every GPU"), ("-1", "hides every GPU"), ("MIG-1-2", "a part of a GPU")]
)
def test_a_value_that_leaves_no_gpu(value, told, check, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert told in only(check(f"{PLACEMENT}=0", accelerators=2)).found
    assert check(f"{PLACEMENT}=0", accelerators=0).issues == ()


def test_a_value_that_leaves_what_is_placed_is_fine(check, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    outcome = check("actor.micro_batch_size=64", f"{PLACEMENT}=0", accelerators=8)
    assert outcome.issues == ()
    (notice,) = outcome.notices
    assert f"uses 1 of 2 GPUs; {PLACEMENT}=0-1 uses all" in notice


# --- how many GPUs there are


def nvml(count: int = 3, uuids: tuple[str, ...] = (), **results: int) -> Namespace:
    """Return a library that answers as NVML does, by writing to what it is given."""

    def answer(name, write):
        def function(*args):
            write(*args)
            return results.get(name, 0)

        return name, function

    def uuid(device, text, size):
        text.value = uuids[device.value - 1].encode()

    return Namespace(
        **dict(
            [
                answer("nvmlInit_v2", lambda: None),
                answer("nvmlShutdown", lambda: None),
                answer("nvmlDeviceGetCount_v2", lambda ref: setattr(ref._obj, "value", count)),
                answer("nvmlDeviceGetHandleByIndex_v2", lambda index, ref: setattr(ref._obj, "value", index.value + 1)),
                answer("nvmlDeviceGetUUID", uuid),
            ]
        )
    )


@pytest.mark.parametrize(
    ("library", "count"), [(nvml(3), 3), (nvml(3, nvmlInit_v2=9), 0), (nvml(3, nvmlDeviceGetCount_v2=1), 0)]
)
def test_gpus_are_counted_by_nvml(library, count, monkeypatch):
    monkeypatch.setattr(accelerators.ctypes, "CDLL", lambda name: library)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert accelerators.count_accelerators() == count
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert accelerators.count_accelerators() is None


def test_without_a_driver_there_are_none(monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for library in (absent, lambda name: Namespace(), lambda name: Namespace(nvmlInit_v2=lambda: 0)):
        monkeypatch.setattr(accelerators.ctypes, "CDLL", library)
        assert accelerators.count_accelerators() == 0


def test_visible_gpus_are_read_as_cuda_reads_them(monkeypatch):
    library = nvml(3, ("GPU-aa", "GPU-ab", "GPU-b"))
    monkeypatch.setattr(accelerators.ctypes, "CDLL", lambda name: library)
    read = {"0,2": (0, 2), "2,7,1": (2,), "GPU-b,0": (2, 0), "GPU-a": (), "GPU-ab": (1,), "NoDevFiles": ()}
    for value, gpus in read.items():
        assert accelerators.visible_gpus(value, 3) == gpus
    assert accelerators.visible_gpus("MIG-x", 3) is None
