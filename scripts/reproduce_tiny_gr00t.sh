#!/usr/bin/env bash
# The numbers of docs/gr00t.md: a tiny GR00T N1.7 from random weights to PPO on the bundled task.
# Run from an empty directory on an otherwise idle machine; takes most of an hour on two cores.
#   uv run --no-sync bash scripts/reproduce_tiny_gr00t.sh [extra training arguments]
set -euo pipefail
name=isaaclab_ppo_gr00t_n1d7_touch_color
here="$(cd "$(dirname "$0")" && pwd)"

echo "== a tiny N1.7 whose backbone can point"
python "$here/make_tiny_gr00t_n1d7.py" --out tiny_gr00t --relative joint_target=joint_pos --pretrain_steps 1500

echo "== supervised training on demonstrations"
isaaclab-rlinf collect --config_name isaaclab_ppo_tiny_vla_touch_color --out datasets/touch_color \
    --num_episodes 600 --num_envs 32 --seed 1 --action_noise 0.08 --calibration_error 0.06
isaaclab-rlinf sft --dataset datasets/touch_color --base tiny_gr00t --tune_llm --tune_visual --lr 1e-3 \
    --steps 1200 --out gr00t_touch_color

export CONFIG_NAME="$name"
bash "$here/reproduce_touch_color.sh" "$@"

echo "== what the fine-tuned one does with exchanged instructions"
weights=$(find logs/rlinf -path '*touch_color_gr00t*' -name full_weights.pt | sort -V | tail -n 1)
python "$here/ablate_inputs.py" --config_name "$name" --weights "$weights" --episodes 200 --variants 2
