"""What the studies of low-rank Bayesian networks (S: Toure and Stephens, Singular Bayesian neural networks) share: networks,
methods, orderings, tables.

Each budget of S's tables is what two cores reach; `curve` shows what it saves. The flags name a preset of S's network where the
tool has one; the deterministic methods have none and get the same network and budget in flags. A study's cells are in the order in
which they should run: every method at one seed before the next seed.
"""

import csv
import json
import math
import statistics
from typing import NamedTuple

import judge
import paired
import studies
from judge import ordered
from pages import Page
from protocol import SAME, SILENT, Line
from results import asked
from scores import of, with_standard_error
from tables import grid

SIX = ["concrete", "energy", "kin8nm", "power_plant", "wine_red", "elevators"]
RIVALS = [("dnn", ""), ("vbll", ""), ("dbk", ""), ("mc-dropout", ""), ("bbb", ""), ("ensemble", "--of dnn --members 5")]
BAYESIAN = [("low-rank", ""), ("full-rank", ""), ("full-rank", "--start network"), ("low-rank-svd", ""), ("low-rank-laplace", ""),
            ("rank-1", ""), ("ensemble", "--of low-rank --members 5")]
PLAIN = [("dnn", ""), ("ensemble", "--of dnn --members 5")]
CLINICAL = ("--network mlp --activation relu --hidden 128 --blocks 2 --batch 64 --learning-rate 1e-3 --schedule constant "
            "--patience 0 --class-weights balanced --weight-decay 0")
BEIJING = ("--network lstm --hidden 64 --blocks 2 --final-norm false --lstm-biases one --batch 64 --learning-rate 1e-3 --schedule "
           "plateau --weight-decay 0")
SST2 = ("--network transformer --hidden 256 --blocks 4 --heads 4 --feedforward 512 --positions false --final-norm false --batch 64 "
        "--learning-rate 2e-4 --schedule cosine --patience 5 --weight-decay 0.01")
MNIST = ("--network mlp --activation relu --hidden 1200 --blocks 2 --batch 128 --learning-rate 1e-3 --schedule constant --patience "
         "0 --weight-decay 0")
LEVEL = 0.95  # of S's intervals and of ours
# S appendix I.3.1. The noise variance stays at .02 squared; KL over 760 of 800 epochs; prior sds 2 and e^-3 as printed.
TOY = ("--preset paper-toy --epochs 800 --batch 128 --learning-rate 5e-4 --kl-ramp 760 --weight-prior-sd 2 --narrow-prior-sd "
       "0.0497871 --noise-start 0.0004 --noise-rate 1e-8 --noise-floor 0.0001")

LOW, SVD, LAPLACE, RANK1 = "low-rank", "low-rank-svd", "low-rank-laplace", "rank-1"
FULL, HE = "full-rank", "full-rank, network start"
DNN, ENSEMBLE, LOW_ENSEMBLE = "dnn", "ensemble of dnn", "ensemble of low-rank"
METHODS = [DNN, ENSEMBLE, FULL, HE, LOW, SVD, LAPLACE, RANK1, LOW_ENSEMBLE]
PRINTED = {DNN: "deterministic", ENSEMBLE: "deep_ensemble", FULL: "full_rank_bbb", LOW: "low_rank_gaussian", SVD: "low_rank_svd",
           LAPLACE: "low_rank_laplace", RANK1: "rank1_multiplicative"}
MI, SD = "mutual_information", "epistemic_sd"
# Of MNIST and Fashion-MNIST: title, ours, as it is printed, printed / ours.
IMAGES = [("accuracy", "accuracy", "accuracy_pct", 100), ("NLL", "nll", "nll", 1), ("Brier", "brier", "brier", 1),
          ("ECE", "ece", "ece", 1), ("ECE, equal width", "ece_width", "ece_ew_15", 1), ("AUROC-OOD", f"ood.auroc.{MI}", "", 1),
          ("parameters", "parameters", "params", 1)]
IMAGES_TEXT = ("S's protocol; S has one seed. Foreign: {foreign}. S prints the Brier score of one class in ten on MNIST; ours is "
               "summed over the classes.")
PRIOR = ("S writes the prior 0.5 N(0, 1) + 0.5 N(0, e^-6) of a weight. The presets take e^-6 = .0025 as the narrow sd, as S "
         "states it for MNIST. Read as a variance, which the toy curve takes, it is the sd e^-3 = .0498, twenty times wider.")
