"""S Figure 3 and Theorem 3.8: the bounds on the error of new rows, by the rank of the factors."""

import itertools
import json
import math

import sources
import studies
from judge import above, alike, judged, limit, lower, ordered
from pages import Page
from paper_s import FULL, HE, Measured, shown
from protocol import SAME, SILENT, Line
from results import KEY, asked
from runners import Runner
from scores import of, with_standard_error
from tables import grid

TITLE = "Bounds by rank (S Figure 3, Theorem 3.8)"
WHAT = "S Figure 3 and Theorem 3.8: PAC-Bayes bound and Gaussian complexity by rank"
PAPER = "S"
FIGURE, THEOREM = "S 3.4, Figure 3", "S 3.4, Theorem 3.8"
PROTOCOL = [
    Line("network", "the LSTM of 4.3; S's Gaussian complexity (Theorem 3.9) has no form for one", "the two layers of 128 of 4.2", of=FIGURE),
    Line("data", "Beijing, 29,213 windows to train", "support2, 6,807 rows to train", of=FIGURE),
    Line("loss between 0 and 1", "not said", "the share of wrong classes", SILENT, of=FIGURE),
    Line("rank", "\"empirical values from trained LSTM model\"; whether each rank was trained is not said", "each trained", SILENT, of=FIGURE),
    Line("theorem", "m x n against r (m + n) parameters of one matrix", "of the whole network, whose last matrix has rank 1", SAME, of=THEOREM),
    Line("prior", "0.5 N(0, 1) + 0.5 N(0, e^-6); e^-6 is an sd in I.1, a variance by 2.1", "both readings", SILENT),
    Line("training", "256 epochs, the weight of the KL .5 / batches (G.3.2)", "the same, the last epoch", SAME, of=THEOREM),
]
FIELDS = [*KEY, "parameters", "rows", "kl", "risk", "complexity", "loose", "tight", "gaussian", "seconds", "memory_mb", "commit", "command", "recipe", "error"]
FITS, DATA, DELTA = "--preset paper-clinical --beta 5.4 --select-by last", "support2", 0.05
RANKS = [2, 5, 8, 11, 15, 30, 60]
PRIORS = {"sd e^-6": "", "sd e^-3": "--narrow-prior-sd 0.0497871"}
LOW = "low-rank, rank {}"


def cells():
    """S Table 6: the damping is .32 up to rank 5."""
    for seed, (part, prior) in itertools.product(range(3), PRIORS.items()):
        for rank in RANKS:
            yield asked(part, DATA, "low-rank", seed, FITS, f"--rank {rank}", "--damping 0.32" if rank <= 5 else "", prior)
        for start in "", "--start network":
            yield asked(part, DATA, "full-rank", seed, FITS, start, prior)


def of_bounds(bounds):
    """Of the tool's report: KL, risk of the drawn networks, and the right sides of S's Theorem D.2 (`loose`), which exceeds 1 where it says
    nothing, and of the kl form (`tight`), which cannot."""
    found = {bound["name"]: bound for bound in bounds}
    pac, gauss = found["pac_bayes"], found["gaussian_complexity"]
    term = math.sqrt((pac["kl"] + math.log(2 * math.sqrt(pac["rows"]) / DELTA)) / (2 * pac["rows"]))
    return {"rows": pac["rows"], "kl": f"{pac['kl']:.8g}", "risk": f"{pac['risk']:.6g}", "complexity": f"{term:.6g}",
            "loose": f"{pac['risk'] + term:.6g}", "tight": f"{pac['bound']:.6g}", "gaussian": f"{gauss['value']:.6g}"}


class Bounds(Runner):
    def _measure(self, cell, work):
        source = sources.SOURCES[cell["data"]]
        table, model = source.files(self.data, work.folder).train, work.folder / "m.safetensors"
        answer = json.loads(work.measured(self.command(cell, table, [], model)))
        report = json.loads(work.quiet([self.tool, "bounds", model, table, "--split", "train", "--threads", "1", "--json"]))
        known = json.loads(work.quiet([self.tool, "describe", model, "--json"]))
        return {**of_bounds(report["bounds"]), "parameters": known["parameters"], "seconds": round(answer["summary"]["seconds"], 1)}


def runner(tool, data):
    return Bounds(tool, data)


