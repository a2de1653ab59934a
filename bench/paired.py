#!/usr/bin/env python3
"""Is one network more accurate than another? Compares them photograph by photograph.

    bench/paired.py FIRST.csv SECOND.csv [FIRST.csv SECOND.csv]...

Files are those of `sact eval --predictions`; several pairs, such as seeds, are added up. For every
size: accuracies, their difference with its standard error over photographs, how often only one of
the two is right, and the exact two-sided McNemar test of whether that happens equally often. Then
by how much the difference changes from the smallest to the largest size.
"""
import collections
import csv
import math
import sys


def read_right(path):
    """{(size, photograph): whether the network was right}"""
    with open(path, newline="") as file:
        return {((int(row["height"]), int(row["width"])), row["path"]): row["label"] == row["class"]
                for row in csv.DictReader(file)}


def mcnemar(only_first, only_second):
    """Probability of a split at least this uneven if both were equally likely."""
    n, k = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - n * math.log(2)
            for i in range(k + 1)]
    return min(1.0, 2 * math.fsum(map(math.exp, logs)))


def mean_and_error(values):
    n, mean = len(values), math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values)) / n


def main():
    files = sys.argv[1:]
    if not files or len(files) % 2:
        sys.exit("error: pairs of files were expected: FIRST.csv SECOND.csv [FIRST.csv SECOND.csv]...")
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])  # neither, only second, only first, both
    changes = []  # of the difference between the networks, from the smallest to the largest size
    for first_file, second_file in zip(files[::2], files[1::2]):
        first, second = read_right(first_file), read_right(second_file)
        if first.keys() != second.keys():
            sys.exit(f"error: {first_file} and {second_file} are not about the same photographs and sizes")
        for key, right in first.items():
            counts[key[0]][2 * right + second[key]] += 1
        small, large = min(key[0] for key in first), max(key[0] for key in first)
        for size, path in first:
            if size == large and (small, path) in first:
                at = [first[key] - second[key] for key in ((small, path), (large, path))]
                changes.append(at[1] - at[0])
    for (height, width), (neither, only_second, only_first, both) in sorted(counts.items()):
        n = neither + only_second + only_first + both
        difference = (only_first - only_second) / n
        variance = (only_first + only_second) / n - difference ** 2
        print(f"{height}x{width}: {100 * (both + only_first) / n:.2f} % and "
              f"{100 * (both + only_second) / n:.2f} %, difference {100 * difference:+.2f} ± "
              f"{100 * math.sqrt(variance / n):.2f} points ({only_first} : {only_second} of {n}), "
              f"p = {mcnemar(only_first, only_second):.2g}")
    if len(counts) > 1:
        mean, error = mean_and_error(changes)
        print(f"from {small[0]}x{small[1]} to {large[0]}x{large[1]}: the difference changes by "
              f"{100 * mean:+.2f} ± {100 * error:.2f} points")


if __name__ == "__main__":
    main()
