"""What a call from Python costs beyond the library's own work, and how threads scale.

    PYTHONPATH=build/python /usr/bin/python3 bench/python_overhead.py MODEL

The work is what `Result.ms` says of the same call: preparing the input and running the network, timed in
C++. What is left is Python's part: arguments, the array's view, sessions taken and given back, the result
with its label and its map.
"""

import statistics
import sys
import threading
import time

import numpy as np

import sact

SECONDS = 2.0


def overhead(model, pixels, calls=200):
    taken, beyond = [], []
    for _ in range(calls):
        start = time.perf_counter()
        result = model(pixels)
        result.label, result.ponder_map
        ms = 1000 * (time.perf_counter() - start)
        taken.append(ms)
        beyond.append(ms - sum(result.ms.values()))
    return statistics.median(taken), statistics.median(beyond)


def rate(model, pixels, threads):
    counts = [0] * threads
    end = time.perf_counter() + SECONDS

    def work(mine):
        while time.perf_counter() < end:
            model(pixels)
            counts[mine] += 1

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / SECONDS


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python_overhead.py MODEL")
    model = sact.load(sys.argv[1], threads=1)
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    model.warm_up()
    overhead(model, pixels, 20)
    taken, beyond = overhead(model, pixels)
    print(f"a call takes {taken:.3f} ms, of which {beyond:.3f} ms are not the library's work")
    for threads in (1, 2, 4):
        print(f"{threads} threads: {rate(model, pixels, threads):.0f} images/s")


if __name__ == "__main__":
    main()
