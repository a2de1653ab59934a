#!/usr/bin/env bash
# What drives halting scores towards zero, and can they come back? A small plain network on the
# synthetic set is made adaptive: without a ponder cost and weight decay, so that the task alone moves
# the scores; and with scores that start near zero. docs/results.md has what it printed.
#
#   bench/dead_scores.sh [FOLDER]      # minutes on a CPU, a minute on a GPU
#
# DEVICE is cpu or cuda, EPOCHS what the plain network is trained for, JOBS how many run at once.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export root sact=${SACT:-$root/build/sact} out=${1:-$root/build/dead_scores} device=${DEVICE:-cpu}
export common="units=2,3,3 unit=basic width=16 size=64 batch=16 schedule=cosine rate=0.05
  residual_scale=0.2 norm_decay=0.95 weight_decay=5e-4 crop_min_area=0.8 brightness=0 contrast=0
  saturation=0 hue=0 samples=0"
mkdir -p "$out"

train() { # NAME SETTING...
  "$sact" train --data synthetic:size=64,count=1600,val=400 --out "$out/$1" --device "$device" \
    $common "${@:2}" >>"$out/$1.log" 2>&1
}
adapt() { # NAME SETTING...
  train "$1" --init "$out/plain/last.safetensors" halting=sact epochs=4 "${@:2}"
  python3 "$root/bench/halting_scores.py" "$out/$1"
}
export -f train adapt

train plain epochs="${EPOCHS:-5}" warmup_epochs=0.3
xargs -P "${JOBS:-1}" -I{} bash -c 'set -euo pipefail; adapt {}' <<'EXPERIMENTS'
task tau=0 weight_decay=0
task-halting-10 tau=0 weight_decay=0 halting_rate=10
task-halting-100 tau=0 weight_decay=0 halting_rate=100
bias-3 tau=0.02
bias-3-floor tau=0.02 halting_gradient_floor=0.01
bias-3-floor-0.05 tau=0.02 halting_gradient_floor=0.05
bias-8 tau=0.02 halting_bias=-8
bias-8-tau-0.2 tau=0.2 halting_bias=-8
bias-8-halting-10 tau=0.02 halting_bias=-8 halting_rate=10
bias-8-floor tau=0.02 halting_bias=-8 halting_gradient_floor=0.01
bias-8-floor-0.05 tau=0.02 halting_bias=-8 halting_gradient_floor=0.05
bias-8-floor-tau-0.2 tau=0.2 halting_bias=-8 halting_gradient_floor=0.01
bias-8-floor-0.05-tau-0.2 tau=0.2 halting_bias=-8 halting_gradient_floor=0.05
EXPERIMENTS
