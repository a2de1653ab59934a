"""Where the time of a whole image goes in a detector, beside the same weights without halting, by the number of boxes
that are looked at. All take turns on every photograph.

    PYTHONPATH=build/python /usr/bin/python3 bench/detector_turns.py OUT.json DETECTOR PHOTO...

DETECTOR is written anew for each candidate: `dense` leaves its halting scores out, `N boxes` has that number of proposals
and no cuts of objectness, and `as it is` keeps its own number and cuts. Times are medians over the rounds, and means of these
over the photographs; `load` is what decoding takes, and the call from Python.
"""

import argparse
import json
import os
import pathlib
import statistics
import struct
import tempfile
import time

import sact

STAGES = ("load", "scale", "extractor", "proposals", "crops", "boxes", "rest")


def read_model(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        return header, file.read()


def write_variant(path, model, halting, boxes):
    """The model without halting, or with another number of boxes; the spec's other keys stay."""
    header, data = model
    metadata = header["__metadata__"]
    spec = json.loads(metadata["sact"])
    if boxes:
        spec["detection"]["proposals"] = boxes
        spec["detection"].pop("box_cuts", None)
    if not halting:
        spec["halting"] = "none"
        spec.pop("score_floor", None)
    kept, place = {}, 0
    parts = []
    for name, tensor in header.items():
        if name == "__metadata__" or (not halting and ".halting." in name):
            continue
        first, last = tensor["data_offsets"]
        parts.append(data[first:last])
        kept[name] = dict(tensor, data_offsets=[place, place + last - first])
        place += last - first
    text = json.dumps({"__metadata__": dict(metadata, sact=json.dumps(spec)), **kept}).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def run(detector, photo):
    start = time.perf_counter()
    found = detector(photo)
    clock = 1000 * (time.perf_counter() - start)
    return {**found.ms, "load": clock - sum(found.ms.values()), "clock": clock}, found


def measure(candidates, photos, rounds):
    times = {name: {photo: [] for photo in photos} for name in candidates}
    facts = {name: [] for name in candidates}
    names = list(candidates)
    for turn in range(-1, rounds):  # the first is not counted: memory is taken, weights are made
        for photo in photos:
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                ms, found = run(candidates[name], photo)
                if turn < 0:
                    facts[name].append((found.flops, found.box_flops, found.proposals))
                else:
                    times[name][photo].append(ms)
    rows = []
    for name in names:
        row = {"what": name, "photographs": len(photos), "rounds": rounds}
        for key in ("clock",) + STAGES:
            row[key] = statistics.mean(
                statistics.median(ms[key] for ms in of_photo) for of_photo in times[name].values())
        for i, key in enumerate(("flops", "box_flops", "boxes_looked_at")):
            row[key] = statistics.mean(fact[i] for fact in facts[name])
        rows.append(row)
    return rows


def show(row, slowest):
    stages = ", ".join(f"{key} {row[key]:.1f}" for key in STAGES)
    print(f"  {row['dtype']} {row['what']:22} {row['clock']:7.1f} ms, {slowest / row['clock']:.2f} x: {stages}; "
          f"{row['boxes_looked_at']:.0f} boxes, {(row['flops'] + row['box_flops']) / 1e9:.1f} GFLOP")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("detector")
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--boxes", type=int, nargs="+", default=[300, 50])
    parser.add_argument("--dtypes", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    model = read_model(options.detector)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        def candidate(name, halting, boxes, dtype):
            path = pathlib.Path(folder, f"{name}.safetensors")
            write_variant(path, model, halting, boxes)
            return sact.load(path, precision=dtype, threads=options.threads)

        for dtype in options.dtypes:
            candidates = {f"{kind}, {boxes} boxes": candidate(f"{kind}-{boxes}", kind == "adaptive", boxes, dtype)
                          for boxes in options.boxes for kind in ("dense", "adaptive")}
            candidates["as it is"] = candidate("own", True, None, dtype)
            measured = measure(candidates, options.photos, options.rounds)
            for row in measured:
                row["dtype"] = dtype
                show(row, measured[0]["clock"])
            rows += measured
    out = pathlib.Path(options.out)
    temporary = out.with_suffix(".new")
    result = {"model": pathlib.Path(options.detector).stem, "threads": options.threads, "processor": processor(), "rows": rows}
    temporary.write_text(json.dumps(result, indent=2) + "\n")
    os.replace(temporary, out)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else "unknown"


if __name__ == "__main__":
    main()
