#!/usr/bin/env python3
"""The figures of S in our numbers: fits the networks, and lets the tool draw.

  experiments/s_figures/draw.py [--only NAME]

spectra_*: Figures 7, 9 and 15, singular values of a deterministic network (`rank-advice --plots`). selective_*, calibration_*:
Figures 5 and 16, windows of Beijing (`evaluate --plots`). curve_*: Figure 20, the toy curve with its epistemic range, as CSV. A
figure that is there is not drawn again. The tool is build/slimbayes (SLIMBAYES_TOOL), the tables lie in SLIMBAYES_DATA.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import drawing  # noqa: E402
from cells_s_papers import BEIJING, CLINICAL, SST2, TOY  # noqa: E402
from drawing import Figure  # noqa: E402

FIGURES = {
    "spectra_clinical": Figure("support2", "dnn", f"{CLINICAL} --epochs 32", "spectra"),
    "spectra_lstm": Figure("beijing", "dnn", f"{BEIJING} --patience 10 --epochs 15", "spectra"),
    "spectra_text": Figure("sst2-8", "dnn", f"{SST2} --epochs 8", "spectra"),
    **{f"beijing_{name}": Figure("beijing", method, flags, "evaluate") for name, method, flags in (
        ("low_rank", "low-rank", "--preset paper-beijing --epochs 15"), ("full_rank", "full-rank", "--preset paper-beijing --epochs 15"),
        ("rank_1", "rank-1", "--preset paper-beijing --epochs 15"),
        ("ensemble", "ensemble", f"--of dnn --members 5 {BEIJING} --patience 10 --epochs 15"))},
    "curve_low_rank": Figure("toy", "low-rank", TOY, "curve"),
    "curve_full_rank": Figure("toy", "full-rank", f"{TOY} --start network", "curve"),
}

if __name__ == "__main__":
    drawing.main(HERE, FIGURES, __doc__)
