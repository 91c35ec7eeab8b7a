"""The figures of S in our numbers: fits the networks, and lets the tool draw.

spectra_*: singular values of a deterministic network (`rank-advice --plots`). beijing_*: windows of Beijing (`evaluate --plots`).
curve_*: the toy curve with its epistemic range, as CSV.
"""

import drawing
import studies
from drawing import FIELDS, Figure  # noqa: F401
from pages import Page
from paper_s import BEIJING, CLINICAL, SST2, TOY
from protocol import SAME, Line
from tables import grid

TITLE = "Figures 5, 7, 9, 15, 16 and 20 of S"
WHAT = "S Figures 5, 7, 9, 15, 16, 20: spectra, selective prediction, calibration, the curve"
PAPER = "S"
PROTOCOL = [
    Line("Figure 9: data", "MIMIC-III, 40,406 rows (G.3.1)", "support2"),
    Line("Figure 9: training", "a deterministic network, 32 epochs (G.3.2)", "the same network, 32 epochs, the best by validation rows"),
    Line("Figure 15: training", "a pretrained LSTM, up to 150 epochs (G.4.2)", "15 epochs"),
    Line("Figure 7: data", "67,349 phrases in word pieces (G.5.1)", "every eighth phrase, in words"),
    Line("Figure 7: training", "20 epochs (G.5.2)", "8 epochs"),
    Line("Figures 5, 16: training", "up to 150 epochs, KL annealed (G.4.2, H.1)", "15 epochs, KL not annealed"),
    Line("Figures 5, 16: draws", "150 (G.4.2)", "150", SAME),
    Line("Figure 20", "800 epochs, KL annealed over 760 (I.3.1)", "the same", SAME),
]
FIGURES = {
    "spectra_clinical": Figure("support2", "dnn", f"{CLINICAL} --epochs 32", "spectra"),
    "spectra_lstm": Figure("beijing", "dnn", f"{BEIJING} --patience 10 --epochs 15", "spectra"),
    "spectra_text": Figure("sst2-8", "dnn", f"{SST2} --epochs 8", "spectra"),
    **{f"beijing_{name}": Figure("beijing", method, flags, "evaluate") for name, method, flags in (
        ("low_rank", "low-rank", "--preset paper-beijing --epochs 15"),
        ("full_rank", "full-rank", "--preset paper-beijing --epochs 15"),
        ("rank_1", "rank-1", "--preset paper-beijing --epochs 15"),
        ("ensemble", "ensemble", f"--of dnn --members 5 {BEIJING} --patience 10 --epochs 15"))},
    "curve_low_rank": Figure("toy", "low-rank", TOY, "curve"),
    "curve_full_rank": Figure("toy", "full-rank", f"{TOY} --start network", "curve"),
}
SHOWN = [("patients", "spectra_clinical_spectra"), ("the lstm of Beijing", "spectra_lstm_spectra"),
         ("the transformer of SST-2", "spectra_text_spectra"), ("low-rank, the most certain windows", "beijing_low_rank_selective"),
         ("full-rank, coverage", "beijing_full_rank_calibration"), ("low-rank, coverage", "beijing_low_rank_calibration")]


def cells():
    return drawing.cells(FIGURES)


def runner(tool, data):
    return drawing.Drawer(tool, data, studies.HERE / "s_figures", FIGURES)


def page(now):
    found = [f"![{what}]({name}.svg)" for what, name in SHOWN]
    return Page([
        "`spectra_*`: the singular values of a deterministic network, which S reads its ranks from (Figures 7, 9, 15). "
        "`beijing_*_selective`, `beijing_*_calibration`: the error of the most certain windows, and the coverage at each level "
        "(Figures 5, 16). `curve_*`: mean and standard deviations over the toy curve, [-.5, 1.5] (Figure 20). One seed each. "
        "Beijing's networks have 15 epochs (s_table2's have 6), `curve_full_rank` has the network's start (`--start network`); else "
        "they are those of [s_table1](../s_table1/README.md), [s_table2](../s_table2/README.md), "
        "[s_table3](../s_table3/README.md) and [s_toy](../s_toy/README.md).",
        grid(["", ""], [found[i:i + 2] for i in range(0, len(found), 2)]),
        drawing.unrecorded("s_figures")])
