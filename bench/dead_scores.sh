#!/usr/bin/env bash
# Can halting scores that are nearly zero come back? A small plain network on the synthetic set is
# made adaptive with scores that start there; docs/results.md has what it printed. Minutes on a CPU.
#
#   bench/dead_scores.sh [FOLDER]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sact=${SACT:-$root/build/sact} out=${1:-$root/build/dead_scores}
common="units=2,3,3 unit=basic width=16 size=64 batch=16 schedule=cosine rate=0.05 residual_scale=0.2
  norm_decay=0.95 weight_decay=5e-4 crop_min_area=0.8 brightness=0 contrast=0 saturation=0 hue=0 samples=0"
mkdir -p "$out"

train() { # NAME SETTING...
  "$sact" train --data synthetic:size=64,count=1600,val=400 --out "$out/$1" $common "${@:2}" \
    >>"$out/$1.log" 2>&1
}
adapt() { # NAME SETTING...
  train "$1" --init "$out/plain/last.safetensors" halting=sact epochs=4 "${@:2}"
  python3 "$root/bench/halting_scores.py" "$out/$1"
}

train plain epochs=5 warmup_epochs=0.3
adapt bias-3 tau=0.02
adapt bias-8 tau=0.02 halting_bias=-8
adapt bias-8-tau-0.2 tau=0.2 halting_bias=-8
adapt bias-8-halting-10 tau=0.02 halting_bias=-8 halting_rate=10
