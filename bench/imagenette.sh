#!/usr/bin/env bash
# The paper's experiment on a folder of photographs: a plain ResNet-101, ACT and SACT at three
# values of tau from it, the plain baseline of each, all tested at five resolutions, for every seed.
#
#   bench/imagenette.sh DATA OUT [SEED...]        # default: seeds 0 and 1
#
# bench/experiment.sh has what can be set from outside. Results: OUT/results/*.json; then
#
#   bench/imagenette_table.sh OUT/results OUT/plots   # the table and the plots
set -euo pipefail
data=${1:?"usage: bench/imagenette.sh DATA OUT [SEED...]"} out=${2:?"OUT is missing: a folder for results"}
shift 2
seeds=${*:-0 1}
sizes=96,128,160,192,224 size=128
common="batch=128 size=128 schedule=cosine label_smoothing=0.1 precision=bf16 eval_every=20 samples=8
  weight_decay=5e-4 norm_decay=0.97 crop_min_area=0.25 brightness=0.1 contrast=0.2 saturation=0.2
  hue=0.02"
first="depth=101 epochs=40 rate=0.1 warmup_epochs=2 residual_scale=0.2"
second="epochs=20 rate=0.03"
. "$(dirname "${BASH_SOURCE[0]}")/experiment.sh"

for seed in $seeds; do echo "plain plain $seed"; done | in_parallel
for seed in $seeds; do
  for halting in sact act; do
    for tau in 0.005 0.01 0.001; do
      echo "adaptive $seed $halting $tau; baseline $seed $halting $tau"
    done
  done
done | in_parallel
