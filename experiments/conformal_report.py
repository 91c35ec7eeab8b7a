#!/usr/bin/env python3
"""Writes experiments/conformal/README.md from its results.csv: coverage at 90 % with and without calibration."""

import collections
import math
import pathlib

import results

HERE = pathlib.Path(__file__).resolve().parent / "conformal"
LEVEL = 0.9
TABLES = ["concrete", "power_plant", "kin8nm", "elevators"]
INTRO = """# Conformal calibration on four tables

```
experiments/run.py experiments/conformal/cells.csv     # resumable cell by cell
experiments/conformal_report.py
```

Share of test rows inside the 90 % interval, mean over splits (20 of concrete, 5 of the others; five without calibration; 10 % test, 10 % validation; with `--calibrate conformal`
another 10 % that would otherwise train). The seed is 0 throughout, the split changes. Fits are short (1,000 steps):
what is judged is the coverage. `sd` is that of one split; "expected" is what split conformal promises, in the
mean over splits: level to level + 1/(m + 1), with an sd of about sqrt(.09 (1/m + 1/n)) for m calibration and n test rows.
"""


def spread(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1)) if len(values) > 1 else math.nan


def main():
    rows = [row for row in results.latest(results.read(HERE / "results.csv")) if not row["error"]]
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["data"], row["method"], row["study"]].append(row)
    lines = ["| table | test rows | splits | method | coverage, plain | coverage, conformal | sd, conformal | expected sd | width, plain |"
             " width, conformal | within two points |", "|" + "---|" * 11]
    held = []
    for data in TABLES:
        for method in ("dbk", "dnn"):
            plain, conformal = groups[data, method, "plain"], groups[data, method, "conformal"]
            if not plain or not conformal:
                continue
            mean, sd = spread([float(row["coverage"]) for row in conformal])
            before, _ = spread([float(row["coverage"]) for row in plain])
            widths = [spread([float(row["width_standardized"]) for row in part])[0] for part in (plain, conformal)]
            n = int(conformal[0]["test_rows"])
            expected = math.sqrt(LEVEL * (1 - LEVEL) * 2 / n)
            held.append(abs(mean - LEVEL) <= 0.02)
            lines.append(f"| {data} | {n:,} | {len(conformal)} | {method} | {before:.3f} | **{mean:.3f}** | {sd:.3f} | {expected:.3f} |"
                         f" {widths[0]:.3f} | {widths[1]:.3f} | {'yes' if held[-1] else '**no**'} |")
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    verdict = f"Within two points of 90 %: {sum(held)} of {len(held)} (width on the standardised scale; commits {commits}).\n"
    (HERE / "README.md").write_text(INTRO + "\n" + "\n".join(lines) + "\n\n" + verdict)


if __name__ == "__main__":
    main()
