# shellcheck shell=bash
# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause
#
# What both GR00T installers share: options, the target directory, steps that run once and explain their failure.
#
# The caller sets, before it sources this file:
#   GENERATION     name of the generation in files and stamps, e.g. n1d5
#   GENERATION_NAME  for people, e.g. "GR00T N1.5"
#   MODEL_TYPE     value of actor.model.model_type that the environment is for
#   GR00T_REVISION, TRANSFORMERS, TOKENIZERS, HUGGINGFACE_HUB   pins

readonly RLINF_URL=https://github.com/RLinf/RLinf.git
readonly RLINF_REVISION=0f9ea98c7a6d9e3ade24e8f4846c64d3b135dbcc
# shellcheck disable=SC2034  # read by the callers
readonly GR00T_URL=https://github.com/NVIDIA/Isaac-GR00T.git
readonly FLASH_ATTN=2.8.3
readonly LIBGOMP=/lib/aarch64-linux-gnu/libgomp.so.1

REPO=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
readonly REPO

DRY_RUN=0
WITH_FLASH_ATTN=1
PYTHON=3.12
TARGET=

# ---------------------------------------------------------------------------------------------------------- talking

say() { printf '%s\n' "$*"; }

# refuse MESSAGE...: a mistake of the caller; nothing has been done.
refuse() {
  printf '[ERROR] %s\n' "$@" >&2
  exit 2
}

quoted() {
  local word line=
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_@%+=:,./~-]+$ ]]; then line+="$word "; else line+="'${word//\'/\'\\\'\'}' "; fi
  done
  printf '%s\n' "${line% }"
}

usage() {
  cat <<USAGE
Usage: $(basename -- "$0") [OPTIONS] [DIR]

Make an environment for RL on Isaac Lab with NVIDIA's own $GENERATION_NAME (model_type: $MODEL_TYPE).

DIR is created (default: ./gr00t_$GENERATION) and gets a virtual environment of its own: both GR00T generations install
the same package name, so they cannot share one. An existing DIR is used only if this script made it. A second run does
only what is missing.

  --no-flash-attn  do not build flash-attn; attention runs through PyTorch's SDPA
  --python PYTHON  interpreter or version for the environment (default: 3.12, the only version that works)
  --dry-run        print every step, do nothing
  -h, --help       show this text

Needs uv, git, about 30 GB of disk, GitHub and a Python package index; flash-attn also nvcc of CUDA 13.
Afterwards: source DIR/activate.sh; isaaclab-rlinf doctor --model_type $MODEL_TYPE
USAGE
}

# ---------------------------------------------------------------------------------------------------------- options

