#!/usr/bin/env python3
"""The table of bench/adapt_measure.sh.

    bench/adapt_table.py FOLDER DENSE NAME...

Accuracy, and its difference to the dense network with a standard error over photographs; the share of
photographs that both call the same; FLOPs and times of the engine.
"""
import csv
import json
import math
import os
import sys


def read_predictions(path):
    with open(path, newline="") as file:
        return {row["path"]: (row["label"], row["class"]) for row in csv.DictReader(file)}


def times(folder, name):
    path = os.path.join(folder, name + "-time.json")
    if not os.path.exists(path):
        return ["", "", ""]
    with open(path) as file:
        rows = json.load(file)["rows"]
    row = next(row for row in rows if row["what"] == "adaptive")
    return [f"{row['dense_ms']:.1f}", f"{row['ms']['median']:.1f}", f"{row['speedup']:.2f}"]


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    dense = read_predictions(os.path.join(folder, names[0] + ".csv"))
    rows = [["network", "of dense FLOPs", "top-1 %", "against dense", "agreement %", "dense ms", "adaptive ms", "times as fast"]]
    for name in names:
        with open(os.path.join(folder, name + ".json")) as file:
            result = json.load(file)
        said = read_predictions(os.path.join(folder, name + ".csv"))
        if said.keys() != dense.keys():
            sys.exit(f"error: {name} and {names[0]} are not about the same photographs")
        n = len(said)
        change = [(said[path][0] == said[path][1]) - (dense[path][0] == dense[path][1]) for path in said]
        mean = sum(change) / n
        error = math.sqrt(sum((value - mean) ** 2 for value in change)) / n
        same = sum(said[path][1] == dense[path][1] for path in said) / n
        share = result["flops"]["mean"] / result["dense_flops"]
        row = [name, f"{100 * share:.1f} %", f"{100 * result['accuracy']:.2f}"]
        if name != names[0]:
            row += [f"{100 * mean:+.2f} ± {100 * error:.2f}".replace("-", "−"), f"{100 * same:.1f}"]
        rows.append((row + ["", ""])[:5] + times(folder, name))
    rows.insert(1, ["---"] + ["---:"] * 7)
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
