#!/usr/bin/env bash
# How many requests a second `sact serve` answers, beside the images a second of `sact bench`: 224x224 JPEGs over
# loopback, with 1, 8 and 64 connections. Needs wrk.
#   bench/serve.sh MODEL JPEG [SECONDS]
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
curl -fs --data-binary "@$photo" "${address}v1/classify" >"$work/reply"
printf 'one request: %s\n' "$(grep -o '"ms":{[^}]*}' "$work/reply")"
"$sact" bench "$model" "$photo" --dtype auto | tail -n 4
for connections in 1 8 64; do
  printf '%s connections, memory before: %s\n' "$connections" "$(memory)"
  wrk -t 1 -c "$connections" -d "${seconds}s" --latency --timeout 60s -s "$work/post.lua" "${address}v1/classify" |
    grep -E '50%|99%|Requests/sec|Non-2xx|Socket errors|requests in' || true
done
printf 'memory after: %s\n' "$(memory)"
curl -fs "${address}metrics" | grep -E 'batch_images|requests_total'
