#!/usr/bin/env bash
# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause
#
# An environment for RL on Isaac Lab with NVIDIA's own GR00T N1.7. See --help and docs/installation.md.
# For N1.7 through lerobot's implementation none of this is needed: the default environment has it.
set -euo pipefail

# shellcheck disable=SC2034  # read by the library
{
  GENERATION=n1d7
  GENERATION_NAME="GR00T N1.7"
  MODEL_TYPE=gr00t_n1d7
  TRANSFORMERS=4.57.3
  TOKENIZERS=">=0.22,<0.23"
  HUGGINGFACE_HUB=">=0.34,<1.0"
}
GR00T_REVISION=1a1837f20538b7d7e21f977a11a5aee14f99803c

# shellcheck source-path=SCRIPTDIR source=lib/gr00t_install.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/gr00t_install.sh"

install_gr00t() {
  # its own requirements name versions that do not go with isaaclab 3.0.0; what it imports came with the base
  step gr00t_package "Isaac-GR00T N1.7" \
    "GitHub cannot be reached (proxy, firewall): try  git ls-remote $GR00T_URL
the revision does not accept the environment's Python" \
    env GIT_LFS_SKIP_SMUDGE=1 uv pip install --python "$PY" --no-deps "gr00t @ git+$GR00T_URL@$GR00T_REVISION"
}

start "$@"
install_gr00t
if ((WITH_FLASH_ATTN)); then
  install_flash_attn
elif ((DRY_RUN)); then
  printf '\n# no flash-attn: the Qwen3-VL backbone of N1.7 takes SDPA by itself when it is absent\n'
fi
finish
