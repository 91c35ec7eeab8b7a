"""R Table 5 in small: CIFAR-10 in, CIFAR-100 out."""

import itertools
import json
import shlex

import studies
from judge import higher, judged, lower, not_measured
from pages import Page
from paper_r import BLL, FULL, SOME
from protocol import MORE, SAME, SILENT, Line
from results import KEY, asked
from runners import Runner, around, as_shown
from scores import Published, of, with_standard_error
from tables import cell, grid

TITLE = "Table 5 of the Rich-BLL paper (R), in small"
WHAT = "R Table 5 in small: CIFAR-100 told from CIFAR-10"
PAPER = "R"
PROTOCOL = [
    Line("images", "45,000 train, 5,000 validate, 10,000 test (C.3)", "9,000, 1,000 and 2,000"),
    Line("foreign images", "the test sets of CIFAR-100 and SVHN (C.3)", "2,000 of CIFAR-100; no SVHN"),
    Line("network", "a CNN in mu-P (C.3), else not said", "four convolutions of 16 and 32, a layer of 64; mu-P", SILENT),
    Line("training", "AdamW at 1e-3, no decay, batches of 128, crops and flips (C.3)", "the same", SAME),
    Line("pixels", "normalised by the data set's statistics (C.3)", "the same, of the images at hand", SAME),
    Line("epochs", "100 (C.3)", "40"),
    Line("epoch taken", "best validation accuracy (C.3)", "least validation NLL"),
    Line("rows of the posterior", "1,024 a class, of about 4,500 (C.3)", "all, about 900 a class"),
    Line("ridge", "1 (C.3)", "1 times the mean squared norm of a row's features"),
    Line("gradients for A", "randomly projected (appendix B)", "exact", MORE),
    Line("noise, prior, score", "noise .1, Laplace's alpha 1; variance of the predicted class's logit (C.3)", "the same", SAME),
    Line("draws", "50 (C.3)", "1,024; Dropout 50", MORE),
]
METRICS = ["nll", "ece", "accuracy", "brier"]
# `auroc`: of every score by which evaluate tells the foreign images, as JSON.
FIELDS = KEY + ["test_rows", *METRICS, "auroc", "commit", "command", "recipe", "error"]
# R: a convnet in mu-P, AdamW at 1e-3 without weight decay, batches of 128, crops and flips; 100 epochs on 45,000 images.
NETWORK = ("--network convnet --hidden 32 --parametrisation mup --learning-rate 1e-3 --weight-decay 0 --schedule constant "
           "--patience 0 --epochs 40 --batch 128 --crop 4 --flip --valid-fraction 0.1")
PRIOR = "--prior fixed --prior-sd 1"
NARROW = "--prior fixed --prior-sd 1e-6"  # no row counts: the score is the squared norm of the features
AROUND = [("dnn", ""), ("bll", PRIOR), ("rich-bll", f"{PRIOR} --ridge 1"), ("rich-bll", f"{PRIOR} --ridge 1 --subsample 0.4"),
          ("rich-bll", f"{PRIOR} --ridge 1e-4"), ("last-layer-laplace", PRIOR), ("last-layer-laplace", NARROW)]
OWN = [("mc-dropout", NETWORK), ("bbb", NETWORK.replace("--parametrisation mup ", "").replace("--weight-decay 0 ", "")),
       ("ensemble", f"--of dnn --members 5 {NETWORK}")]


def cells():
    """One network a seed carries the post-hoc methods (`around`), of which MAP is the network itself; the others train theirs "
    "(`own`)."""
    for seed, (method, flags) in itertools.product(range(3), AROUND):
        yield asked("around", "cifar10", method, seed, NETWORK, "" if method == "dnn" else f"--around dnn {flags}")
    for (method, flags), seed in itertools.product(OWN, range(3)):
        yield asked("own", "cifar10", method, seed, flags)


class Images(Runner):
    """Fits on the 10,000 images at hand, evaluates on the 2,000 test images and on 2,000 of CIFAR-100."""

    def run(self, cell):
        row = super().run(cell)
        del row["memory_mb"]
        return row

    def command(self, cell, table, own, model):
        return [self.tool, "fit", table, "--format", "cifar10", "--method", cell["method"], "--seed", cell["seed"], "--threads", "1",
                "--json", "--model", model, *shlex.split(cell["flags"])]

    def _path(self, cell):
        return self.data / "cifar10_train.bin.gz"

    def _measure(self, cell, work):
        base, own = around(cell)
        table, model = self._path(cell), work.folder / "m.safetensors"
        if base:
            network = self._network(base, work)
            work.measured(self._around(own, table, network, model))
            work.command = f"{as_shown(self.command(base, table, [], network))} && {work.command}"
        elif cell["method"] == "dnn":
            model = self._network(cell, work)
            work.command = as_shown(self.command(cell, table, [], model))
        else:
            self._fit(cell, table, [], work)
        report = json.loads(work.quiet([self.tool, "evaluate", model, self.data / "cifar10_test.bin.gz", "--ood",
                                        self.data / "cifar100_test.bin.gz", "--json"]))
        auroc = {name: round(value, 5) for name, value in report["ood"]["auroc"].items()}
        return {**{name: round(report[name], 5) for name in METRICS if name in report}, "test_rows": report["n"],
                "auroc": json.dumps(auroc, sort_keys=True)}


runner = Images


