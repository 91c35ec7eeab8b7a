"""The pages of the Rich-BLL paper's studies (R) that have programs of their own: costs, figures, images, the ridge."""

import csv
import json
import math
import statistics

import claims_r
import pages
from claims import OPEN, Claim
from claims_r import with_standard_error
from pages import verdicts
from scores import Published, of
from tables import cell, grid


def rows_of(folder, name="results.csv"):
    """The rows of a study's file; [] without one."""
    path = pages.HERE / folder / name
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write_page(folder, title, program, parts):
    text = f"# {title}\n\n```\nexperiments/{folder}/{program}\nexperiments/report.py\n```\n\n"
    (pages.HERE / folder / "README.md").write_text(text + "\n".join(part.rstrip() + "\n" for part in parts))


def slope(points):
    """Of log y on log x, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean = statistics.fmean(xs)
    return sum((x - mean) * (y - statistics.fmean(ys)) for x, y in zip(xs, ys)) / sum((x - mean) ** 2 for x in xs)


EXPONENTS = {"NTK-GP": ("3", "2"), "NNGP (BLL)": ("1", "0"), "Rich-BLL": ("1", "0"), "Rich-BLL (S)": ("0", "0")}


def r_costs():
    """R Table 1, from the rows of measure.py; its medians over rounds."""
    rows = rows_of("r_costs")
    if not rows:
        return
    at = {}
    for row in rows:
        for what in "fit_s", "fit_mb", "predict_s", "model_bytes":
            at.setdefault((row["method"], int(row["n"]), what), []).append(float(row[what]))
    at = {key: statistics.median(values) for key, values in at.items()}
    sizes = sorted({n for _, n, _ in at})
    parts = ["One trained network (two layers of 50, mu-P, two inputs: r = 51 features, 2,751 weights); each cell is a process of its own with one "
             f"thread, processor seconds, medians of {len({row['round'] for row in rows})} rounds, at commit {', '.join(dict.fromkeys(row['commit'] for row in rows))}. Seconds and peak memory hold the "
             "start of the program and the reading of the table, which is why the slopes are those of what exceeds the smallest n; (S): 500 rows."]
    for what, title, digits in (("fit_s", "Seconds of a fit", 2), ("fit_mb", "Peak memory of a fit, MB", 0), ("predict_s", "Seconds for 2,000 answers", 2),
                                ("model_bytes", "Bytes of the model file", 0)):
        table = [[f"{n:,}", *[f"{at[m, n, what]:,.{digits}f}" if (m, n, what) in at else "" for m in EXPONENTS]] for n in sizes]
        parts.append(f"## {title}\n\n" + grid(["n", *EXPONENTS], table))
    parts.append("## Slopes\n\n" + grid(["method", "time, ours", "R", "memory, ours", "R"], slopes(at, sizes)) + "\nOf log (cost above that at the smallest n) on log n over "
                 "the three largest n. R counts the posterior alone: ours reads n rows and passes them through the network, also for "
                 "(S), and holds the table of n rows, which is the growth of the memory of BLL and Rich-BLL. The model file grows by the 16 bytes a row "
                 "of its split and of the hashes by which `forget` knows the rows; NTK-GP's, instead of the hashes, by the rows themselves.")
    write_page("r_costs", "Costs (R Table 1)", "measure.py", parts)


def slopes(at, sizes):
    table = []
    for method, (time, memory) in EXPONENTS.items():
        own = [n for n in sizes if (method, n, "fit_s") in at]
        found = []
        for what in "fit_s", "fit_mb":
            points = [(n, at[method, n, what] - at[method, own[0], what]) for n in own[-3:]]
            found.append(f"{slope(points):.2f}" if len(points) == 3 and all(y > 0 for _, y in points) else "none measurable")
        table.append([method, found[0], time, found[1], memory])
    return table


def r_figures():
    """R Figures 1 and 2, from the columns that draw.py wrote."""
    if not rows_of("r_figures", "regression.csv"):
        return []
    places, parts = {"x = -3": "-3.0", "x = -1 (rows)": "-1.0", "x = 0 (the gap)": "0.0", "x = 3": "3.0"}, []
    for name, what, title in (("regression", "sd_epistemic", "Epistemic sd (Figure 1)"), ("classes", "mutual_information", "Mutual information (Figure 2)")):
        rows = {row["x"]: row for row in rows_of("r_figures", f"{name}.csv")}
        methods = [column.partition(":")[0] for column in rows["0.0"] if column.endswith(what)]
        table = [[m, *[f"{float(rows[x][f'{m}: {what}']):.3f}" for x in places.values()]] for m in methods]
        parts.append(f"## {title}\n\n![{name}]({name}.svg)\n\n" + grid(["method", *places], table))
    write_page("r_figures", "One dimension (R Figures 1 and 2)", "draw.py", [
        "R does not say its data; ours are in `draw.py`: 400 rows in two stretches, -1.5 to -0.4 and 0.4 to 1.5, with a gap between them. "
        "One network a figure, prior sd 1, 40 % of the rows for (S); Rich-BLL with the default ridge, the "
        "[ridge](../r_ridge/README.md) tells why. Shaded: two epistemic sds around the mean; for classes the mutual information "
        "under the probability of the class at the right.", *parts, "## Claims\n\n" + verdicts(found := [nearness()])])
    return found


def nearness():
    """R Figure 1's claim on our curve: one network, so that nothing is decided."""
    text = "Rich-BLL's epistemic sd is nearer to NTK-GP's than NNGP (BLL)'s, by the root mean square of the log ratio over the curve"
    rows, names = rows_of("r_figures", "regression.csv"), ("NTK-GP", "Rich-BLL", "NNGP (BLL)")
    if not all(f"{name}: sd_epistemic" in rows[0] for name in names):
        return Claim("R Figure 1", text, OPEN, "")
    whole, *others = ([float(row[f"{name}: sd_epistemic"]) for row in rows] for name in names)
    far = [math.sqrt(statistics.fmean(math.log(a / b) ** 2 for a, b in zip(one, whole))) for one in others]
    return Claim("R Figure 1", text, OPEN, f"Rich-BLL {far[0]:.2f} against NNGP (BLL) {far[1]:.2f}, one network")


