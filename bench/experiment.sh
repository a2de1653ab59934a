# For the scripts that train networks and compare them, which source it and set
#
#   data, out   the photographs and the folder of the runs
#   common      settings of every training
#   sizes       sizes that every network is tested at, size: the one it was trained at
#   first       settings of a network that starts from fresh weights
#   second      settings of one that starts from such a network
#
# SACT names the program (default build/sact), JOBS how many trainings run at once (default 1),
# DEVICE cpu or cuda. What has a result is not run again, and a training that was interrupted
# resumes, so the scripts can be stopped and started at will.
sact=${SACT:-build/sact} device=${DEVICE:-cuda} jobs=${JOBS:-1}
mkdir -p "$out/results" "$out/predictions" "$out/logs"

# train NAME SETTING...
train() {
  local name=$1
  shift
  [ -s "$out/results/$name.json" ] && return
  "$sact" train --data "$data" --out "$out/$name" --device "$device" $common "$@" \
    >>"$out/logs/$name.log" 2>&1
}

# evaluate NAME: results/NAME.json, and what the network said of every photograph
evaluate() {
  [ -s "$out/results/$1.json" ] && return
  "$sact" eval "$out/$1/last.safetensors" --data "$data" --size "$sizes" --device "$device" \
    --batch 128 --predictions "$out/predictions/$1.csv" --json 2>>"$out/logs/$1.log" |
    sed "s|\"model\": \"$out/|\"model\": \"|" >"$out/results/$1.part"
  mv "$out/results/$1.part" "$out/results/$1.json"
}

# finish NAME SETTING...: trains and evaluates, once, even if several jobs want it
finish() {
  (
    flock 9
    train "$@"
    evaluate "$1"
  ) 9>"$out/$1.lock"
}

# A plain network, and the same trained on as long as those that start from it.
plain() { # NAME SEED SETTING...
  local name=$1-$2 seed=$2
  shift 2
  finish "$name" $first "$@" seed="$seed"
}
continued() { # NAME SEED
  finish "$1-continued-$2" --init "$out/$1-$2/last.safetensors" $second seed="$2"
}

# An adaptive network from the plain one.
adaptive() { # SEED HALTING TAU
  finish "$2-$3-$1" --init "$out/plain-$1/last.safetensors" halting="$2" tau="$3" $second seed="$1"
}

# Its baseline: the first units of the plain network's blocks, trained like it. Adaptive networks
# that round to the same units share theirs; that of all units is the plain network, trained on.
baseline() { # SEED HALTING TAU
  local name=$2-$3-$1 base=$2-$3-baseline-$1 whole=$out/plain-$1/last.safetensors cut
  [ -s "$out/results/$base.json" ] && return
  "$sact" baseline "$out/$name/last.safetensors" --from "$whole" --size "$size" \
    --result "$out/results/$name.json" --out "$out/$base.init.safetensors" >"$out/logs/$base.log" 2>&1
  cut=$(units_of "$out/$base.init.safetensors")
  if [ "$cut" = "$(units_of "$whole")" ]; then
    cut=plain-continued-$1
    continued plain "$1"
  else
    cut=cut-$cut-$1
    finish "$cut" --init "$out/$base.init.safetensors" $second seed="$1"
  fi
  cp "$out/predictions/$cut.csv" "$out/predictions/$base.csv"
  cp "$out/results/$cut.json" "$out/results/$base.json"
}
units_of() { # MODEL: 3-4-23-3
  "$sact" info "$1" --json |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["spec"]["units"], sep="-")'
}

# in_parallel: runs the lines of its input, JOBS at a time, the first ones first
in_parallel() {
  xargs -P "$jobs" -I{} bash -c 'set -euo pipefail; {}'
}

export -f train evaluate finish plain continued adaptive baseline units_of
export data out sact device sizes size common first second
