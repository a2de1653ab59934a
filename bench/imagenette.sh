#!/usr/bin/env bash
# The paper's experiment on a folder of photographs: a plain ResNet-101, ACT and SACT at three
# values of tau from it, the plain baseline of each, all tested at five resolutions, for every seed.
#
#   bench/imagenette.sh DATA OUT [SEED...]        # default: seeds 0 and 1
#
# SACT names the program (default build/sact), JOBS how many trainings run at once (default 1),
# DEVICE cpu or cuda. What is finished is not run again, and a training that was interrupted
# resumes, so the script can be stopped and started at will. Results: OUT/results/*.json; then
#
#   bench/imagenette_table.sh OUT/results OUT/plots   # the table and the plots
set -euo pipefail
data=$1 out=$2
shift 2
seeds=${*:-0 1}
sact=${SACT:-build/sact} device=${DEVICE:-cuda} jobs=${JOBS:-1}
sizes=96,128,160,192,224
common="batch=128 size=128 schedule=cosine label_smoothing=0.1 precision=bf16 eval_every=20 samples=8
  weight_decay=5e-4 norm_decay=0.97 crop_min_area=0.25 brightness=0.1 contrast=0.2 saturation=0.2
  hue=0.02"
mkdir -p "$out/results" "$out/logs"

# train NAME SETTING...
train() {
  local name=$1
  shift
  "$sact" train --data "$data" --out "$out/$name" --device "$device" $common "$@" \
    >>"$out/logs/$name.log" 2>&1
}

# evaluate NAME: results/NAME.json
evaluate() {
  [ -s "$out/results/$1.json" ] && return
  "$sact" eval "$out/$1/last.safetensors" --data "$data" --size $sizes --device "$device" \
    --batch 128 --json >"$out/results/$1.part" 2>>"$out/logs/$1.log"
  mv "$out/results/$1.part" "$out/results/$1.json"
}

plain() { # SEED
  train "plain-$1" depth=101 epochs=40 rate=0.1 warmup_epochs=2 residual_scale=0.2 seed="$1"
  evaluate "plain-$1"
}

# An adaptive network, then its baseline: stage two of both starts from the plain network.
adaptive() { # SEED HALTING TAU
  local name=$2-$3-$1 base=$2-$3-baseline-$1
  train "$name" --init "$out/plain-$1/last.safetensors" halting="$2" tau="$3" epochs=20 rate=0.03 \
    seed="$1"
  evaluate "$name"
  [ -s "$out/$base.init.safetensors" ] ||
    "$sact" baseline "$out/$name/last.safetensors" --from "$out/plain-$1/last.safetensors" \
      --result "$out/results/$name.json" --size 128 --out "$out/$base.init.safetensors" \
      >>"$out/logs/$base.log" 2>&1
  train "$base" --init "$out/$base.init.safetensors" epochs=20 rate=0.03 seed="$1"
  evaluate "$base"
}

export -f train evaluate plain adaptive
export data out sact device sizes common

for seed in $seeds; do echo "plain $seed"; done | xargs -P "$jobs" -I{} bash -c 'set -e; {}'
for seed in $seeds; do
  for halting in sact act; do
    for tau in 0.005 0.01 0.001; do echo "adaptive $seed $halting $tau"; done
  done
done | xargs -P "$jobs" -I{} bash -c 'set -e; {}'
