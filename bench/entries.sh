# For the scripts that make tables of results, which source it from anywhere and set `results`, a
# folder of results named PREFIX-SEED.json.
entries=()

# add NAME PREFIX: an entry of `sact table` for every seed
add() {
  local file
  for file in "$results/$2"-[0-9].json; do
    [ -e "$file" ] && entries+=("$1=$file")
  done
  return 0
}

# add_adaptive HALTING TAU...: adaptive networks, then their baselines where there are any
add_adaptive() {
  local halting=$1 tau
  shift
  for tau in "$@"; do add "$halting:$tau" "${halting,,}-$tau"; done
  for tau in "$@"; do add "$halting baseline:$tau" "${halting,,}-$tau-baseline"; done
}
