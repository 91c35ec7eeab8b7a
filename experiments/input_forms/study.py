"""What other networks for tables do to their inputs, tried on `dnn`."""

import math

from defaults import ROWS
from pages import Page
from paired import difference
from results import asked
from scores import label, load
from tables import grid

TITLE = "What makes the mean of other networks better"
WHAT = "what other networks for tables do to their inputs, tried on `dnn`"
PAPER = "ours"

FORMS = {"none": ("", ""), "robust": ("~robust", ""), "periodic": ("~periodic", ""), "dropout": ("", "--dropout 0.1"),
         "cosine": ("", "--schedule cosine")}
TABLES = [name for name, rows in ROWS.items() if rows >= 1000]
INTRO = """`dnn` with one change at a time, on the public tables of at least 1,000 rows, three splits. `robust`: each input with median 0 and
quartile distance 1, clipped smoothly to ±3, as RealMLP does. `periodic`: that, and the cosines and sines of three fixed frequencies
of it beside it. `dropout`: a tenth of the features. `cosine`: no warm-up of the learning rate. RMSE of the standardised target, over
that of `none` (the geometric mean over the common splits); NLL minus that of `none`, ± the standard error. Both forms are computed
from the inputs of all rows (derived.py).
"""


def cells():
    """One change at a time of `dnn`."""
    for split in range(3):
        for table in TABLES:
            for form, (suffix, own) in FORMS.items():
                yield asked(form, table + suffix, "dnn", split, f"--split-seed {split} {own}")


def by_split(scores, table, form, metric):
    suffix, own = FORMS[form]
    return scores.by_seed(form, table + suffix, label("dnn", own), metric)


def rmse_over_none(scores, table, form):
    ours, theirs = (by_split(scores, table, name, "RMSE") for name in (form, "none"))
    common = ours.keys() & theirs.keys()
    return mean_ratio([ours[s] / theirs[s] for s in common]) if common else None


def mean_ratio(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def page(now):
    scores = load("input_forms", runner=now)
    forms = [form for form in FORMS if form != "none"]
    lines, leads = [], []
    for table in TABLES:
        ratios = [rmse_over_none(scores, table, form) for form in forms]
        lines.append([table, *(f"{ratio:.3f}" if ratio else "" for ratio in ratios)])
        leads.append([table, *(str(difference(*(by_split(scores, table, name, "raw NLL") for name in (form, "none"))) or "") for form in forms)])
    found = [[ratio for table in TABLES if (ratio := rmse_over_none(scores, table, form))] for form in forms]
    lines.append(["geometric mean", *(f"**{mean_ratio(ratios):.3f}**" if ratios else "" for ratios in found)])
    return Page([INTRO, "## RMSE over that of `none`\n\n" + grid(["table", *forms], lines),
                 "## NLL minus that of `none`\n\n" + grid(["table", *forms], leads)], scores=scores)
