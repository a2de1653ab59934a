#!/usr/bin/env bash
# The paper's experiment where depth and resolution matter, for every seed:
#
#   bench/depth.sh classes DATA OUT [SEED...]     # default: seeds 0 and 1
#   bench/depth.sh detail DATA OUT [SEED...]
#
# `classes` is for many classes of small photographs (mini-ImageNet, 100 classes of 84x84 pixels):
# plain ResNet-101 and ResNet-50, ACT and SACT at three values of tau from ResNet-101, and the plain
# baseline of each. Every network has been trained for EPOCHS + MORE epochs in the end, the plain
# ones too: does placing depth beat cutting it?
#
# `detail` is for classes that differ in detail (Stanford Dogs, 224x224 pixels): plain ResNet-101
# and SACT at two values of tau, trained at 112 pixels and tested up to 224: does SACT gain on the
# plain network as resolution grows?
#
# EPOCHS and MORE are the epochs from fresh weights and those after them (45 and 15; 60 and 20 for
# `detail`), SETTINGS more settings of `sact train`; bench/experiment.sh has what else can be set from
# outside. Results: OUT/results/*.json and OUT/predictions/*.csv; then
#
#   bench/depth_table.sh PART OUT/results OUT/plots     # tables and plots
#   bench/depth_paired.sh PART OUT/predictions          # are differences more than chance?
set -euo pipefail
part=${1:?"usage: bench/depth.sh classes|detail DATA OUT [SEED...]"}
data=${2:?"DATA is missing: a folder of photographs"} out=${3:?"OUT is missing: a folder for results"}
shift 3
seeds=${*:-0 1}
case $part in
  classes) size=84 sizes=84,112,140 epochs=45 more=15 ;;
  detail) size=112 sizes=112,144,176,208,224 epochs=60 more=20 ;;
  *)
    echo "error: 'classes' or 'detail' was expected, but '$part' was given" >&2
    exit 2
    ;;
esac
epochs=${EPOCHS:-$epochs} more=${MORE:-$more}
common="batch=128 size=$size schedule=cosine label_smoothing=0.1 precision=bf16 eval_every=1000
  samples=0 weight_decay=5e-4 norm_decay=0.98 crop_min_area=0.25 brightness=0.1 contrast=0.2
  saturation=0.2 hue=0.02 ${SETTINGS:-}"
first="epochs=$epochs rate=0.1 warmup_epochs=2 residual_scale=0.2"
second="epochs=$more rate=0.03"
. "$(dirname "${BASH_SOURCE[0]}")/experiment.sh"

# The jobs of a seed that start from its plain network, the most wanted first.
classes() { # SEED
  local tau
  for tau in 0.005 0.01 0.001; do echo "adaptive $1 sact $tau; baseline $1 sact $tau"; done
  echo "continued plain $1"
  for tau in 0.01 0.005 0.001; do echo "adaptive $1 act $tau; baseline $1 act $tau"; done
}
detail() { # SEED
  local tau
  for tau in 0.005 0.01; do echo "adaptive $1 sact $tau"; done
  echo "continued plain $1"
}

for seed in $seeds; do
  {
    echo "plain plain $seed depth=101"
    [ "$part" = detail ] || echo "plain plain50 $seed depth=50; continued plain50 $seed"
  } | in_parallel
  "$part" "$seed" | in_parallel
done