PRIOR_LINE = Line("prior", "0.5 N(0, 1) + 0.5 N(0, e^-6); e^-6 is an sd in I.1, a variance by 2.1", "sds 1 and e^-6 = .0025", SILENT)
CLINICAL_PROTOCOL = [
    Line("data", "MIMIC-III: 40,406 rows, 4,490 to test; 5,357 newborns foreign (4.2)",
         "support2: 6,807 rows, 851 to test; 596 patients in coma foreign"),
    Line("preprocessing", "outliers by 8 IQR, medians for missing cells, scaled to [0, 1] (G.3.1)",
         "means and indicators for missing cells, scaled to [-1, 1]"),
    Line("class weights", "1 and, for deaths, 11.88 (G.3.1)", "by the shares, 1 on average: the KL counts for more than in S"),
    Line("network", "two layers of 128, ReLU; rank 15 (G.3.2)", "the same", SAME),
    Line("start of the weights", "Glorot; full-rank U(-.2, .2); low-rank He or Glorot times .55 (Table 6)",
         "U(±1 / sqrt(inputs)) in place of He and Glorot; the rest as in S"),
    PRIOR_LINE,
    Line("KL annealing", "from zero over early epochs, \"crucial\" (H.1); its length is not said", "none"),
    Line("optimiser", "Adam, 1e-3, batches of 64 (G.3.2)", "the same", SAME),
    Line("draws", "1 to train, 512 to predict (G.3.2)", "the same", SAME)]
KEPT = Line("epoch kept", "no validation rows; a fixed number of epochs, \"to prevent overfitting\" (G.3)",
            "the best by the NLL of 10 % of the rows")
IMAGES_PROTOCOL = [
    Line("images", "50,000 to train, 10,000 to validate, 10,000 to test (I.1.1)", "49,999, 10,001 and 10,000", SAME),
    Line("pixels", "to [0, 1] \"by dividing by 126\" (I.1.1), which gives [0, 2]", "divided by 126", SAME),
    Line("network", "784-1200-1200-10, ReLU; ranks 25, 25, 10 (I.1.1, Table 14)", "the same", SAME),
    Line("rank-1", "the matrix times s r' (I.1.1), or (1 + s) (1 + r)' (A.3, Table 7); its start is not said", "s r', which starts at 1", SILENT),
    Line("start of the weights", "not said for images", "full-rank U(-.2, .2), damping .55, as in Table 6", SILENT),
    Line("prior", "0.5 N(0, 1) + 0.5 N(0, s^2), s = e^-6 (I.1.1)", "the same", SAME),
    Line("weight of the KL", "1 / rows (I.1.1)", "the same", SAME),
    Line("KL annealing", "from zero over 20 of 50 epochs (I.1.1)", "the same", SAME),
    Line("optimiser", "Adam, 1e-3, batches of 128 (I.1.1)", "the same", SAME),
    Line("epochs", "50 (I.1.1)", "50", SAME),
    Line("epoch kept", "not said", "after the annealing the best by the NLL of the validation images", SILENT),
    Line("draws", "50 (I.1.1)", "50", SAME),
    Line("ECE", "15 bins of equal mass (Tables 15 to 18)", "the same", SAME)]
RETAINED = 4  # of the shares 100, 95, 90, 85, 80: the place of 80 %
DECIDED = "A claim is decided where the mean difference, seed by seed, exceeds its 95 % bound by Student's t."
NLL, VALID = "nll_standardized", "valid_nll_standardized"
RULE = ("The mean on a table is over the splits that all rows share there. The last two columns are the mean difference of the NLL from "
        "`{reference}` on the same split and seed, over the pairs of each table first and then over the tables, ± its standard error (number of "
        "tables); it is called better or worse where it exceeds the 95 % bound by Student's t.")


def of_paper(data, seeds, budget, preset, network):
    """Every method of S on one source: the random ones by the preset, the deterministic ones by the same network."""
    for seed in range(seeds):
        for method, own in BAYESIAN:
            yield asked("main", data, method, seed, own, f"--preset {preset}", budget)
        for method, own in PLAIN:
            yield asked("main", data, method, seed, own, network, budget)


def curve(data, preset, network, epochs):
    """What fewer epochs cost: low-rank, full-rank and dnn at seed 0."""
    for n in epochs:
        for method, flags in (("low-rank", f"--preset {preset}"), ("full-rank", f"--preset {preset}"), ("dnn", network)):
            yield asked(f"curve, {n} epochs", data, method, 0, flags, f"--epochs {n}")


OF_IMAGES = [(LOW, ""), (RANK1, ""), (DNN, ""), (LAPLACE, ""), (FULL, ""), (FULL, "--start network")]
PIXELS = "--pixel-divisor 126"