# Names of R, and the scores by which they tell foreign images: R's is the variance of the predicted class's logit.
IMAGES = {("bll", ""): ("NNGP (BLL)", "logit_var"), ("rich-bll", "--ridge 1 --subsample 0.4"): ("Rich-BLL (S)", "logit_var"),
          ("rich-bll", "--ridge 1"): ("Rich-BLL", "logit_var"), ("rich-bll", "--ridge 1e-4"): ("Rich-BLL, ridge 1e-4", "logit_var"),
          ("last-layer-laplace", ""): ("LL Laplace", "logit_var"),
          ("last-layer-laplace", "--prior fixed --prior-sd 1e-6"): ("LL Laplace, prior sd 1e-6", "logit_var"), ("dnn", ""): ("MAP", "entropy"), ("mc-dropout", ""): ("Dropout", "mutual_information"),
          ("ensemble", ""): ("Ensemble", "mutual_information"), ("bbb", ""): ("BBB", "mutual_information")}


PRIOR = "--prior fixed --prior-sd 1"
RENAMED = {"uncertain": "max_softmax"}  # scores of recorded rows by the names that they had when they were measured


def image_name(row):
    flags = row["flags"] if row["study"] == "around" else ""
    if flags == PRIOR or flags.startswith(f"{PRIOR} "):
        flags = flags.removeprefix(PRIOR).strip()
    return IMAGES[row["method"], flags]


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
    at = [scores.get((name, f"AUROC:{kind}")) for name, kind in (("LL Laplace", "logit_var"), ("LL Laplace", "mutual_information"), ("Rich-BLL (S)", "mutual_information"))]
    return (f"So a claim on LL Laplace's AUROC rests on that score: by it the AUROC is {at[0].mean:.3f}, by mutual information {at[1].mean:.3f}, where "
            f"Rich-BLL (S) has {at[2].mean:.3f}.") if all(at) else ""