parse_options() {
  while (($#)); do
    case $1 in
      --no-flash-attn) WITH_FLASH_ATTN=0 ;;
      --dry-run) DRY_RUN=1 ;;
      --python)
        (($# > 1)) || refuse "--python needs a value, e.g. --python 3.12"
        PYTHON=$2
        shift
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      -*) refuse "unknown option $1" "allowed: --no-flash-attn --python PYTHON --dry-run --help" ;;
      *)
        [[ -z $TARGET ]] || refuse "two target directories: $TARGET and $1" "give one"
        TARGET=$1
        ;;
    esac
    shift
  done
  TARGET=${TARGET:-gr00t_$GENERATION}
  [[ $TARGET == /* ]] || TARGET=$PWD/$TARGET
  TARGET=${TARGET%/}
  VENV=$TARGET/venv
  PY=$VENV/bin/python
  CHECKOUT=$TARGET/Isaac-GR00T
  PINS=$TARGET/pins.txt
  MARKER=$TARGET/.isaaclab_rlinf_gr00t
  STAMPS=$VENV/.isaaclab_rlinf_steps
  ARCH=$(uname -m)
  # shellcheck disable=SC2034  # CHECKOUT is read by install_gr00t_n1d5.sh
  readonly TARGET VENV PY CHECKOUT PINS MARKER STAMPS ARCH
}

# check_machine: everything that can be known before the first download, reported together.
check_machine() {
  local problems=()
  [[ $ARCH == x86_64 || $ARCH == aarch64 ]] || problems+=("this machine is $ARCH; allowed: x86_64, aarch64 (Linux)")
  [[ ${LD_PRELOAD:-} != *aarch64* || $ARCH == aarch64 ]] ||
    problems+=("LD_PRELOAD=$LD_PRELOAD names an aarch64 library on $ARCH; fix: unset LD_PRELOAD")
  if ((!DRY_RUN)); then
    command -v uv >/dev/null || problems+=("uv is not installed; fix: pip install uv")
    command -v git >/dev/null || problems+=("git is not installed; fix: apt-get install git")
    [[ $ARCH != aarch64 || -e $LIBGOMP ]] ||
      problems+=("$LIBGOMP is missing; fix: apt-get install libgomp1")
    ((!WITH_FLASH_ATTN)) || command -v nvcc >/dev/null || [[ -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]] ||
      problems+=("nvcc is not found, and flash-attn is built from source; fix: install the CUDA 13 toolkit or set \
CUDA_HOME, or use --no-flash-attn")
  fi
  ((${#problems[@]} == 0)) || refuse "${problems[@]}" "nothing was done"
}

# claim_target: use a directory that is new, empty or made by this script for this generation; refuse any other.
claim_target() {
  if [[ -e $MARKER ]]; then
    [[ $(<"$MARKER") == "$GENERATION" ]] ||
      refuse "$TARGET holds an environment for $(<"$MARKER"), not for $GENERATION" "give another directory"
  elif [[ -e $TARGET && (! -d $TARGET || -n $(ls -A -- "$TARGET")) ]]; then
    refuse "$TARGET exists and was not made by this script; it stays as it is" \
      "give a directory that does not exist yet"
  fi
  ((DRY_RUN)) && return
  mkdir -p -- "$TARGET"
  printf '%s\n' "$GENERATION" >"$MARKER"
}

# ------------------------------------------------------------------------------------------------------------ steps

# step NAME TITLE CAUSES COMMAND...: run a command unless it succeeded in an earlier run with the same pins.
# CAUSES: likely reasons of a failure, one a line.
step() {
  local name=$1 title=$2 causes=$3 stamp key code=0
  shift 3
  stamp=$STAMPS/$name
  key=$(printf '%s\n' "$(pins)" "$@" | cksum)
  if ((DRY_RUN)); then
    printf '\n# %s\n' "$title"
    quoted "$@"
    return
  fi
  if [[ -f $stamp && $(<"$stamp") == "$key" ]]; then
    say "[done]  $title"
    return
  fi
  say "[step]  $title"
  "$@" || code=$?
  ((code == 0)) || explain "$title" "$causes" "$code" "$@"
  mkdir -p -- "$STAMPS"
  printf '%s\n' "$key" >"$stamp"
}

# explain TITLE CAUSES CODE COMMAND...: say what failed, why that usually is, and how to go on; ends the script.
explain() {
  local title=$1 causes=$2 code=$3
  shift 3
  {
    printf '\n[FAILED] %s\n' "$title"
    printf '  command:  %s\n' "$(quoted "$@")"
    printf '  exit code %s; its own message stands above\n' "$code"
    printf '  likely causes:\n'
    printf '%s\n' "$causes" | sed 's/^/    - /'
    printf '  to continue, run the same command again; finished steps are skipped:\n    %s\n' "$INVOCATION"
  } >&2
  exit 1
}

# pins: requirements that replace what the packages themselves ask for; isaaclab 3.0.0 pins transformers 5.10.4, which
# GR00T's code does not run on, and lerobot needs huggingface-hub 1, which transformers 4 does not allow.
pins() {
  cat <<PINS
transformers==$TRANSFORMERS
tokenizers$TOKENIZERS
huggingface-hub$HUGGINGFACE_HUB
diffusers==0.35.1
peft==0.17.1
numpy>=2,<2.3
av>=15,<16
datasets>=4.8,<5
lerobot ; sys_platform == 'never'
torchcodec ; sys_platform == 'never'
PINS
}

write_pins() {
  if ((DRY_RUN)); then
    printf '\n# %s holds\n' "$PINS"
    pins
  else
    pins >"$PINS"
  fi
}

# activation: what DIR/activate.sh holds.
activation() {
  printf '# Source this file: the environment of %s.\n' "$GENERATION_NAME"
  printf 'source %q\n' "$VENV/bin/activate"
  [[ $ARCH != aarch64 ]] || printf 'export LD_PRELOAD=%s\n' "$LIBGOMP"
}

write_activation() {
  if ((DRY_RUN)); then
    printf '\n# %s holds\n' "$TARGET/activate.sh"
    activation
  else
    activation >"$TARGET/activate.sh"
  fi
}

# start: options, checks, and the steps before the generations part.
start() {
  INVOCATION=$(quoted "$0" "$@")
  readonly INVOCATION
  parse_options "$@"
  check_machine
  claim_target
  ((DRY_RUN)) && say "# $GENERATION_NAME on $ARCH in $TARGET; dry run, nothing is done"
  # uv reads [tool.uv] of the directory it runs in: always this repository's, never that of the caller's project
  cd -- "$REPO" || exit 1
  unset VIRTUAL_ENV PYTHONPATH
  if [[ $ARCH == aarch64 ]]; then
    # torch's OpenMP cannot be loaded late there: "cannot allocate memory in static TLS block"
    ((DRY_RUN)) && printf '\n# OpenMP is loaded first on aarch64\nexport LD_PRELOAD=%s\n' "$LIBGOMP"
    ((DRY_RUN)) || export LD_PRELOAD=$LIBGOMP
  fi
  install_base
}

install_base() {
  local title="virtual environment with Python $PYTHON"
  if ((!DRY_RUN)) && [[ -f $STAMPS/venv ]]; then
    # made once: another --python in a later run must not swap the interpreter under the installed packages
    say "[done]  $title"
  else
    make_venv "$title"
  fi
  write_pins
  install_packages
}

make_venv() {
  step venv "$1" \
    "no Python 3.12 on this machine and uv cannot download one: install it, or pass --python /path/to/python3.12
no space or no permission in $TARGET" \
    uv venv --allow-existing --python "$PYTHON" "$VENV"
}

install_packages() {
  step base "isaaclab 3.0.0, isaaclab-rlinf, and what GR00T imports" \
    "the package index cannot be reached (proxy, UV_DEFAULT_INDEX)
no space: torch and CUDA libraries take about 15 GB
a Python other than 3.12: isaaclab-rlinf needs 3.12" \
    uv pip install --python "$PY" --override "$PINS" --editable "$REPO" decord2 tyro setuptools wheel ninja packaging
  step rlinf "RLinf at the revision that Isaac Lab documents" \
    "GitHub cannot be reached (proxy, firewall): try  git ls-remote $RLINF_URL" \
    uv pip install --python "$PY" --no-deps "rlinf @ git+$RLINF_URL@$RLINF_REVISION"
}

# install_flash_attn: build flash-attn against the installed torch.
install_flash_attn() {
  step flash_attn "flash-attn $FLASH_ATTN (builds for a long time)" \
    "nvcc is of another CUDA generation than torch (torch 2.11 is built for CUDA 13): nvcc --version
too little memory for parallel compilers: MAX_JOBS=2 $INVOCATION
the GPU is older than Ampere, which flash-attn does not support
if it will not build: --no-flash-attn" \
    env "MAX_JOBS=${MAX_JOBS:-4}" uv pip install --python "$PY" --no-deps --no-build-isolation "flash-attn==$FLASH_ATTN"
}

# finish: activation file, then ask the doctor what was installed.
finish() {
  write_activation
  local check=("$VENV/bin/isaaclab-rlinf" doctor --model_type "$MODEL_TYPE")
  if ((DRY_RUN)); then
    printf '\n# check the result\n'
    quoted "${check[@]}"
    return
  fi
  say "[check] what is installed"
  "${check[@]}" || explain "the environment is incomplete" \
    "the lines marked 'fail' above name what and how to repair it
to begin again: rm -r $TARGET" "$?" "${check[@]}"
  say "[ready] source $TARGET/activate.sh"
}
