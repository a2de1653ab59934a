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

. "$here/bench/entries.sh"
add ResNet-101 plain
add_adaptive ACT 0.001 0.005 0.01
add_adaptive SACT 0.001 0.005 0.01
mkdir -p "$plots"
"${SACT:-$here/build/sact}" table "${entries[@]}" --plots "$plots" --plot-sizes 128,192 \
  --curves 'ResNet-101,ACT:0.005,ACT baseline:0.005,SACT:0.005,SACT baseline:0.005,SACT:0.01' \
  "$@"
