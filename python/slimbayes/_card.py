"""The card of a fitted model, as HTML for a notebook."""

import html

from slimbayes._library import core


def escape(text):
    return html.escape(core.printable(text))


def _row(name, value):
    return f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"


def card(facts):
    """A table of what a user asks first: method, task, target, rows, columns, how the fit ended."""
    rows = {name: count for name, count in facts["rows"].items() if count}
    summary = facts["summary"]
    lines = [("method", facts["method"]), ("task", f"{facts['task']} ({facts['likelihood']})")]
    if facts.get("targets"):
        lines.append(("targets", ", ".join(facts["targets"])))
    elif facts["target"]:
        lines.append(("target", facts["target"]))
    if facts["classes"]:
        lines.append(("classes", ", ".join(facts["classes"][:12]) + (" ..." if len(facts["classes"]) > 12 else "")))
    if facts["columns"]:
        lines.append(("inputs", f"{len(facts['columns'])}: " + ", ".join(facts["columns"][:12])
                      + (" ..." if len(facts["columns"]) > 12 else "")))
    lines.append(("rows", ", ".join(f"{count} {name}" for name, count in rows.items())))
    lines += [(name, summary[name]) for name in ("steps", "stopped", "best_score") if summary.get(name) is not None]
    lines.append(("intervals", "adaptive" if facts.get("adaptive") else "conformal" if facts["calibrated"] else "of the model"))
    body = "".join(_row(name, value) for name, value in lines)
    notes = "".join(f"<li>{escape(note)}</li>" for note in summary.get("notes", []))
    return f"<table><caption>slimbayes {escape(facts['method'])}</caption>{body}</table>" + (f"<ul>{notes}</ul>" if notes else "")