def name_of(row):
    words = row["flags"].split()
    if row["method"] == "low-rank":
        return LOW.format(words[words.index("--rank") + 1])
    return HE if "--start network" in row["flags"] else FULL


def numbers_of(row):
    return {field: float(row[field]) for field in ("parameters", "kl", "risk", "complexity", "loose", "tight", "gaussian")}


def ratios(measured, name):
    """By seed, the complexity term over full-rank's, and over the root of the share of parameters that the theorem has in its place."""
    terms, whole, own, others = (measured.by_seed(of, field) for field in ("complexity", "parameters") for of in (name, FULL))
    found = {seed: terms[seed] / whole[seed] for seed in terms.keys() & whole.keys()}
    return found, {seed: ratio / math.sqrt(own[seed] / others[seed]) for seed, ratio in found.items()}


def claims(parts):
    """S: "PAC-Bayes bound exhibits critical rank r* = 11 transitioning from non-vacuous to vacuous"; "Gaussian complexity decreases from
    45.56 (full-rank) to 18.97 with rank reduction"; "full-rank Bayesian models yield vacuous PAC-Bayes bounds regardless of configuration"."""
    for prior, measured in parts.items():
        near = f" (narrow part of the prior: {prior})"
        low, high = LOW.format(8), LOW.format(15)
        yield judged(FIGURE, f"the PAC-Bayes bound (Theorem D.2) is below 1 at rank 8 and above 1 at rank 15{near}",
                     [lower("rank 8", measured.score(low, "loose"), limit(1)), above("rank 15", measured.score(high, "loose"), 1)])
        yield judged(FIGURE, f"full-rank's PAC-Bayes bound (Theorem D.2) is above 1{near}",
                     [above(name, measured.score(name, "loose"), 1) for name in (FULL, HE)])
        yield judged(FIGURE, f"the Gaussian complexity is lower at rank 15 than at full rank{near}",
                     [ordered("rank 15 - full-rank", measured.by_seed(high, "gaussian"), measured.by_seed(FULL, "gaussian"), up=False)])
        shares = {name: ratios(measured, name)[1] for name in map(LOW.format, (5, 15, 30))}
        yield judged(THEOREM, f"the ratio of the complexity terms is the root of the ratio of parameters, within a tenth{near}",
                     [close(name, share) for name, share in shares.items()])


def close(name, share):
    return alike(name, with_standard_error(of(share)) if share else None, limit(1), 0.1)


COLUMNS = [("parameters", "parameters"), ("KL, nats", "kl"), ("risk", "risk"), ("complexity term", "complexity"), ("D.2", "loose"),
           ("kl form", "tight"), ("Gaussian complexity", "gaussian")]


def page(now):
    rows, parts, found = studies.rows(studies.HERE / "s_bounds"), {}, []
    for part in PRIORS:
        measured = parts[part] = Measured(rows, part, name_of, numbers_of)
        names = [name for name in (*map(LOW.format, RANKS), FULL, HE) if measured.by_seed(name, "kl")]
        lines = []
        for name in names:
            ratio, share = ratios(measured, name)
            lines.append([name, *[shown(measured.by_seed(name, field), field) for _, field in COLUMNS], shown(ratio, ""), shown(share, "")])
        still = [name for name in names if max(measured.by_seed(name, "gaussian").values()) < 0.001]
        idle = (f"\n\nThe mean weights of {', '.join(still)} are 0 to three digits: these fits stayed at the prior, and their bound is that of a "
                "network that learned nothing.") if still else ""
        found.append(f"## Narrow part of the prior: {part}\n\n"
                     + grid(["", *[title for title, _ in COLUMNS], "term / full-rank's", "over the root of the parameters"], lines) + idle)
    return Page(["`slimbayes bounds` on the training rows of S's clinical network, which S's own figure does as well: no certificate, as the tool "
                 "says, because the inputs were scaled by these rows. `risk` is the share of wrong classes of 100 drawn networks. `D.2`: risk and "
                 "complexity term added, S's form, which says nothing above 1; `kl form`: the tighter one that the tool reports (Seeger 2002, Maurer 2004). "
                 "The Gaussian complexity is that of the mean weights, by S's E.17 as the tool corrects it. Mean ± standard error (seeds).",
                 *found], list(claims(parts)))
