#!/usr/bin/env bash
# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause
#
# An environment for RL on Isaac Lab with NVIDIA's GR00T N1.5. See --help and docs/installation.md.
set -euo pipefail

# shellcheck disable=SC2034  # read by the library
{
  GENERATION=n1d5
  GENERATION_NAME="GR00T N1.5"
  MODEL_TYPE=gr00t
  TRANSFORMERS=4.51.3
  TOKENIZERS=">=0.21,<0.22"
  HUGGINGFACE_HUB=">=0.30,<1.0"
}
GR00T_REVISION=4af2b622892f7dcb5aae5a3fb70bcb02dc217b96
PYTORCH3D=v0.7.9
# Eagle, the vision-language model of N1.5: sets flash_attention_2 in its config and again in its code
EAGLE=gr00t/model/backbone/eagle2_hg_model

# shellcheck source-path=SCRIPTDIR source=lib/gr00t_install.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/gr00t_install.sh"

install_pytorch3d() {
  # N1.5 uses pytorch3d.transforms only: the compiled extension is left out
  step pytorch3d "pytorch3d $PYTORCH3D without its extension" \
    "GitHub cannot be reached
torch cannot be imported, since the build runs in this environment: $PY -c 'import torch'" \
    env PYTORCH3D_NO_EXTENSION=1 uv pip install --python "$PY" --no-deps --no-build-isolation \
    "pytorch3d @ git+https://github.com/facebookresearch/pytorch3d.git@$PYTORCH3D"
}

install_gr00t() {
  # stamps outlive a checkout that someone removed
  ((DRY_RUN)) || [[ -d $CHECKOUT/.git ]] || rm -f -- "$STAMPS"/gr00t_* "$STAMPS"/attention
  step gr00t_init "directory for Isaac-GR00T" "no permission in $TARGET" git init --quiet "$CHECKOUT"
  step gr00t_fetch "Isaac-GR00T, this one revision" \
    "GitHub cannot be reached (proxy, firewall): try  git ls-remote $GR00T_URL" \
    env GIT_LFS_SKIP_SMUDGE=1 git -C "$CHECKOUT" fetch --depth 1 "$GR00T_URL" "$GR00T_REVISION"
  step gr00t_checkout "its files" \
    "files in $CHECKOUT were edited by hand: git -C $CHECKOUT status" \
    env GIT_LFS_SKIP_SMUDGE=1 git -C "$CHECKOUT" checkout --quiet --detach "$GR00T_REVISION"
  # its own requirements name versions that do not go with isaaclab 3.0.0; what it imports came with the base
  step gr00t_package "Isaac-GR00T as an editable package" \
    "the revision does not accept Python 3.12: check requires-python in $CHECKOUT/pyproject.toml" \
    uv pip install --python "$PY" --no-deps --editable "$CHECKOUT"
}

install_attention() {
  if ((WITH_FLASH_ATTN)); then
    step attention "Eagle's files as released, in case they were changed for SDPA" \
      "$CHECKOUT is not the checkout that this script made" \
      git -C "$CHECKOUT" checkout --quiet "$GR00T_REVISION" -- "$EAGLE"
    install_flash_attn
  else
    step attention "Eagle's attention through PyTorch SDPA" \
      "files in $CHECKOUT/$EAGLE are not those of revision $GR00T_REVISION" \
      "$PY" "$REPO/scripts/lib/gr00t_n1d5_sdpa.py" "$CHECKOUT/$EAGLE"
  fi
}

start "$@"
install_pytorch3d
install_gr00t
install_attention
finish
