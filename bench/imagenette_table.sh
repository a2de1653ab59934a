#!/usr/bin/env bash
# The table and the plots of docs/results.md from the results of bench/imagenette.sh.
#
#   bench/imagenette_table.sh [RESULTS [PLOTS [OPTION...]]]
#
# RESULTS is a folder of results (default: those in the repository, bench/results/imagenette), PLOTS
# where the plots go (default docs/images/imagenette); options are those of `sact table`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
results=${1:-$here/bench/results/imagenette} plots=${2:-$here/docs/images/imagenette}
shift $(($# < 2 ? $# : 2))

entries=()
add() { # NAME PREFIX: one entry for every seed
  local file
  for file in "$results/$2"-[0-9].json; do entries+=("$1=$file"); done
}
add ResNet-101 plain
for halting in ACT SACT; do
  for tau in 0.001 0.005 0.01; do add "$halting:$tau" "${halting,,}-$tau"; done
  for tau in 0.001 0.005 0.01; do
    add "$halting baseline:$tau" "${halting,,}-$tau-baseline"
  done
done
mkdir -p "$plots"
"${SACT:-$here/build/sact}" table "${entries[@]}" --plots "$plots" --plot-sizes 128,192 \
  --curves 'ResNet-101,ACT:0.005,ACT baseline:0.005,SACT:0.005,SACT baseline:0.005,SACT:0.01' \
  "$@"
