"""The numbers of the front page, between two marks of a page that is otherwise written by hand."""

import textwrap

import paper_r
import studies
from judge import best, lower
from paper_n import CATBOOST, TEN, commits_of, of_another_program
from paper_r import StandardErrors
from scores import Published, load
from tables import cell, grid

FRONT = {"dbk": "DBK-SiLU", "dbk --basis rbf": "DBK-RBF", "pp-dkl": "PP-DKL", "vbll": "VBLL", "dnn": "DNN", "ensemble": "ensemble of 5 DNN", "CatBoost": None}


def front_score(both, table, name):
    """None where it was not measured; of CatBoost the better of its two."""
    if FRONT[name]:
        return both.get("defaults", table, FRONT[name], "NLL")
    rival = best(both, "defaults", table, CATBOOST, "NLL")
    return rival and rival[1]


def against(both, rival):
    """dbk against one of the others, by the judge's rule."""
    cases = [lower(t, front_score(both, t, "dbk"), front_score(both, t, rival)) for t in TEN]
    cases = [case for case in cases if case.numbers]
    where = {won: [case.name for case in cases if case.won is won] for won in (True, False)}
    lost = f" ({', '.join(where[False])})" if where[False] else ""
    return f"ahead of {rival if not FRONT[rival] else f'`{rival}`'} on {len(where[True])} of {len(cases)} tables, behind on {len(where[False])}{lost}"


def front(both):
    """The numbers of the front page: NLL on the ten largest tables, and where dbk is decidedly ahead."""
    published, rows = Published("table1"), []
    for t in TEN:
        mine, trained = front_score(both, t, "dbk"), both.rows("defaults", t, "DBK-SiLU")
        others = [(name, score) for name in list(FRONT)[1:] if (score := front_score(both, t, name))]
        other = min(others, key=lambda each: each[1].mean, default=None)
        theirs = published.get(t, "DBK-SiLU", "NLL")
        size = f", {int(trained[0]['rows']):,}" if trained else ""
        rows.append([t + size, cell(mine), f"`{other[0]}` {cell(other[1])}".replace("`CatBoost`", "CatBoost") if other else "", cell(theirs)])
    text = grid(["table, training rows", "`dbk`", "lowest of the others", "printed in [1]"], rows)
    if not both.rows("defaults", TEN[0], "DBK-SiLU"):
        return text
    behind = [t for t in TEN if (theirs := published.get(t, "DBK-SiLU", "NLL"))
              and (mine := front_score(both, t, "dbk")) and mine.mean > theirs.mean]
    cover = {t: both.get("defaults", t, "DBK-SiLU", "coverage") for t in TEN}
    cover = {t: score.mean for t, score in cover.items() if score}
    low, high = min(cover, key=cover.get), max(cover, key=cover.get)
    others = {t: [score for name in list(FRONT)[1:] if (score := front_score(both, t, name))] for t in TEN}
    last = [t for t, scores in others.items() if scores and (mine := front_score(both, t, "dbk")) and mine.mean > max(s.mean for s in scores)]
    lines = "; ".join(against(both, rival) for rival in list(FRONT)[1:])
    text += (f"\nSeed by seed, beyond the 95 % bound of the mean difference, `dbk` is {lines}. By the means alone it is behind all of them on {', '.join(last) or 'none'} and "
             f"behind the printed one on {', '.join(behind) or 'none'}. "
             f"Its 95 % intervals hold {cover[low]:.3f} ({low}) to {cover[high]:.3f} ({high}) of the test rows.\n")
    return "\n".join(wrapped(line) for line in text.splitlines()) + "\n"


def of_two_programs():
    """Which columns of pol's row are from a later program; "" where all are from one."""
    own = of_another_program([row for row in studies.rows(studies.HERE / "table1") if row["recipe"] and not row["error"]])
    names = [f"`{name}`" for name, label in FRONT.items() if label in own]
    text = (f"On pol, {', '.join(names)} are from a later program ({commits_of(own)}) than the other methods: the differences "
            "between the two groups there may be partly the program's ([table1](table1/README.md)).")
    return f"\n{wrapped(text)}\n" if own else ""


def front_r(scores):
    """Rich-BLL beside the plain last layer, in R's protocol, ours and as printed; "" where nothing was measured."""
    errors, published, rows = StandardErrors(scores), Published("r_table2"), []
    for t in paper_r.TABLES:
        mine = [errors.get("paper", t, name, "raw NLL") for name in (paper_r.FULL, paper_r.BLL)]
        printed = [published.get(t, name, "raw NLL") for name in (paper_r.FULL, paper_r.BLL)]
        if any(mine):
            rows.append([t, *map(cell, mine), *[cell(score, digits=2) for score in printed]])
    if not rows:
        return ""
    said = ("The protocol of [2] (72, 18 and 10 %, a split a seed; NLL in the target's units, mean ± standard error over seeds), "
            "[all of it](r_table2/README.md):")
    return f"\n{wrapped(said)}\n\n" + grid(["table", "`rich-bll`", "`bll`", "printed in [2]: Rich-BLL", "BLL"], rows)


def wrapped(line):
    return line if line.startswith("|") else textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False)


def between_marks(path, text):
    """Replaces what stands between the two marks of a page that is otherwise written by hand."""
    before, mark, rest = path.read_text().partition(MARKS[0] + "\n")
    after = rest.partition(MARKS[1])
    if not mark or not after[1]:
        raise ValueError(f"{path}: expected the marks {MARKS[0]} and {MARKS[1]}, each on a line of its own")
    path.write_text(before + mark + text + after[1] + after[2])


def write(now):
    """Into numbers.md."""
    both = load("table1", "ten_tables", runner=now)
    between_marks(studies.HERE / "numbers.md", front(both) + of_two_programs() + front_r(load("r_table2", runner=now)))


MARKS = "<!-- numbers by experiments/report.py -->", "<!-- end of numbers -->"
