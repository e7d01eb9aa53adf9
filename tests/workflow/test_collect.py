# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is recorded, from a simulator that hands out its live buffers; and what is left when it fails."""

from contextlib import contextmanager

import pytest
import torch
from live_env import STEPS, LiveEnv, expert, make_spec, opened

from isaaclab_rlinf.config.schema import ActionMapping
from isaaclab_rlinf.env import isaac_factory
from isaaclab_rlinf.mapping.actions import ActionMap, ActionTermInfo, map_actions
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.workflow.collect import CollectSettings, ExpertGaveUpError, collect_demonstrations
from isaaclab_rlinf.workflow.collect_recorder import EpisodeRecorder
from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations
from isaaclab_rlinf.workflow.partial_directory import leftovers, output_issues, partial_directory


@pytest.fixture
def collect(monkeypatch, tmp_path):
    """Collect into ``tmp_path/data`` from an environment."""

    def run(env, settings=CollectSettings(4), mapping=ActionMapping(), policy=expert, **callbacks):  # noqa: B008
        monkeypatch.setattr(isaac_factory, "open_isaac_env", opened(env))
        spec = make_spec(env.num_envs, mapping)
        return collect_demonstrations(spec, policy, tmp_path / "data", settings, **callbacks)

    return run


def test_every_frame_shows_its_own_moment(collect, tmp_path):
    told = []
    report = collect(LiveEnv(2), on_notice=told.append)
    assert (report.episodes, report.frames) == (4, 4 * STEPS) and told == ["a notice of the task"]
    data = load_demonstrations(tmp_path / "data")
    assert data.views == ("main_images", "extra_view_images_0")
    assert data.state[:, 2].tolist() == [0, 1, 2, 3] * 4
    assert torch.equal(data.images[:, 0, 0, 0].float(), 10 * data.state)
    assert torch.equal(data.images[:, 1, 0, 0].int(), 255 - data.images[:, 0, 0, 0].int())
    assert torch.equal(data.action, data.state[:, 1:])


def test_what_is_recorded_acts_right_under_the_action_mapping(collect, tmp_path):
    mapping = ActionMapping(prefix_pad=0, suffix_pad=1, pad_value=7.0, scale=(0.5, -2.0), offset=(1.0, 100.0))
    env = LiveEnv(2, width=3)
    collect(env, CollectSettings(4, action_noise=0.1, action_dim=2), mapping)
    data = load_demonstrations(tmp_path / "data")
    action_map = ActionMap.build(mapping, 2, (ActionTermInfo("joints", 3),))
    executable = map_actions(data.action[:, None], action_map)[:, 0]
    assert torch.allclose(executable[:, :2], data.state[:, 1:], atol=1e-4) and (executable[:, 2] == 7).all()
    executed = torch.cat(env.executed)
    assert (executed[:, 2] == 7).all(), "no model can disturb what the mapping pads"
    assert not torch.equal(executed[:, :2], executed[:, :2].round())


def test_a_base_made_of_them_acts_right_under_the_action_mapping(collect, tmp_path):
    from omegaconf import OmegaConf

    from isaaclab_rlinf.models.tiny_vla.builder import build_policy
    from isaaclab_rlinf.workflow.sft import SftSettings, train_sft

    mapping = ActionMapping(scale=0.1, offset=(10.0, 0.0))
    collect(LiveEnv(2), mapping=mapping)
    train_sft(tmp_path / "data", tmp_path / "base", SftSettings(steps=2, batch_size=4))
    policy = build_policy(
        OmegaConf.create({"model_path": str(tmp_path / "base"), "action_dim": 2, "num_action_chunks": 8})
    )
    data = load_demonstrations(tmp_path / "data")
    observation = {
        "main_images": data.images[:, 0],
        "extra_view_images": data.images[:, 1:],
        "states": data.state,
        "task_descriptions": list(data.tasks),
    }
    actions, _ = policy.predict_action_batch(observation, mode="eval")
    env_actions = map_actions(torch.as_tensor(actions), ActionMap.build(mapping, 2, (ActionTermInfo("joints", 2),)))
    seen = data.state[:, 1:]
    assert (env_actions >= seen.amin(0) - 1e-4).all() and (env_actions <= seen.amax(0) + 1e-4).all()


def test_columns_come_back_into_the_models_own_order(collect, tmp_path):
    collect(LiveEnv(1), CollectSettings(1, columns=(1, 0)))
    data = load_demonstrations(tmp_path / "data")
    assert torch.equal(data.action, data.state[:, [2, 1]])


