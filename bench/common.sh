# For the scripts that measure the CPU engine, which source it from the root of the project and set
# `out`, the folder of their results.
#
# SACT is the program (build/sact), THREADS the number of threads (2).
sact=${SACT:-build/sact} threads=${THREADS:-2}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bench() {  # NAME ARGUMENTS...
  local name=$1
  shift
  "$sact" bench "$@" --threads "$threads" --json |
    sed 's|"model": "[^"]*/|"model": "|' >"$out/$name.json"
  printf '%s\n' "$name"
  python3 bench/show_rows.py "$out/$name.json"
}
