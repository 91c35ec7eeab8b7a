"""S Table 1, with support2 in the place of MIMIC-III."""

import itertools

import paper_s
from judge import not_measured
from paper_s import BAYESIAN, CLINICAL, CLINICAL_PROTOCOL, ENSEMBLE, FULL, KEPT, LOW, MI, PLAIN, RANK1, SVD, Order
from protocol import SAME, Line
from results import asked

TITLE = "Table 1 of S, with support2 in the place of MIMIC-III"
WHAT = "S Table 1: patients, those in coma foreign"
PAPER = "S"
PROTOCOL = [
    *CLINICAL_PROTOCOL,
    Line("weight of the KL", ".5 / batches = 7.9e-4 (G.3.2)", "7.9e-4, as beta 5.4 on 6,807 rows", SAME),
    Line("epochs", "256; deterministic networks 32 (G.3.2)", "64; deterministic networks 32"),
    KEPT,
    Line("network of the SVD", "the deterministic one, 32 epochs (Table 6, G.3.2)", "64 epochs, weight decay .01", of="S 4.5"),
]


def cells():
    """64 of S's 256 epochs (32 for the deterministic networks, as in S), 5 seeds.

    S multiplies the KL by 7.9e-4, which is 32 / N of its 40,406 rows. On the 6,807 rows here the same factor is beta 5.4;
    with 32 the part `beta 32` shows what happens."""
    for seed in range(5):
        for method, own in BAYESIAN:
            yield asked("main", "support2", method, seed, own, "--preset paper-clinical --beta 5.4 --epochs 64")
        for method, own in PLAIN:
            yield asked("main", "support2", method, seed, own, CLINICAL, "--epochs 32")
    for seed, (method, own) in itertools.product(range(2), BAYESIAN):
        yield asked("beta 32", "support2", method, seed, own, "--preset paper-clinical --epochs 64")
    yield from paper_s.curve("support2", "paper-clinical --beta 5.4", CLINICAL, (16, 256))


BUDGET = "64 of 256 epochs, other patients"
ORDERS = [
    *[Order(f"S 4.2, {BUDGET}", f"low-rank's {title} is above full-rank's and the ensemble's", metric, True, LOW, (FULL, ENSEMBLE))
      for title, metric in (("AUROC for foreign rows", f"ood.auroc.{MI}"), ("AUPR-OOD", f"ood.aupr_ood.{MI}"),
                            ("AUPR-In", f"ood.aupr_in.{MI}"), ("AUPR-Err", f"errors.aupr_err.{MI}"))],
    Order(f"S 4.2, {BUDGET}", "the ensemble's NLL is below low-rank's", "nll", False, ENSEMBLE, (LOW,)),
    Order(f"S 4.2, {BUDGET}", "the ensemble's AUROC for the label is above low-rank's", "auroc", True, ENSEMBLE, (LOW,)),
    Order(f"S 4.5, {BUDGET}", "low-rank-svd's AUROC for the label is above low-rank's", "auroc", True, SVD, (LOW,)),
]
# Title, ours, as it is printed, printed / ours.
COLUMNS = [("AUROC", "auroc", "auroc", 1), ("error rate", "errors.rate", "", 1), ("AUPR-Err", f"errors.aupr_err.{MI}", "aupr_err", 1),
           ("AUROC-OOD", f"ood.auroc.{MI}", "auroc_ood", 1), ("AUPR-OOD", f"ood.aupr_ood.{MI}", "aupr_ood", 1),
           ("AUPR-In", f"ood.aupr_in.{MI}", "aupr_in", 1), ("NLL", "nll", "nll", 1), ("parameters", "parameters", "params", 1)]
TEXT = ("MIMIC-III may not be passed on, so the levels cannot agree with S's; the orderings can. Foreign: the patients in coma, "
        "whose rows and column are not seen in training. 64 epochs of S's 256; 32 for the deterministic networks, as in S. S "
        "multiplies the KL by 7.9e-4, which is 32 / N with its 40,406 rows; the same factor is beta 5.4 on the 6,807 rows here. "
        "AUPR-Err ranks the rows by mutual information, as S 4.1 implies; S's G.3.3 says predictive entropy. It grows with the "
        "error rate, so that two models with different error rates [cannot be compared by it](../../docs/metrics.md#classes), as S "
        f"compares them. {paper_s.PRIOR}")
TIMES = not_measured("S 4.5", "low-rank trains about as long as full-rank: small networks gain nothing (Table 9: 532 s, 502 s)",
                     "the rows' seconds are of a busy machine")


HELD = ("In the means of the first table and in the claims stand fits that answer one label for every row, with their error "
        "rates:")


def collapsed(rows):
    """The fits whose weights stayed at the prior, and what the means and the claims are without them."""
    found = [row for row in rows if row["study"] == "main" and paper_s.collapsed(row)]
    if not found:
        return ""
    named = "; ".join(f"{paper_s.name_of(row)}, seed {row['seed']} ({paper_s.numbers_of(row)['errors.rate']:.3f})" for row in found)
    others = paper_s.Measured([row for row in rows if row not in found])
    cut = list(dict.fromkeys(map(paper_s.name_of, found)))
    claims = [paper_s.judged(order, others) for order in ORDERS if {order.a, *order.others} & set(cut)]
    return (f"## Without the fits that answer one label for every row\n\n{HELD} {named}. The means of these methods without them:\n\n"
            + paper_s.table_of(others, {}, COLUMNS, cut)
            + "\nThe claims would be as follows, which is no verdict, since the fits were left out after they were seen:\n\n"
            + "\n".join(f"- {claim.text}: {claim.verdict}, {claim.numbers}" for claim in claims))


def same_at_every_budget(rows):
    """Says so where the longest and the shortest of the other budgets gave the same numbers."""
    fits = {(row["study"], row["method"]): row for row in rows if row["study"].startswith("curve")}
    parts = list(dict.fromkeys(part for part, _ in fits))
    pairs = [[fits.get((part, method)) for part in (parts[0], parts[-1])] for method in ("low-rank", "full-rank", "dnn") if parts]
    if len(parts) < 2 or any(None in pair or pair[0]["valid_score"] != pair[1]["valid_score"] for pair in pairs):
        return ""
    return (f"The lines of {parts[0].removeprefix('curve, ')} and {parts[-1].removeprefix('curve, ')} are equal. The fits are two "
            f"({int(pairs[0][0]['steps']):,} and {int(pairs[0][1]['steps']):,} steps). The likely reason is that the validation "
            "kept the same early epoch in both; the rows do not hold which.")


def more(rows):
    return "\n\n".join(filter(None, (same_at_every_budget(rows), collapsed(rows))))


def claims(measured):
    metrics = [("AUPR-In", f"ood.aupr_in.{MI}"), ("AUPR-OOD", f"ood.aupr_ood.{MI}")]
    yield TIMES
    yield from paper_s.efficiency("S H.2, Figure 12", measured, metrics, (FULL, ENSEMBLE, SVD, RANK1))


def page(now):
    return paper_s.page("s_table1", TEXT, COLUMNS, ORDERS, more, claims)
