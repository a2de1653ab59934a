"""Prints the rows of a result of `sact bench --json`, one a line."""
import json
import sys

if len(sys.argv) != 2:
    sys.exit("usage: show_rows.py FILE, which `sact bench --json` wrote")
with open(sys.argv[1]) as file:
    result = json.load(file)
if not isinstance(result, dict) or "rows" not in result:
    sys.exit(f"{sys.argv[1]}: is not a result of `sact bench --json`: it has no \"rows\"")
rows = result["rows"]
for row in rows:
    peak = f"{100 * row['of_peak']:5.1f} % of peak" if "of_peak" in row else ""
    print(f"  {row['what']:12} {row['dtype']} {row['height']}x{row['width']} batch {row['batch']} "
          f"density {row['density']:.2f}: {row['ms']['median']:7.2f} ms "
          f"({row['ms']['p10']:.2f}-{row['ms']['p90']:.2f}), {row['gflop']:.3f} GFLOP, "
          f"{row['speedup']:.3f} x the dense run, {100 * row['realised']:.1f} % realised {peak}")