def r_table5():
    rows = [row for row in rows_of("r_table5") if not row["error"]]
    if not rows:
        return []
    scores, published = image_scores(rows), Published(pages.HERE / "r_table5" / "published.csv")
    names = list(dict.fromkeys(name for name, _ in IMAGES.values() if (name, "nll") in scores))
    shown = [("NLL", "nll"), ("ECE", "ece"), ("accuracy", "accuracy"), ("AUROC", "AUROC")]
    table = [[name, "ours", *[cell(scores.get((name, metric))) for _, metric in shown]] for name in names]
    table += [[name, "R", *[cell(published.get("cifar10", name, title)) for title, _ in shown]] for name in
              ["NNGP (BLL)", "Rich-BLL (S)", "LL Laplace", "SNGP", "LL Dropout", "Dropout", "Ensemble", "BBB"]]
    kinds = sorted({metric.partition(":")[2] for _, metric in scores if ":" in metric})
    every = [[name, *[cell(scores.get((name, f"AUROC:{kind}")), seeds=False) for kind in kinds]] for name in names]
    found = list(claims_r.r_table5(scores))
    write_page("r_table5", "Table 5 of the Rich-BLL paper (R), in small", "run.py", [
        "CIFAR-10 in, CIFAR-100 out (SVHN: no data). R trains a convnet on 45,000 images for 100 epochs; here are 10,000 images, of which 1,000 "
        "validate, a convnet of width 32 (65 features in the last layer) and 40 epochs, so the levels of NLL are not R's. Mean ± "
        f"standard error over seeds (their number in brackets), at commits {', '.join(dict.fromkeys(row['commit'] for row in rows))}. MAP, BLL, Rich-BLL and LL Laplace stand on "
        "one network a seed, with prior sd 1, a noise variance of 0.1 and at most 1,024 rows a class; (S): 40 % of the rows. R's ridge of 1 is "
        "taken as 1 times a row's mean squared norm, which is larger. AUROC: by the variance of the predicted class's logit (NNGP, Rich-BLL, LL Laplace), the entropy "
        "(MAP), the mutual information (Dropout, Ensemble, BBB). LL Laplace's variance is phi^T S phi with the features phi; with a prior sd of 1e-6, "
        "which no row changes, it is |phi|^2 up to a factor. Where that has an AUROC below .5, foreign images have shorter features, which pulls the "
        "variance down. " + by_other_score(scores),
        grid(["method", "", *[title for title, _ in shown]], table),
        "## AUROC of every score\n\n" + grid(["method", *kinds], every), "## Claims\n\n" + verdicts(found)])
    return found


def r_ridge():
    rows = rows_of("r_ridge")
    if not rows:
        return
    at = {(row["data"], row["network"], row["method"], row["ridge"], row["rows"]): row for row in rows}
    columns = list(dict.fromkeys((row["method"], row["ridge"]) for row in rows))
    cases = list(dict.fromkeys((row["data"], row["network"]) for row in rows))
    parts = ["Rich-BLL replaces the gradients of the earlier layers by their regression on the last layer's features. Least squares (ridge 0; R "
             "names a ridge only for images) extrapolates from directions of the features that the rows hardly have. A cell compares the epistemic sd "
             "with that of NTK-GP around the same network, with the same prior and noise, on rows left out (`near`) and on these moved to three "
             f"times their distance from the mean (`far`). One network a line, at commit {', '.join(dict.fromkeys(row['commit'] for row in rows))}; `curve`: the rows of "
             "[r_figures](../r_figures/README.md). The ridge is a share of a row's mean squared norm."]
    for metric, title in (("rms_log", "Root mean square of log(sd / sd of NTK-GP)"), ("mean_log", "Mean of log(sd / sd of NTK-GP)"),
                          ("correlation", "Correlation of the logs")):
        table = [[data, network, part, *[f"{float(at[data, network, *column, part][metric]):.2f}" for column in columns]]
                 for data, network in cases for part in ("near", "far")]
        parts.append(f"## {title}\n\n" + grid(["data", "network", "rows", *[f"ridge {ridge}" if ridge else method for method, ridge in columns]], table))
    write_page("r_ridge", "The ridge of Rich-BLL", "measure.py", parts)


def write():
    """Every page; the claims."""
    r_costs()
    r_ridge()
    return r_figures() + r_table5()
