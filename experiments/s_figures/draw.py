#!/usr/bin/env python3
"""The figures of S in our numbers: fits the networks, and lets the tool draw.

  experiments/s_figures/draw.py [--only NAME]

spectra_*: Figures 7, 9 and 15, singular values of a deterministic network (`rank-advice --plots`). selective_*, calibration_*:
Figures 5 and 16, windows of Beijing (`evaluate --plots`). curve_*: Figure 20, the toy curve with its epistemic range, as CSV. A
figure that is there is not drawn again. The tool is build/slimbayes (SLIMBAYES_TOOL), the tables lie in SLIMBAYES_DATA.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import sources  # noqa: E402
from cells_s_papers import BEIJING, CLINICAL, SST2, TOY  # noqa: E402
from runners import Runner, Work  # noqa: E402

# name: source, method, flags, what the tool draws
FIGURES = {
    "spectra_clinical": ("support2", "dnn", f"{CLINICAL} --epochs 32", "spectra"),
    "spectra_lstm": ("beijing", "dnn", f"{BEIJING} --patience 10 --epochs 15", "spectra"),
    "spectra_text": ("sst2-8", "dnn", f"{SST2} --epochs 8", "spectra"),
    **{f"beijing_{name}": ("beijing", method, flags, "evaluate") for name, method, flags in (
        ("low_rank", "low-rank", "--preset paper-beijing --epochs 15"), ("full_rank", "full-rank", "--preset paper-beijing --epochs 15"),
        ("rank_1", "rank-1", "--preset paper-beijing --epochs 15"),
        ("ensemble", "ensemble", f"--of dnn --members 5 {BEIJING} --patience 10 --epochs 15"))},
    "curve_low_rank": ("toy", "low-rank", TOY, "curve"),
    "curve_full_rank": ("toy", "full-rank", f"{TOY} --start network", "curve"),
}


def drawn(name):
    return sorted(HERE.glob(f"{name}*.svg")) + sorted(HERE.glob(f"{name}*.csv"))


def draw(name, runner, folder):
    of, method, flags, kind = FIGURES[name]
    source, work = sources.SOURCES[of], Work(folder)
    files, model = source.files(runner.data, folder), folder / "m.safetensors"
    valid = ["--valid", files.valid] if files.valid else []
    cell = {"data": of, "method": method, "seed": "0", "flags": flags}
    work.measured([*runner.command(cell, files.train, [], model), *valid])
    if kind == "curve":
        grid = sources.write(folder / "grid.csv", ["x"], [[-0.5 + i / 200] for i in range(401)])
        work.quiet([runner.tool, "predict", model, grid, "--out", HERE / f"{name}.csv"])
        return
    plots = folder / "plots"
    command = ["rank-advice", model] if kind == "spectra" else ["evaluate", model, files.test or files.train, "--split", "test"]
    work.quiet([runner.tool, *command, "--plots", plots])
    for plot in plots.glob("*.svg"):
        shutil.copyfile(plot, HERE / f"{name}_{plot.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="draw the figure of this name alone")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    options = parser.parse_args()
    runner = Runner(options.tool, pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data")))
    for name in FIGURES:
        if drawn(name) or options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            draw(name, runner, pathlib.Path(folder))
        print(*[path.name for path in drawn(name)], flush=True)


if __name__ == "__main__":
    main()