def of_images(data):
    """S's protocol in full, 3 seeds (S: one), the other start of full-rank at seed 0, and S's methods at seed 0 once more with the last
    epoch. The cheap methods are first: a fit of full-rank takes 25 minutes."""
    for seed in range(3):
        for method, own in OF_IMAGES if seed == 0 else OF_IMAGES[:-1]:
            network = f"{MNIST} --epochs 50" if method == DNN else "--preset paper-mnist"
            yield asked("main", data, method, seed, own, network, PIXELS)
    for method in LOW, RANK1, LAPLACE, FULL:
        yield asked("last epoch", data, method, 0, "--preset paper-mnist", PIXELS, "--select-by last")


class Order(NamedTuple):
    """An ordering that a paper states. One that names several rivals holds if it holds against each, and falls with the first that
    contradicts it."""
    source: str
    text: str
    metric: str
    up: bool  # whether more is better, so that `a` is said to have more
    a: str
    others: tuple


def name_of(row):
    """The method as METHODS has it."""
    words = row["flags"].split()
    if row["method"] == "ensemble":
        return f"ensemble of {words[words.index('--of') + 1]}"
    return HE if row["method"] == FULL and "--start network" in row["flags"] else row["method"]


def numbers_of(row):
    """Every reported number of a row by its path, with the parameters, the seconds and what the paper derives from them."""
    found = json.loads(row["scores"]) if row["scores"] else {}
    found |= {metric: float(row[metric]) for metric in ("parameters", "seconds") if row[metric]}
    for score in (SD, "total_sd"):
        kept, whole = (found.get(f"selective.by.{score}.mae.{at}") for at in (RETAINED, 0))
        if kept is not None and whole:
            found["retention_gain"] = 1 - kept / whole
            break
    if "coverage" in found:
        found["coverage_gap"] = abs(found["coverage"] - LEVEL)
    return found


def per_parameter(measured, name, metric, fewest):
    """By seed, the metric times the root of the fewest parameters of any method over this one's: S's "efficiency-adjusted" score (Figures
    12 and 17), without its scaling to [0, 1], whose ends S does not print."""
    own, parameters = measured.by_seed(name, metric), measured.by_seed(name, "parameters")
    return {seed: own[seed] * math.sqrt(fewest / parameters[seed]) for seed in own.keys() & parameters.keys()}


def efficiency(source, measured, metrics, others):
    """S: low-rank wins by these scores. One claim a metric, of which more is better."""
    sizes = [size for name in (LOW, *others) for size in measured.by_seed(name, "parameters").values()]
    for title, metric in metrics:
        ours = per_parameter(measured, LOW, metric, min(sizes, default=1))
        yield judge.judged(source, f"low-rank has the highest {title} times sqrt(fewest parameters / parameters)",
                           [ordered(f"{LOW} - {other}", ours, per_parameter(measured, other, metric, min(sizes, default=1))) for other in others])


class Measured:
    """The rows of a study's part that worked, one a cell, by method and seed."""

    def __init__(self, rows, part="main", name=name_of, numbers=numbers_of):
        self._numbers = {}
        for row in rows:
            if row["study"] == part and not row["error"]:
                self._numbers.setdefault(name(row), {})[row["seed"]] = numbers(row)

    def names(self):
        return sorted(self._numbers)

    def by_seed(self, name, metric):
        return {seed: found[metric] for seed, found in self._numbers.get(name, {}).items() if metric in found}

    def score(self, name, metric):
        """With the standard error of the mean; None without a value."""
        values = self.by_seed(name, metric)
        return with_standard_error(of(values)) if values else None


def judged(order, measured):
    """The claim with the difference from each rival."""
    ours = measured.by_seed(order.a, order.metric)
    cases = [ordered(f"{order.a} - {other}", ours, measured.by_seed(other, order.metric), order.up) for other in order.others]
    return judge.judged(order.source, order.text, cases)


def shown(values, metric):
    """Mean ± standard error (number of seeds); "" without a value."""
    values = list(values.values())
    if not values:
        return ""
    if metric == "parameters":
        return f"{values[0]:,.0f}"
    error = f" ± {statistics.stdev(values) / math.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{error} ({len(values)})"


def printed_numbers(study):
    """By the paper's method and metric; {} of a study without a published.csv."""
    path = studies.HERE / study / "published.csv"
    if not path.exists():
        return {}
    with open(path, newline="") as file:
        return {(row["method"], row["metric"]): float(row["value"]) for row in csv.DictReader(file)}


