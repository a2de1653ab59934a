"""Prints the rows of a result of `sact bench --device cuda --json`, and its layers, in few lines.

    python3 bench/show_cuda.py NAME FILE
"""
import json
import sys


def show_layers(layers):
    """Layers of one shape together, with the median of their times."""
    kinds = {}
    for layer in layers:
        key = tuple(layer[k] for k in ("batch", "height", "width", "rows", "taps", "depth", "columns"))
        kinds.setdefault(key, []).append(layer)
    total = 0
    for (_, _, _, rows, taps, depth, columns), same in kinds.items():
        times = sorted(layer["ms"] for layer in same)
        total += sum(times)
        middle = next(layer for layer in same if layer["ms"] == times[len(times) // 2])
        ceiling = middle.get("ceiling_ms")
        of_ceiling = f", {100 * ceiling / middle['ms']:3.0f} % of its ceiling" if ceiling else ""
        print(f"  {same[0]['name']:32} {rows:7} rows, {taps} x {depth} to {columns}: {1e3 * middle['ms']:8.1f} us, "
              f"{1e-3 * middle['gflops_per_second']:6.1f} TFLOP/s{of_ceiling}, {len(same)} of them")
    print(f"  {total:.3f} ms in {len(layers)} layers")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[2]) as file:
        result = json.load(file)
    for row in result["rows"]:
        print(f"{sys.argv[1]:20} {row['what'][:28]:28} {row['batch']:3} of {row['height']}x{row['width']} at {row['density']:.2f}: "
              f"{row['ms']['median']:9.4f} ms ({row['ms']['p10']:.4f}-{row['ms']['p90']:.4f}), "
              f"{1e-3 * row['gflops_per_second']:6.1f} TFLOP/s, speed-up {row['speedup']:.3f} of "
              f"{row['theoretical_speedup']:.3f}: {100 * row['realised']:.1f} % {row.get('isa', '')}")
    if result.get("per_layer"):
        device = result["per_layer"][0].get("device")
        if device:
            print(f"  ceilings: {1e-12 * device['bytes_per_second']:.2f} TB/s, "
                  f"{1e-12 * device['flops_per_second']:.0f} TFLOP/s")
        show_layers(result["per_layer"])


main()
