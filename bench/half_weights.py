#!/usr/bin/env python3
"""Weights stored in 16 bits beside 32, products in fp32: plain ResNet-101 at 224x224, batch 1, dense and with positions left out.

    bench/half_weights.py OUT.json [OPTION...]

Models of each width take turns, a short run of `sact bench` each, with these options, such as --exact. Medians of the runs are
written to OUT.json. Printed are medians over the runs of a model, and over the ratios of runs that followed each other, with the
least and the largest ratio. SACT is the program (build/sact), THREADS the number of threads (2), RUNS how many runs of each (7),
ROUNDS how often everything takes its turn within a run (5). Keep the machine free of other work.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

WIDTHS = ("f32", "bf16", "f16")


def times_of(model, options):
    """{density: median in ms}, the dense run under "dense"."""
    command = [SACT, "bench", model, "--size", "224", "--density", "0.25,0.5,0.75", "--threads", os.environ.get("THREADS", "2"),
               "--rounds", os.environ.get("ROUNDS", "5"), "--json", *options]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]
    return {"dense" if row["what"] == "dense" else str(row["density"]): row["ms"]["median"] for row in rows
            if row["what"] in ("dense", "adaptive")}


def main():
    out, options = sys.argv[1], sys.argv[2:]
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        models = {width: os.path.join(folder, width) for width in WIDTHS}
        for width, model in models.items():
            subprocess.run([SACT, "new", "--depth", "101", "--dtype", width, "--out", model], check=True, capture_output=True)
        for _ in range(int(os.environ.get("RUNS", "7"))):
            turns.append({width: times_of(model, options) for width, model in models.items()})
    with open(out, "w") as file:
        json.dump({"options": options, "turns": turns}, file, indent=1)
        file.write("\n")
    for what in turns[0]["f32"]:
        line = f"{what:>5}: f32 {statistics.median(turn['f32'][what] for turn in turns):.2f} ms"
        for width in WIDTHS[1:]:
            ratios = sorted(turn["f32"][what] / turn[width][what] for turn in turns)
            line += (f", {width} {statistics.median(turn[width][what] for turn in turns):.2f} ms"
                     f" {statistics.median(ratios):.3f} x ({ratios[0]:.3f}-{ratios[-1]:.3f})")
        print(line)


if len(sys.argv) < 2:
    sys.exit(__doc__)
SACT = os.environ.get("SACT", "build/sact")
main()
