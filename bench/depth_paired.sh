#!/usr/bin/env bash
# The comparisons of docs/results.md, photograph by photograph and over all seeds that are there, from
# the predictions of bench/depth.sh.
#
#   bench/depth_paired.sh classes|detail PREDICTIONS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:?"usage: bench/depth_paired.sh classes|detail PREDICTIONS"} predictions=$2

compare() { # FIRST SECOND
  local file files=()
  for file in "$predictions/$1"-[0-9].csv; do
    files+=("$file" "$predictions/$2${file#"$predictions/$1"}")
  done
  python3 "$here/paired.py" "${files[@]}" | sed "s/^/$1 against $2 at /"
}

case $part in
  classes)
    compare plain-continued plain50-continued
    for row in act-0.01 sact-0.001 sact-0.005 sact-0.01; do
      compare "$row" plain-continued
      compare "$row" "$row-baseline"
    done
    ;;
  detail) for tau in 0.005 0.01; do compare "sact-$tau" plain-continued; done ;;
esac