@pytest.mark.parametrize(
    ("mapping", "policy", "message"),
    [
        (ActionMapping(suffix_pad=1), expert, r"is 7 in dim 2, but with this action_mapping a model can only give 0"),
        (ActionMapping(scale=(1.0, 0.0, 1.0)), expert, r"action_mapping\.scale is 0 in model dims \[1\]"),
        (ActionMapping(), lambda env, horizon: expert(env, horizon)[:, 0], r"shape \(2, 3\)"),
        (ActionMapping(), lambda env, horizon: None, "returned NoneType"),
        (ActionMapping(), lambda env, horizon: expert(env, horizon) / 0, "is nan in dim"),
        (ActionMapping(scale=1e-40), expert, "a model can only give"),
    ],
)
def test_what_no_model_could_answer_is_refused_and_leaves_nothing(collect, tmp_path, mapping, policy, message):
    with pytest.raises(MappingError, match=message):
        collect(LiveEnv(2, width=3), mapping=mapping, policy=policy)
    assert list(tmp_path.iterdir()) == []


def test_a_width_that_the_yaml_does_not_have_is_refused(collect, tmp_path):
    with pytest.raises(MappingError, match="action_dim"):
        collect(LiveEnv(2, width=3), CollectSettings(1, action_dim=2))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space left on device"), ZeroDivisionError])
def test_a_failure_or_ctrl_c_leaves_nothing_and_the_next_try_works(collect, tmp_path, monkeypatch, error):
    finish = EpisodeRecorder.finish

    def failing(self, index, *, keep):
        finish(self, index, keep=keep)
        if self.episodes == 2:
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(EpisodeRecorder, "finish", failing)
        with pytest.raises(error if isinstance(error, type) else type(error)):
            collect(LiveEnv(2))
    assert list(tmp_path.iterdir()) == []
    assert collect(LiveEnv(2)).episodes == 4
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_an_expert_that_gives_up_keeps_what_is_whole(collect, tmp_path):
    with pytest.raises(ExpertGaveUpError, match="succeeded in 0 of"):
        collect(LiveEnv(2, kinds="failure"), CollectSettings(1))
    assert list(tmp_path.iterdir()) == []

    class Rare(LiveEnv):
        def step(self, *args, **kwargs):
            result = super().step(*args, **kwargs)
            result.success[:] &= self.moment[:, 1] == 1
            return result

    with pytest.raises(ExpertGaveUpError, match=r"succeeded in 2 of \d+ episodes; those are in .*data, a whole"):
        collect(Rare(2), CollectSettings(3))
    assert load_demonstrations(tmp_path / "data").episodes == 2


def test_a_partial_directory_takes_its_name_at_the_end_only(tmp_path):
    out = tmp_path / "out"
    killed = tmp_path / ".out.1-abc.partial"
    killed.mkdir()
    (killed / "of a killed run").touch()
    with partial_directory(out) as partial:
        (partial / "file").touch()
        assert not out.exists() and len(leftovers(out)) == 2
    assert (out / "file").exists() and leftovers(out) == [killed] and (killed / "of a killed run").exists()
    with pytest.raises(FileExistsError, match="never overwritten"), partial_directory(out):
        pass
    assert (out / "file").exists()


def test_a_result_is_not_lost_when_its_place_was_taken_meanwhile(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(FileExistsError, match=r"the result is in (.*)") as caught, partial_directory(out) as partial:
        (partial / "file").touch()
        out.mkdir()
        (out / "another's").touch()
    assert str(partial) in str(caught.value) and (partial / "file").exists() and (out / "another's").exists()


def test_places_that_cannot_be_written_are_told_before_anything_starts(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out, found in (("file", "exists"), ("file/out", "is not a directory"), ("link", "exists")):
        (issue,) = output_issues(tmp_path / out)
        assert found in issue.found and issue.where == "--out"
    (tmp_path / "empty").mkdir()
    assert output_issues(tmp_path / "empty") == output_issues(tmp_path / "a" / "b") == []


def test_all_is_written_and_told_before_the_simulator_closes(monkeypatch, tmp_path):
    """Kit's closing ends the process: nothing that comes after it ever runs."""

    @contextmanager
    def kit(spec, report):
        yield LiveEnv(2)
        raise SystemExit(0)

    monkeypatch.setattr(isaac_factory, "open_isaac_env", kit)
    outcomes = []
    with pytest.raises(SystemExit):
        collect_demonstrations(make_spec(2), expert, tmp_path / "data", CollectSettings(2), on_end=outcomes.append)
    assert [outcome.episodes for outcome in outcomes] == [2]
    assert load_demonstrations(tmp_path / "data").state.shape[0] == 2 * STEPS


def test_an_error_of_the_opening_is_told_once(monkeypatch, tmp_path):
    @contextmanager
    def kit(spec, report):
        error = MappingError("the task has no camera 'front'")
        report(error)
        raise error
        yield

    monkeypatch.setattr(isaac_factory, "open_isaac_env", kit)
    outcomes = []
    with pytest.raises(MappingError):
        collect_demonstrations(make_spec(2), expert, tmp_path / "data", CollectSettings(2), on_end=outcomes.append)
    assert [str(outcome) for outcome in outcomes] == ["the task has no camera 'front'"]
    assert list(tmp_path.iterdir()) == []
