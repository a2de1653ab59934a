"""The runs of bench/detection_coco.sh as a table, and as results.json.

    python3 bench/detection_table.py REPORT

REPORT has NAME.csv, the log of a run, and NAME.json, its settings; NAME.memory and NAME.engine.json where there are any.
"""
import csv
import json
import pathlib
import statistics
import sys


def row_of(report, name):
    settings = json.loads((report / f"{name}.json").read_text())
    with open(report / f"{name}.csv", encoding="utf-8") as file:
        log = list(csv.DictReader(file))
    row = {"run": name, "data": pathlib.PurePath(settings["data"]).name,
           **{key: settings[key] for key in ("halting", "tau", "budget", "seed")},
           "epochs": len(log), "of_epochs": settings["epochs"]}
    if log:
        row["images_per_second"] = statistics.median(float(line["images_per_second"]) for line in log)
        row["seconds"] = sum(float(line["seconds"]) for line in log)
    evaluated = [line for line in log if line["flops"]]
    if evaluated:
        last = evaluated[-1]

        def number(key):
            return float(last[key]) if last.get(key) else None

        row["evaluated_after"] = int(float(last["epoch"]))
        for key in ("AP", "AP50", "APs", "APm", "APl", "flops", "flops_std", "dense_flops"):
            row[key] = number(key)
        row["head_share"] = number("val_head_share")
        row["units"] = [float(last[key]) for key in last if key.startswith("units_")]
    memory = report / f"{name}.memory"
    if memory.exists():
        row["memory_mib"] = int(memory.read_text())
    engine = report / f"{name}.engine.json"
    if engine.exists():
        said = json.loads(engine.read_text())
        row["engine"] = {key: said[key] for key in ("AP", "AP50", "flops", "dense_flops", "ms") if key in said}
    return row


def percent(value):
    return "-" if value is None else f"{100 * value:.1f}"


def line_of(row):
    share = units = "-"
    if row.get("flops"):
        share = f"{percent(row['flops'] / row['dense_flops'])} ± {percent(row['flops_std'] / row['dense_flops'])}"
        units = " ".join(f"{value:.2f}" for value in row["units"])
    return (f"{row['run']:22} {row['epochs']:3} of {row['of_epochs']:<3} {percent(row.get('AP')):>5} "
            f"{percent(row.get('AP50')):>5} {share:>13} {percent(row.get('head_share')):>6}  {units:22} "
            f"{row.get('images_per_second', 0):6.1f} {row.get('memory_mib', '-'):>7}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    report = pathlib.Path(sys.argv[1])
    rows = [row_of(report, path.stem) for path in sorted(report.glob("*.csv"))]
    (report / "results.json").write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(f"{'run':22} {'epochs':>10} {'AP':>5} {'AP50':>5} {'FLOPs %':>13} {'head %':>6}  {'units':22} img/s     MiB")
    for row in rows:
        print(line_of(row))


if __name__ == "__main__":
    main()
