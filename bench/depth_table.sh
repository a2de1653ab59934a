#!/usr/bin/env bash
# The tables and plots of docs/results.md from the results of bench/depth.sh.
#
#   bench/depth_table.sh classes|detail [RESULTS [PLOTS [OPTION...]]]
#
# RESULTS is a folder of results (default: that in the repository, bench/results/depth/PART), PLOTS
# where the plots go (default docs/images/depth/PART); options are those of `sact table`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
part=${1:?"usage: bench/depth_table.sh classes|detail [RESULTS [PLOTS [OPTION...]]]"}
results=${2:-$here/bench/results/depth/$part} plots=${3:-$here/docs/images/depth/$part}
shift $(($# < 3 ? $# : 3))

. "$here/bench/entries.sh"
case $part in
  classes)
    add ResNet:50 plain50-continued
    add ResNet:101 plain-continued
    add_adaptive ACT 0.001 0.005 0.01
    add_adaptive SACT 0.001 0.005 0.01
    options=(--plot-sizes 84 --curves
      'ResNet:50,ResNet:101,ACT:0.01,ACT baseline:0.01,SACT:0.01,SACT baseline:0.01')
    ;;
  detail)
    add ResNet-101 plain-continued
    add_adaptive SACT 0.005 0.01
    options=(--plot-sizes 112,224)
    ;;
esac
mkdir -p "$plots"
"${SACT:-$here/build/sact}" table "${entries[@]}" --plots "$plots" "${options[@]}" "$@"
