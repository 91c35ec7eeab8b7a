"""The pages of default_sizes, the default method beside its candidates as a table grows, and of input_forms, what other
networks for tables do to their inputs."""

import math

import pages
from cells_auto import FORM_TABLES, FORMS, MORE, MORE_LIMIT, MORE_TABLES, ROWS, candidates, SIZED, SIZES, sized
from claims import judged
from paired import difference
from report_auto import MARGIN, best_candidate, case
from scores import load
from derived import TEST
from tables import cell, grid

STUDY = "default_sizes"
INTRO = f"""Rows drawn at random from the public tables of more than 10,000: as many to fit on as the first column says (each method takes its
validation rows from them) and {TEST:,} others to test on, one draw a seed for all methods; the larger tables of a seed hold the smaller. NLL in the target's own units. One thread a fit,
beside another one: read seconds as a bound. Brackets tell the number of seeds. Larger sizes: [default_tables](../default_tables).
"""


def by_size(text):
    """A grid of the tables by the number of rows to fit on; text(data) is a cell."""
    lines = [[f"{rows:,}", *(text(sized(table, rows)) if rows + TEST <= ROWS[table] else "" for table in SIZED)] for rows in SIZES]
    return grid(["rows", *SIZED], [line for line in lines if any(line[1:])])


def found_claims(scores):
    asked = [sized(table, rows) for rows in SIZES for table in SIZED if rows + TEST <= ROWS[table]]
    best = {data: best_candidate(scores, data, STUDY) for data in asked}
    yield judged("ours", f"auto's NLL is at most that of the best single candidate + {MARGIN}, at four of five sizes and tables",
                 [case(data, found and found[1], MARGIN, f"{found[0]} " if found else "") for data, found in best.items()],
                 math.ceil(0.8 * len(asked)))


FORMS_INTRO = """`dnn` with one change at a time, on the public tables of at least 1,000 rows, three splits. `robust`: each input with median 0 and
quartile distance 1, clipped smoothly to ±3, as RealMLP does. `periodic`: that, and the cosines and sines of three fixed frequencies
of it beside it. `dropout`: a tenth of the features. `cosine`: no warm-up of the learning rate. RMSE of the standardised target, over
that of `none` (the geometric mean over the common splits); NLL minus that of `none`, ± the standard error. Both forms are computed
from the inputs of all rows (derived.py).
"""


def form_scores(scores, table, form, metric):
    suffix, own = FORMS[form]
    name = "dnn " + own if form == "dropout" else "DNN"
    return scores.by_seed(form, table + suffix, name, metric)


def rmse_over_none(scores, table, form):
    ours, theirs = (form_scores(scores, table, name, "RMSE") for name in (form, "none"))
    common = ours.keys() & theirs.keys()
    return math.exp(sum(math.log(ours[s] / theirs[s]) for s in common) / len(common)) if common else None


def input_forms(runner):
    scores = load(pages.HERE / "input_forms", runner=runner)
    forms = [form for form in FORMS if form != "none"]
    lines, leads = [], []
    for table in FORM_TABLES:
        ratios = [rmse_over_none(scores, table, form) for form in forms]
        lines.append([table, *(f"{ratio:.3f}" if ratio else "" for ratio in ratios)])
        leads.append([table, *(str(difference(*(form_scores(scores, table, name, "raw NLL") for name in (form, "none"))) or "") for form in forms)])
    found = [[ratio for table in FORM_TABLES if (ratio := rmse_over_none(scores, table, form))] for form in forms]
    lines.append(["geometric mean", *(f"**{math.exp(sum(map(math.log, all_)) / len(all_)):.3f}**" if all_ else "" for all_ in found)])
    pages.page("input_forms", "What makes the mean of other networks better", scores,
               [FORMS_INTRO, "## RMSE over that of `none`\n\n" + grid(["table", *forms], lines),
                "## NLL minus that of `none`\n\n" + grid(["table", *forms], leads)])


MORE_INTRO = f"""`auto` with `ntk-sketch` among its candidates, and without it, on the public tables in folds (`{MORE_LIMIT}`, so that neither leaves
anything out). NLL in the target's own units with it minus that without it, ± the standard error over the splits.
"""


def more_candidates(runner):
    scores = load(pages.HERE / "more_candidates", runner=runner)
    lines = []
    for table in MORE_TABLES:
        with_it, without = (scores.by_seed(arm, table, f"auto --candidates {','.join(candidates(table))}{extra} {MORE_LIMIT}", "raw NLL")
                            for arm, extra in reversed(MORE.items()))
        found = difference(with_it, without)
        lines.append([table, f"{found}{' *' if found.sign else ''}" if found else ""])
    pages.page("more_candidates", "One candidate more", scores, [MORE_INTRO, "*: decided.\n\n" + grid(["table", "with ntk-sketch"], lines)])


def write(runner):
    input_forms(runner)
    more_candidates(runner)
    scores = load(pages.HERE / STUDY, runner=runner)
    parts = [INTRO]
    best = lambda data: (found := best_candidate(scores, data, STUDY)) and f"{found[0]}: {found[1]}" or ""  # noqa: E731
    parts.append("## NLL of auto minus that of the best candidate\n\nMean ± standard error over the seeds; below 0 auto is better.\n\n" + by_size(best))
    for title, metric, digits in ("Coverage at 95 %", "coverage", 3), ("RMSE, standardised", "RMSE", 4), ("Seconds", "time_s", 0):
        parts.append(f"## {title} of auto\n\n" + by_size(lambda data, m=metric, d=digits: cell(scores.get(STUDY, data, "auto", m), digits=d)))
    claims = list(found_claims(scores))
    pages.page(STUDY, "The default as a table grows", scores, [*parts, "## Claims\n\n" + pages.verdicts(claims)])
    return claims
