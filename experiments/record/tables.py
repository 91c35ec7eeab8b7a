"""Scores as the rows of a page's table."""

import judge

DIGITS = {"MAE": 4, "CRPS": 4, "time_s": 0}


def grid(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def cell(score, bold=False, digits=3, seeds=True):
    if score is None:
        return ""
    text = f"{score.mean:.{digits}f}"
    text = f"**{text}**" if bold else text
    text += f" ± {score.sd:.{digits}f}" * judge.has_spread(score)
    text += judge.OLD * score.old
    return text + (f" ({score.seeds})" if seeds and score.seeds else "")


def block(names, tables, get, who, digits=3, bold=True):
    """Rows of one source, method by method, the lowest of each table in bold; methods without a number are left out."""
    found = {(name, table): get(table, name) for name in names for table in tables}
    best = {t: min((found[n, t].mean for n in names if found[n, t]), default=None) for t in tables}
    rows = []
    for name in names:
        scores = [found[name, table] for table in tables]
        if any(scores):
            rows.append([name, who] + [cell(s, bold and bool(s) and s.mean == best[t], digits) for s, t in zip(scores, tables)])
    return rows
