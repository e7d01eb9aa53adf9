# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Each way to break the contract is caught by the check that is meant for it, and says how to repair it."""

import policies
import pytest
import torch

from isaaclab_rlinf.testing import PolicyContractError, check_policy, example_env_obs

OBS = example_env_obs(batch=4, image_size=8, state_dim=policies.STATE)


def check(make, **kwargs):
    arguments = {"env_obs": OBS, "model_cfg": policies.CFG, "build": make, "ranks": 0, **kwargs}
    return check_policy(make(), **arguments)


def findings(make, **kwargs):
    with pytest.raises(PolicyContractError) as error:
        check(make, **kwargs)
    return error.value.findings


def test_a_good_policy_passes_and_is_left_as_it_was():
    policy = policies.Good()
    before = {key: value.clone() for key, value in policy.state_dict().items()}
    state = torch.get_rng_state()
    report = check_policy(policy, env_obs=OBS, model_cfg=policies.CFG, build=policies.Good, ranks=0)
    assert report.not_run == {"sharding": "left out by ranks=0"}
    assert len(report.passed) == 10 and not report.exempted and not report.notes
    assert report.measured["logprob_error"] < 1e-5
    assert all(torch.equal(value, before[key]) for key, value in policy.state_dict().items())
    assert all(parameter.grad is None for parameter in policy.parameters())
    assert torch.equal(torch.get_rng_state(), state)
    assert "passed: interface" in str(report)


CASES = {
    policies.NoForward: ("interface", "forward = BasePolicy.forward"),
    policies.AbstractFirst: ("interface", "put BasePolicy, an ABC, last"),
    policies.NestedValueHead: ("interface", "'head.value_head'"),
    policies.Frozen: ("interface", "unfreeze"),
    policies.UnnamedLayers: ("wrap_classes", "_no_split_modules"),
    policies.Padded: ("rollout", "(4, 4, 6)"),
    policies.DoubleActions: ("rollout", "float64"),
    policies.NotFinite: ("rollout", "not finite"),
    policies.NoLogprobs: ("rollout", "prev_logprobs is NoneType"),
    policies.SummedLogprobs: ("rollout", "prev_logprobs has shape (4,)"),
    policies.CoarseLogprobs: ("rollout", "bfloat16"),
    policies.FlatValues: ("rollout", "prev_values has shape (4,)"),
    policies.TextInputs: ("rollout", "forward_inputs['prompt'] is list; forward_inputs['time'] is shape ()"),
    policies.KeepsGraph: ("rollout", "@torch.no_grad()"),
    policies.ChangesObservation: ("rollout", "env_obs ['states'] changed"),
    policies.NoMode: ("rollout", "unexpected keyword argument 'mode'"),
    policies.NoExploration: ("exploration", "nothing to reinforce"),
    policies.IgnoresMode: ("eval", "two eval-mode calls differ"),
    policies.BatchStatistics: ("eval", "with the rows beside it"),
    policies.ClampedActions: ("ratio", "before clamping"),
    policies.FreshNoise: ("ratio", "no random draw"),
    policies.Dropout: ("train_mode", "Dropout(p=0.3)"),
    policies.Detached: ("gradients", "logprobs have no gradient"),
    policies.DetachedMean: ("gradients", "move no parameter"),
    policies.ConstantValues: ("gradients", "no gradient"),
    policies.RandomInit: ("build", "differ between two builds"),
    policies.HiddenState: ("state_dict", "eval actions differ"),
}


@pytest.mark.parametrize("build", CASES, ids=lambda build: build.__name__)
def test_every_fault_is_named(build):
    name, text = CASES[build]
    found = findings(build)
    assert any(finding.check == name and text in str(finding) for finding in found), "\n".join(map(str, found))
    assert all(finding.fix and finding.expected for finding in found)


def test_all_faults_are_listed_at_once():
    class Several(policies.DoubleActions, policies.Dropout):
        forward = torch.nn.Module.forward

    found = findings(Several, build=None)
    assert {"interface", "rollout"} <= {finding.check for finding in found}
    with pytest.raises(PolicyContractError, match=r"in \d points:"):
        check(Several, build=None)


def test_misnamed_wrap_classes_are_suggested():
    (finding,) = findings(policies.Good, fsdp_config={"wrap_policy": {"transformer_layer_cls_to_wrap": ["Layr"]}})
    assert finding.check == "wrap_classes" and "'Layr'" in finding.found and "did you mean 'Layer'" in finding.fix
    (finding,) = findings(policies.Good, fsdp_config={"wrap_policy": {"no_split_names": ["head"]}})
    assert "_fsdp_wrap_name" in finding.found


def test_missing_value_head():
    found = findings(policies.OtherCritic, build=None)
    assert any("the policy has no value_head" in finding.found for finding in found)
    assert any("optim.value_lr" in finding.fix for finding in found)


def test_opt_outs_excuse_what_they_name_and_nothing_else():
    report = check(policies.Dropout, exempt=["train_mode_noise"])
    assert [finding.check for finding in report.exempted] == ["train_mode"] and "train_mode" not in report.passed
    with pytest.raises(ValueError, match=r"exempt names \['dropout'\]; allowed: \['flat_logprobs'"):
        check(policies.Good, exempt=["dropout"])


def test_wrong_use_of_the_check_itself():
    with pytest.raises(ValueError, match="give a multiple of 2"):
        check(policies.Good, env_obs=example_env_obs(batch=3, state_dim=policies.STATE))
    with pytest.raises(ValueError, match=r"lacks \['action_dim'\]"):
        check(policies.Good, model_cfg={"num_action_chunks": 4})
    with pytest.raises(ValueError, match="one batch size"):
        check(policies.Good, env_obs={**OBS, "task_descriptions": ["one"]})
    with pytest.raises(ValueError, match=r"not a torch\.nn\.Module"):
        check_policy(policies.Good, env_obs=OBS, model_cfg=policies.CFG)


def test_without_a_factory_the_report_says_what_was_left_out():
    report = check(policies.Good, build=None)
    assert report.not_run == dict.fromkeys(("build", "state_dict", "sharding"), "no build= was given")
