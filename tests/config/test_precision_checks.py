# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Precisions of weights, compute and rollout: what belongs together, and what is said of the rest."""

from pathlib import Path

import pytest
import yaml
from bases import only

WEIGHTS, ROLLOUT = "actor.model.precision", "rollout.model.precision"
MIXED = "actor.fsdp_config.mixed_precision"
AUTOCAST = "++actor.fsdp_config.amp_autocast={enabled: true, precision: bf16}"
RECOMMENDED = (f"{WEIGHTS}=fp32", f"{ROLLOUT}=bf16", f"{MIXED}.param_dtype=bf16", f"{MIXED}.reduce_dtype=fp32")


def test_the_recommended_pair_passes_without_a_word(check):
    assert check(*RECOMMENDED) == check()


def test_the_reference_shows_the_recommended_pair():
    text = (Path(__file__).parents[2] / "docs/yaml_reference.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(text.partition("<!-- precision: begin")[2].partition("```yaml")[2].partition("```")[0])
    for override in RECOMMENDED:
        path, _, value = override.partition("=")
        node = shown
        for key in path.split("."):
            node = node[key]
        assert node == value, path


@pytest.mark.parametrize("same", ["fp32", "32", "32-true", "null"])
def test_names_of_one_precision_are_one(check, same):
    assert check(f"{WEIGHTS}={same}", f"{ROLLOUT}=fp32") == check()


@pytest.mark.parametrize(
    ("overrides", "where", "found"),
    [
        ([f"{WEIGHTS}=bf16"], f"{MIXED}.param_dtype", "'fp32', so the actor computes in fp32, but the rollout in bf16"),
        ([f"{ROLLOUT}=bf16"], f"{MIXED}.param_dtype", "the actor computes in fp32, but the rollout in bf16"),
        ([f"{MIXED}.param_dtype=bf16"], f"{MIXED}.param_dtype", "computes in bf16, but the rollout in fp32"),
        ([f"{MIXED}.param_dtype=null", f"{ROLLOUT}=bf16"], WEIGHTS, "computes in fp32, but the rollout in bf16"),
    ],
)
def test_actor_and_rollout_have_to_compute_alike(check, overrides, where, found):
    issue = only(check(*overrides))
    assert issue.where == where and found in issue.found and "ratio" in issue.found
    assert "param_dtype bf16 and reduce_dtype fp32" in issue.fix


def test_the_fix_and_the_recommendation_pass(check):
    assert check(f"{MIXED}.param_dtype=bf16", f"{ROLLOUT}=bf16").issues == ()
    assert check(f"{WEIGHTS}=bf16", f"{MIXED}.param_dtype=bf16").issues == ()


def test_bfloat16_weights_are_told_with_the_recommendation(check):
    (notice,) = check(f"{WEIGHTS}=bf16", f"{MIXED}.param_dtype=bf16").notices
    assert notice.startswith(f"{WEIGHTS}: bf16 weights") and "actor.model.precision fp32" in notice


def test_float16(check):
    assert only(check(f"{WEIGHTS}=fp16", f"{MIXED}.param_dtype=fp16")).where == WEIGHTS
    half = (f"{ROLLOUT}=fp16", f"{MIXED}.param_dtype=fp16")
    assert "grad_scaler" in only(check(*half)).found
    assert check(*half, "++actor.fsdp_config.grad_scaler.enabled=true", accelerators=1).issues == ()


def test_a_model_that_chooses_its_own_dtypes_is_left_to_them(check):
    own = (f"{WEIGHTS}=null", f"{ROLLOUT}=null", "actor.model.model_type=mlp_policy")
    (issue,) = [issue for issue in check(*own, f"{MIXED}.param_dtype=bf16").issues if "ratio" in issue.found]
    assert issue.where == f"{MIXED}.param_dtype" and issue.allowed.startswith("null")
    assert not [issue for issue in check(*own, f"{MIXED}.param_dtype=null").issues if "ratio" in issue.found]


def test_autocast_is_for_accelerators_and_told(check):
    assert only(check(AUTOCAST)).where == "actor.fsdp_config.amp_autocast.enabled", "and nothing that follows from it"
    outcome = check(AUTOCAST, f"{ROLLOUT}=bf16", accelerators=1)
    assert outcome.issues == () and "only nearly 1" in outcome.notices[0]
    assert only(check(AUTOCAST, accelerators=1)).where == "actor.fsdp_config.amp_autocast.precision"


def test_weights_travel_as_the_rollout_holds_them(check):
    issue = only(check("weight_syncer.bucket.bucket_dtype=bf16"))
    assert issue.where == "weight_syncer.bucket.bucket_dtype" and "rounds the weights" in issue.found
    for dtype in ("bfloat16", "float32"):
        assert check(*RECOMMENDED, f"weight_syncer.bucket.bucket_dtype={dtype}").issues == ()


def test_an_evaluation_has_nothing_to_compare(check):
    assert check(f"{ROLLOUT}=bf16", mode="play").issues == ()


def test_sac_has_no_ratio_to_keep(check):
    sac = ("algorithm.loss_type=embodied_sac", "algorithm.adv_type=embodied_sac", f"{ROLLOUT}=bf16")
    assert not [issue for issue in check(*sac).issues if "ratio" in issue.found]


def test_the_shipped_yamls_agree(check, trocar_yaml):
    assert check(source=trocar_yaml).issues == ()
