"""What the defaults of dbk rest on: each cell changes one of them."""

import statistics

import studies
from pages import Page
from results import asked
from tables import grid

TITLE = "The recipe of `dbk`"
WHAT = "what the defaults of the networks rest on"
PAPER = "ours"
TABLES = ["kin40k", "pol", "elevators", "wine_red", "concrete"]
# Study, flags, and the change in words.
CHANGES = [("default", "", "none: 20,000 steps, rate 3e-3, one-cycle, noise floor 1e-4, focus 0.5 until 0.7"),
           ("rate", "--learning-rate 1e-3", "rate 1e-3"), ("rate", "--learning-rate 8e-3", "rate 8e-3"),
           ("floor", "--noise-floor 1e-6", "noise floor 1e-6"), ("floor", "--noise-floor 1e-3", "noise floor 1e-3"),
           ("focus", "--focus 0", "focus 0 (the paper's objective from the first step)"),
           ("schedule", "--schedule constant --learning-rate 1e-3", "constant rate 1e-3"), ("steps", "--steps 5000", "5,000 steps")]
FLOOR, FOCUS = CHANGES[3][:2], CHANGES[5][:2]


def cells():
    """`acceptance`: three seeds of the defaults."""
    for data in "kin40k", "pol", "elevators", "wine_red":
        yield from (asked("acceptance", data, "dbk", seed) for seed in range(3))
    for study, flags, _ in CHANGES:
        for data in "wine_red", "concrete":
            yield from (asked(study, data, "dbk", seed, flags) for seed in range(3))
        for data in "pol", "kin40k", "elevators":
            yield asked(study, data, "dbk", 0, flags)


class Rows:
    """The rows of each change on each table."""

    def __init__(self, rows):
        self.found = {}
        for row in rows:
            if not row["error"]:
                self.found.setdefault((row["study"], row["flags"], row["data"]), []).append(row)

    def of(self, change, data):
        return self.found.get((*change, data), [])

    def mean(self, change, data, metric):
        """None without a row."""
        rows = self.of(change, data)
        return statistics.fmean(float(row[metric]) for row in rows) if rows else None


def short(number, digits):
    """Without the zero before the point."""
    return f"{number:.{digits}f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.{digits}f}"


def cell(rows, change, data):
    nll, mae, coverage = (rows.mean(change, data, metric) for metric in ("nll_standardized", "mae_standardized", "coverage"))
    return f"{short(nll, 3)} / {short(mae, 4 if mae < 0.1 else 3)} / {short(coverage, 2)}" if nll is not None else ""


def focus(rows):
    """What it does, and where its fits end."""
    default = CHANGES[0][:2]
    mae = [rows.mean(change, "pol", "mae_standardized") for change in (default, FOCUS)]
    nll = [rows.mean(change, "wine_red", "nll_standardized") for change in (default, FOCUS)]
    on_concrete = [rows.mean(change, "concrete", "mae_standardized") for change in (default, FOCUS)]
    ends = {data: sorted(int(row["steps"]) for row in rows.of(default, data) + rows.of(("acceptance", ""), data)) for data in TABLES[2:]}
    if None in (*mae, *nll, *on_concrete) or not all(ends.values()):
        return ""
    spans = {data: dict.fromkeys((steps[0], steps[-1])) for data, steps in ends.items()}
    where = ", ".join(f"{data} ({' to '.join(f'{step:,}' for step in span)})" for data, span in spans.items())
    return ("- **Focus.** Without it the mean of hard rows loses its gradient to the variance: pol's MAE is "
            f"{mae[1] / mae[0]:.1f} times as large, wine_red's NLL rises by {nll[1] - nll[0]:.2f}; pol is one seed. "
            f"Concrete's MAE is {short(on_concrete[0], 3)} with it, {short(on_concrete[1], 3)} without. It weighs rows by their predictive "
            "variance (Seitzer et al. 2022) and falls to zero at 70 % of the budget. Where "
            "validation is best before that, the model that is kept never saw the paper's objective alone. These fits end by "
            f"step, of 20,000: {where}.")


def wins(rows, change, metric):
    """The tables on which the mean of a change is below the default's: by table, on how many of its seeds ("" with one)."""
    default, found = CHANGES[0][:2], {}
    for data in TABLES:
        ours, theirs = ({row["seed"]: float(row[metric]) for row in rows.of(each, data)} for each in (change, default))
        common = ours.keys() & theirs.keys()
        if common and rows.mean(change, data, metric) < rows.mean(default, data, metric):
            below = sum(ours[seed] < theirs[seed] for seed in common)
            found[data] = f" ({below} of {len(common)} seeds)" * (len(common) > 1)
    return found


def listed(found):
    *words, last = [data + seeds for data, seeds in found.items()] or ["none"]
    return " and ".join([", ".join(words), last]) if words else last


def floor(rows):
    mae, usual = (rows.mean(change, "pol", "mae_standardized") for change in (FLOOR, CHANGES[0][:2]))
    worst = max(rows.of(FLOOR, "concrete"), key=lambda row: float(row["nll_standardized"]), default=None)
    if None in (mae, usual, worst):
        return ""
    nll, lower = (listed(wins(rows, FLOOR, metric)) for metric in ("nll_standardized", "mae_standardized"))
    return (f"- **Noise floor.** 1e-6 has the lower mean NLL on {nll}, and the lower mean MAE on {lower}. It gives up the mean of pol (MAE "
            f"{short(mae, 3)}, {short(usual, 3)} by the default) and lets single rows ruin a small table (concrete's NLL: "
            f"{float(worst['nll_standardized']):.2f} with seed {worst['seed']}): 1e-4, one per cent of the target's sd, is the cautious "
            "choice. 1e-3 is above the noise of kin40k.")


def unsettled(rows):
    found = [value for *change, _ in CHANGES if (value := rows.mean(tuple(change), "concrete", "coverage")) is not None]
    if not found:
        return ""
    row = rows.of(CHANGES[0][:2], "concrete")[0]
    return (f"- **What it does not settle.** On concrete ({row['rows']} training rows) the intervals are too narrow whatever the "
            f"row: a coverage of {short(min(found), 2)} to {short(max(found), 2)} on {row['test_rows']} test rows. The split is "
            "one, so that the seeds' spread is not the whole one.")


def page(now):
    rows = Rows(studies.rows(studies.HERE / "recipe"))
    table = [[text, *(cell(rows, (study, flags), data) for data in TABLES)] for study, flags, text in CHANGES]
    rate = "- **Rate and steps.** kin40k wants more than 1e-3, pol less than 8e-3. Large tables starve at 5,000 steps."
    decided = [focus(rows), floor(rows), rate, unsettled(rows)]
    return Page([
        "What the defaults of `catalog/training_options.h` and `methods/deep_kernel/dbk_options.h` rest on. Every row changes "
        "one default; the numbers are the standardised test NLL / MAE / 95 % coverage.",
        "One split (seed 0, 10 % test, 10 % validation, identical inputs on one side). kin40k, pol and "
        "elevators: seed 0; wine_red and concrete: mean of seeds 0 to 2.",
        grid(["change", *TABLES], table), "What it decided:", "\n".join(line for line in decided if line),
        "The `acceptance` cells are three seeds of the defaults. Times in `results.csv` were taken on a busy machine of two cores; they "
        "are upper bounds."])