def table_of(measured, published, columns, methods=tuple(METHODS), printed_as=PRINTED, paper="S"):
    """Our numbers of each method above those that the paper prints."""
    rows = []
    for name in methods:
        ours = [shown(measured.by_seed(name, metric), metric) for _, metric, _, _ in columns]
        theirs = [published.get((printed_as.get(name), printed)) for _, _, printed, _ in columns]
        if any(ours):
            rows.append([name, "ours", *ours])
        if any(value is not None for value in theirs):
            rows.append([name, paper, *["" if value is None else f"{value / by:{',.0f' if printed.startswith('params') else '.3g'}}"
                                        for value, (_, _, printed, by) in zip(theirs, columns)]])
    return grid(["method", "", *[title for title, *_ in columns]], rows)


def numbers_in_words(row, metrics):
    """The row's method and numbers."""
    numbers = numbers_of(row)
    return [name_of(row), *[f"{numbers[metric]:.3f}" if metric in numbers else "" for _, metric in metrics]]


def epochs_of(row):
    return row["flags"].partition("--epochs ")[2].partition(" ")[0]


def at_the_prior(numbers):
    """Whether the weights of a fit on support2 stayed at the prior: it answers the rarer label for nearly every row."""
    return numbers.get("errors.rate", 0) > 0.5


def collapsed(row):
    return not row["error"] and at_the_prior(numbers_of(row))


def curve_of(rows, columns):
    """The rows of the study's parts `curve`, `beta` and `last epoch`: what the saving costs, and the choice of the epoch."""
    found = [row for row in rows if row["study"].startswith(("curve", "beta", "last epoch")) and row["seed"] == "0" and not row["error"]]
    metrics = [(title, metric) for title, metric, _, _ in columns if metric != "parameters"]
    named = [row["study"].removeprefix("curve").lstrip(", ") or f"{epochs_of(row)} epochs, {row['data']}" for row in found]
    lines = [[name, *numbers_in_words(row, metrics)] for name, row in zip(named, found)]
    return ("## Other budgets and settings\n\nOne seed.\n\n"
            + grid(["budget", "method", *[title for title, _ in metrics]], lines)) if lines else ""


def page(study, text, columns, orders, more=lambda rows: "", claims=lambda measured: ()):
    """Of a table of S: ours beside the printed numbers. `more`: the last part, from the rows; `claims`: those that are no orderings."""
    rows = studies.rows(studies.HERE / study)
    measured = Measured(rows)
    return Page([f"{text} Ours: mean ± standard error over seeds (their number in brackets); S as printed. {DECIDED}",
                 table_of(measured, printed_numbers(study), columns), curve_of(rows, columns), more(rows)],
                [*(judged(order, measured) for order in orders), *claims(measured)])


def variant_of(row):
    """A part's name says what differs; of a part with several methods, the method does."""
    return row["method"] if row["study"] in ("rivals", "defaults") else row["study"]


def by_variant(rows, metric):
    """(variant) to {(table, seed): number}; failed rows and rows without the number are left out."""
    found = {}
    for row in rows:
        if not row["error"] and row[metric]:
            found.setdefault(variant_of(row), {})[row["data"], row["seed"]] = float(row[metric])
    return found


def means(values, tables):
    """The mean over seeds on each table, "" where none was measured."""
    found = []
    for table in tables:
        own = [value for (data, _), value in values.items() if data == table]
        found.append(f"{statistics.fmean(own):.3f}" if own else "")
    return found


def better_or_worse(found):
    return "" if found is None else f"{found}" + {1: " worse", -1: " better", 0: ""}[found.sign]


def over_tables(one, other):
    """The difference with the table as the unit: each table's is the mean over its common pairs."""
    common = one.keys() & other.keys()

    def by_table(values):
        return {table: statistics.fmean(values[at] for at in sorted(common) if at[0] == table) for table, _ in common}

    return paired.difference(by_table(one), by_table(other))


def shared(values, names):
    """Each variant's numbers at the pairs of a table that all variants with this table have."""
    pairs = set()
    for table in SIX:
        own = [{at for at in values[name] if at[0] == table} for name in names]
        pairs |= set.intersection(*filter(None, own)) if any(own) else set()
    return {name: {at: value for at, value in values[name].items() if at in pairs} for name in names}


def comparison(rows, reference, variants):
    """Each variant's NLL on each table, and its differences from the reference on validation and on test rows."""
    test, valid = by_variant(rows, NLL), by_variant(rows, VALID)
    shown_here = shared(test, [name for name in variants if name in test])
    lines = [[name, *means(own, SIX), better_or_worse(over_tables(valid.get(name, {}), valid.get(reference, {}))),
              better_or_worse(over_tables(test[name], test.get(reference, {})))] for name, own in shown_here.items()]
    return grid(["", *SIX, "validation", "test"], lines)
