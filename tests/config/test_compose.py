# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import pytest
from hydra.core.global_hydra import GlobalHydra

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError


@pytest.fixture
def broken(tmp_path, trocar_yaml):
    """Write the shipped YAML with one text replaced; returns its path."""

    def writer(old: str, new: str):
        text = trocar_yaml.read_text()
        assert old in text
        file = tmp_path / "broken.yaml"
        file.write_text(text.replace(old, new))
        return file

    return writer


def issues_of(*args):
    with pytest.raises(ConfigError) as error:
        compose_config(*args)
    return error.value.issues


def test_the_shipped_yaml_composes_with_its_hydra_section(trocar_yaml):
    cfg = compose_config(trocar_yaml)
    assert cfg.actor.fsdp_config.mixed_precision.param_dtype == "bf16"
    assert cfg.env.eval.isaaclab.main_images == "front_camera"
    assert "hydra" not in cfg


def test_overrides_apply_and_can_add(trocar_yaml):
    cfg = compose_config(trocar_yaml, ["algorithm.gamma=0.5", "+runner.weight_sync_interval=2", "~critic"])
    assert cfg.algorithm.gamma == 0.5
    assert cfg.runner.weight_sync_interval == 2
    assert "critic" not in cfg


def test_config_groups_beside_the_yaml(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/small.yaml").write_text("width: 8\n")
    (tmp_path / "model/large.yaml").write_text("width: 64\n")
    file = tmp_path / "main.yaml"
    file.write_text("defaults:\n  - model: small\n  - _self_\n\ndouble: ${model.width}\n")
    assert compose_config(file).double == 8
    assert compose_config(file, ["model=large"]).double == 64
    (issue,) = issues_of(file, ["model=lage"])
    assert "lage" in str(issue)


def test_a_missing_group_is_one_issue(broken):
    (issue,) = issues_of(broken("  - override hydra/job_logging: stdout", "  - model: foo"))
    assert issue.where == "defaults"
    assert "'model/foo'" in issue.found


def test_every_bad_override_is_reported_with_a_hint(trocar_yaml):
    first, second, third = issues_of(trocar_yaml, ["algorithm.gama=0.9", "runner.max_epochs=3", "foo", "+x.y=[1"])
    assert (first.where, second.where, third.where) == ("algorithm.gama", "foo", "x.y")
    assert "did you mean 'algorithm.gamma'" in first.fix
    assert "+algorithm.gama=0.9" in first.fix


@pytest.mark.parametrize("bad", ["max_epochs: [1000", "max_epochs: 1000\n  max_epochs: 1", "\tmax_epochs: 1000"])
def test_a_syntax_error_names_file_and_line(broken, trocar_yaml, bad):
    file = broken("max_epochs: 1000", bad)
    line = trocar_yaml.read_text().splitlines().index("  max_epochs: 1000") + 1
    (issue,) = issues_of(file)
    assert issue.file == file
    assert line <= issue.line <= line + 1


def test_a_list_is_not_a_configuration(tmp_path):
    file = tmp_path / "list.yaml"
    file.write_text("- a\n")
    (issue,) = issues_of(file)
    assert "ListConfig" in issue.found


def test_unresolved_interpolations_are_all_reported_with_their_cause(broken):
    issues = issues_of(broken('precision: "bf16"\n    trust', 'precison: "bf16"\n    trust'))
    by_path = {issue.where: issue for issue in issues}
    assert "${actor.model.precision} does not resolve" in by_path["rollout.model.precision"].found
    assert "actor.fsdp_config.mixed_precision.buffer_dtype" in by_path
    assert "did you mean 'precision'" in by_path["actor.model.precison"].fix


def test_hydra_state_of_the_caller_survives(trocar_yaml, tmp_path):
    from hydra import initialize_config_dir

    with initialize_config_dir(config_dir=str(tmp_path), version_base=None):
        before = GlobalHydra.instance().hydra
        compose_config(trocar_yaml)
        assert GlobalHydra.instance().hydra is before