def claims(scores):
    """`scores`: (name, metric) to a Score with the standard error. A lower NLL or ECE is better, a higher AUROC. R's row is Rich-BLL
    (S) beside an NNGP that is subsampled alike; ours has all rows on both sides."""
    for metric, title in (("nll", "NLL"), ("ece", "ECE")):
        for other in BLL, "LL Laplace":
            yield judged("R 4.4, in small", f"Rich-BLL's {title} is below {other}'s on CIFAR-10, all rows on both sides",
                         [lower(title, scores.get((FULL, metric)), scores.get((other, metric)), FULL, other)])
    for other in BLL, "LL Laplace", "Dropout":
        note = " (whose score is below chance)" if other == "LL Laplace" else ""
        yield judged("R 4.4, in small", f"Rich-BLL's AUROC for CIFAR-100 is above {other}'s{note}",
                     [higher("AUROC", scores.get((FULL, "AUROC")), scores.get((other, "AUROC")), FULL, other)])
    yield not_measured("R 4.4", "Rich-BLL tells SVHN from CIFAR-10, and is beside SNGP and LL Dropout", "SVHN is not at hand; two methods that are not here")


# Names of R, and the scores by which they tell foreign images: R's is the variance of the predicted class's logit.
IMAGES = {("bll", PRIOR): ("NNGP (BLL)", "logit_var"),
          ("rich-bll", f"{PRIOR} --ridge 1 --subsample 0.4"): ("Rich-BLL (S)", "logit_var"),
          ("rich-bll", f"{PRIOR} --ridge 1"): ("Rich-BLL", "logit_var"),
          ("rich-bll", f"{PRIOR} --ridge 1e-4"): ("Rich-BLL, ridge 1e-4", "logit_var"),
          ("last-layer-laplace", PRIOR): ("LL Laplace", "logit_var"),
          ("last-layer-laplace", NARROW): ("LL Laplace, prior sd 1e-6", "logit_var"),
          ("dnn", ""): ("MAP", "entropy"), ("mc-dropout", ""): ("Dropout", "mutual_information"),
          ("ensemble", ""): ("Ensemble", "mutual_information"), ("bbb", ""): ("BBB", "mutual_information")}
RENAMED = {"uncertain": "max_softmax"}  # scores of recorded rows by the names that they had when they were measured


def image_name(row):
    base, own = around(row)
    return IMAGES[row["method"], own["flags"] if base else ""]


def image_scores(rows):
    """(name, metric): Score with the standard error; the AUROC is that of the method's own score, AUROC:x that of score x."""
    values = {}
    for row in rows:
        name, own = image_name(row)
        auroc = {RENAMED.get(score, score): value for score, value in json.loads(row["auroc"]).items()}
        found = {metric: float(row[metric]) for metric in ("nll", "ece", "accuracy") if row[metric]}
        found |= {f"AUROC:{score}": value for score, value in auroc.items()}
        found |= {"AUROC": auroc[own]} if own in auroc else {}
        for metric, value in found.items():
            values.setdefault((name, metric), {})[row["seed"]] = value
    return {at: with_standard_error(of(found)) for at, found in values.items()}


def by_other_score(scores):
    """What the claim on LL Laplace's AUROC rests on."""
    at = [scores.get((name, f"AUROC:{kind}")) for name, kind in
          (("LL Laplace", "logit_var"), ("LL Laplace", "mutual_information"), (SOME, "mutual_information"))]
    return (f"So a claim on LL Laplace's AUROC rests on that score: by it the AUROC is {at[0].mean:.3f}, by mutual information "
            f"{at[1].mean:.3f}, where "
            f"Rich-BLL (S) has {at[2].mean:.3f}.") if all(at) else ""


def page(now):
    scores = image_scores([row for row in studies.rows(studies.HERE / "r_table5") if not row["error"]])
    published = Published("r_table5")
    names = list(dict.fromkeys(name for name, _ in IMAGES.values() if (name, "nll") in scores))
    shown = [("NLL", "nll"), ("ECE", "ece"), ("accuracy", "accuracy"), ("AUROC", "AUROC")]
    table = [[name, "ours", *[cell(scores.get((name, metric))) for _, metric in shown]] for name in names]
    table += [[name, "R", *[published.text("cifar10", name, title) for title, _ in shown]] for name in
              ["NNGP (BLL)", "Rich-BLL (S)", "LL Laplace", "SNGP", "LL Dropout", "Dropout", "Ensemble", "BBB"]]
    kinds = sorted({metric.partition(":")[2] for _, metric in scores if ":" in metric})
    every = [[name, *[cell(scores.get((name, f"AUROC:{kind}")), seeds=False) for kind in kinds]] for name in names]
    return Page([
        "CIFAR-10 in, CIFAR-100 out (SVHN: no data). R trains a convnet on 45,000 images for 100 epochs; here are 10,000 images, "
        "of which 1,000 validate, a convnet of width 32 (65 features in the last layer) and 40 epochs, so the levels of NLL are "
        "not R's. Mean ± standard error over seeds (their number in brackets). MAP, BLL, Rich-BLL and LL Laplace stand on one "
        "network a seed, the last three with prior sd 1. BLL and Rich-BLL take a noise variance of 0.1 and at most 1,024 rows a "
        "class; LL Laplace weights its rows by the softmax. (S): 40 % of the rows. R as printed. R's "
        "ridge of 1 is taken as 1 times a row's mean squared norm, which is larger. AUROC: by the variance of the predicted "
        "class's logit (NNGP, Rich-BLL, LL Laplace), the entropy (MAP), the mutual information (Dropout, Ensemble, BBB). LL "
        "Laplace's variance is phi^T S phi with the features phi; with a prior sd of 1e-6, which no row changes, it is |phi|^2 up "
        "to a factor. Where that has an AUROC below .5, foreign images have shorter features, which "
        "pulls the variance down. " + by_other_score(scores),
        grid(["method", "", *[title for title, _ in shown]], table),
        "## AUROC of every score\n\n" + grid(["method", *kinds], every)], list(claims(scores)))
