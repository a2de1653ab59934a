#!/usr/bin/env bash
# How many requests a second `sact serve` answers, beside the images a second of `sact bench`: 224x224 JPEGs over
# loopback, with 1, 8 and 64 connections. Needs wrk and python3.
#   bench/serve.sh MODEL JPEG [SECONDS]
# The second share of each line has decoding counted apart: it compares with what is left of the rate of `sact bench` when
# reading and scaling take their time as well, for one connection before the network runs, for several on all processors.
set -euo pipefail
model=$1 photo=$2 seconds=${3:-60}
sact=${SACT:-build/sact}
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
"$sact" serve "$model" --port 0 --json >"$work/started" &
server=$!
until [[ -s $work/started ]]; do sleep 0.1; done
address=$(sed 's/.*"address":"\([^"]*\)".*/\1/' "$work/started")
cat >"$work/post.lua" <<LUA
local file = io.open("$photo", "rb")
wrk.method, wrk.body = "POST", file:read("*a")
LUA
memory() { awk '/VmRSS/ {print $2 / 1024 " MiB"}' "/proc/$server/status"; }

# Images a second of the network alone, the threads it had, and milliseconds of decoding and scaling.
measure() {
  "$sact" bench "$model" "$photo" --dtype auto --json >"$work/bench"
  for _ in $(seq 30); do curl -fs --data-binary "@$photo" "${address}v1/classify"; echo; done >"$work/replies"
  python3 - "$work" <<'PYTHON'
import json, statistics, sys
rows = {row["what"]: row for row in json.load(open(sys.argv[1] + "/bench"))["rows"]}
row = rows.get("adaptive") or rows["dense"]
ms = [json.loads(line)["images"][0]["ms"] for line in open(sys.argv[1] + "/replies")]
print(1000 * row["batch"] / row["ms"]["median"], row["threads"], statistics.median(m["load"] + m["preprocess"] for m in ms))
PYTHON
}
read -r rate threads decoding < <(measure)
printf 'sact bench: %.0f images/s on %s threads; decoding and scaling %.2f ms\n' "$rate" "$threads" "$decoding"
for connections in 1 8 64; do
  before=$(memory)
  wrk -t 1 -c "$connections" -d "${seconds}s" --latency --timeout 60s -s "$work/post.lua" "${address}v1/classify" >"$work/load"
  awk -v connections="$connections" -v rate="$rate" -v threads="$threads" -v decoding="$decoding" -v before="$before" \
    -v after="$(memory)" '
    /50%/ { median = $2 } /99%/ { slow = $2 } /Requests\/sec/ { found = $2 } /Non-2xx|Socket errors/ { wrong = wrong $0 }
    END {
      apart = 1 / (1 / rate + decoding / 1000 / (connections == 1 ? 1 : threads))
      printf "%d connections: %.0f requests/s, %.0f %% of sact bench, %.0f %% with decoding counted apart; ", connections,
        found, 100 * found / rate, 100 * found / apart
      printf "median %s, slowest hundredth %s; memory %s to %s; errors: %s\n", median, slow, before, after,
        wrong == "" ? "none" : wrong
    }' "$work/load"
done
curl -fs "${address}metrics" | grep -E 'batch_images|requests_total'
