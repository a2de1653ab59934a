#!/usr/bin/env bash
# The comparisons of docs/results.md, photograph by photograph and over all seeds that both networks
# have, from the predictions of bench/depth.sh.
#
#   bench/depth_paired.sh classes|detail PREDICTIONS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:?"usage: bench/depth_paired.sh classes|detail PREDICTIONS"} predictions=$2

compare() { # FIRST SECOND
  local file other files=()
  for file in "$predictions/$1"-[0-9].csv; do
    other=$predictions/$2${file#"$predictions/$1"}
    if [ -e "$other" ]; then files+=("$file" "$other"); fi
  done
  python3 "$here/paired.py" "${files[@]}" | sed -e 's/^[0-9]/at &/' -e "s/^/$1 against $2 /"
}

case $part in
  classes)
    compare plain plain50
    compare plain-continued plain50-continued
    for tau in 0.001 0.005; do compare "act-$tau" plain-continued; done # which is their baseline, too
    for row in act-0.01 sact-0.001 sact-0.005 sact-0.01; do
      compare "$row" plain-continued
      compare "$row" "$row-baseline"
    done
    ;;
  detail) for tau in 0.005 0.01; do compare "sact-$tau" plain-continued; done ;;
esac
