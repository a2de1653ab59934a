#!/usr/bin/env python3
"""How alike the objects of two results of `sact detect --json` are, and the median milliseconds of each stage of the second.

    bench/compare_detections.py A.json B.json [SCORE]

Counts objects of at least SCORE (0.3) in A that B has, with the same class and an overlap of 0.9 at least, and the other
way round; then the largest difference of their scores, and units of the extractor's positions that are the same.
"""
import json
import statistics
import sys


def overlap(a, b):
    ax, ay, aw, ah = a
    bx, by, bw, bh = b
    width = min(ax + aw, bx + bw) - max(ax, bx)
    height = min(ay + ah, by + bh) - max(ay, by)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (aw * ah + bw * bh - width * height)


def found(objects, others, score):
    """Of the objects of this score: how many, how many the others have, and the largest difference of scores."""
    count = same = 0
    most = 0.0
    for one in objects:
        if one["score"] < score:
            continue
        count += 1
        alike = [other for other in others if other["label"] == one["label"] and overlap(other["bbox"], one["bbox"]) >= 0.9]
        if alike:
            same += 1
            most = max(most, min(abs(other["score"] - one["score"]) for other in alike))
    return count, same, most


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    score = float(sys.argv[3]) if len(sys.argv) == 4 else 0.3
    results = []
    for path in sys.argv[1:3]:
        with open(path) as file:
            result = json.load(file)
        results.append({image["path"]: image for image in result["images"] if "detections" in image})
    a, b = results
    common = [path for path in a if path in b]
    counts = [0, 0, 0, 0]
    most = 0.0
    flops = []
    for path in common:
        there = found(a[path]["detections"], b[path]["detections"], score)
        back = found(b[path]["detections"], a[path]["detections"], score)
        counts = [n + m for n, m in zip(counts, (*there[:2], *back[:2]))]
        most = max(most, there[2], back[2])
        flops.append(b[path]["flops"] / max(1, a[path]["flops"]))
    print(f"{len(common)} images: {counts[1]} of {counts[0]} objects are in the second, {counts[3]} of {counts[2]} in the first; "
          f"scores differ by {most:.4f} at most; FLOPs of the extractor {statistics.mean(flops):.4f} of the first's")
    stages = {}
    for path in common:
        for stage, ms in b[path]["ms"].items():
            stages.setdefault(stage, []).append(ms)
    print("median ms: " + ", ".join(f"{stage} {statistics.median(times):.3f}" for stage, times in stages.items()))


main()
