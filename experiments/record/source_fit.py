"""How one cell is run whose data is a source of sources.py: fitted, evaluated with the foreign data, described."""

import csv
import json

from reports import flat, of_report, of_summary, of_valid


def measured(runner, cell, work, source):
    """All that evaluate reports, as JSON in one column: a score that the tool adds needs no column of its own."""
    files, model = source.files(runner.data, work.folder), work.folder / "m.safetensors"
    own = ["--valid", files.valid] if files.valid else []
    answer = json.loads(work.measured([*runner.command(cell, files.train, [], model), *own]))
    foreign = ["--ood", files.foreign] if files.foreign else []
    report = json.loads(work.quiet([runner.tool, "evaluate", model, files.test or files.train, *source.evaluate, *foreign, "--json"]))
    report.get("ood", {}).pop("histogram", None)
    if len(report.get("confusion", [])) > 20:  # a row of results.csv would be too long
        del report["confusion"]
    if source.predicted:
        report |= source.predicted(lambda table, draw=0: predictions(runner.tool, model, table, work, draw), work.folder)
    known = json.loads(work.quiet([runner.tool, "describe", model, "--json"]))
    report |= {name: known[name] for name in ("multiply_adds", "bytes") if name in known}
    return {**of_summary(answer["summary"]), **of_valid(answer), **of_report(report), "parameters": known["parameters"],
            "scores": json.dumps(flat(report), sort_keys=True)}


def predictions(tool, model, table, work, draw=0):
    """The rows that predict writes for the table; with a draw, from 1, those of the network with this draw of the weights."""
    out = work.folder / "p.csv"
    if draw:
        one = work.folder / "draw.safetensors"
        work.quiet([tool, "export", model, "--draw", str(draw), "--out", one])
        model = one
    work.quiet([tool, "predict", model, table, "--out", out])
    with open(out, newline="") as file:
        return list(csv.DictReader(file))
