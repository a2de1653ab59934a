#!/usr/bin/env bash
# Does depth help on the built-in synthetic set? Trains two plain networks that do about the same
# work for an image, one with 3 convolutions in a row and one with 17, and prints the accuracy of both
# on the validation pictures. Minutes on a CPU; docs/synthetic.md has what it printed.
#
#   bench/synthetic_depth.sh [FOLDER] [KEY=VALUE...]     settings of 'sact train', such as epochs=30
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sact=${SACT:-$root/build/sact}
out=${1:-$root/build/synthetic_depth}
data=synthetic:size=96,count=4000
# A short training: little augmentation, so that few epochs show which network can learn the shapes,
# and moving averages of the norms that keep up with it.
common=(unit=basic size=96 batch=16 epochs=8 schedule=cosine rate=0.05 warmup_epochs=0.3
  residual_scale=0.2 norm_decay=0.95 crop_min_area=0.8 brightness=0 contrast=0 saturation=0 hue=0
  eval_every=100 samples=0 "${@:2}")

# measure NAME LAYERS KEY=VALUE...
measure() {
  local name=$1 layers=$2
  shift 2
  "$sact" train --json --data "$data" --out "$out/$name" "$@" "${common[@]}" |
    awk -v layers="$layers" '
      /"accuracy":/ { accuracy = $2 }
      /"flops":/ { flops = $2 }
      END { printf "%d layers: accuracy %.1f %%, %.1f MFLOP an image\n",
                   layers, 100 * accuracy, flops / 1e6 }'
}

rm -rf "$out/shallow" "$out/deep"
measure shallow 3 units=1 width=36
measure deep 17 units=2,3,3 width=16
