"""The part of a case that asks the tool: the same table and fit, and whether Python and the tool agree."""

import os
import pathlib

import pyarrow as pa

import invariants as must
import random_files as files
import random_fits
from trial import Refused, columns_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes")).resolve()
REPORT_SECONDS, REPORT_MEGABYTES = 60, 500
# The command line refuses flags without effect; the package takes such keywords, because a search over parameters sets them all.
WITHOUT_EFFECT = ("expected options of the network", "expected the budget as")


def tool(trial, name, *words, seconds=120):
    """Runs the tool in the folder of the case; its exit code and its lines must be as they should."""
    trial.stage(name)
    done = trial.launch([TOOL, *map(str, words)], trial.folder, seconds=seconds)
    trial.check("exit code", must.ended_well(done["code"], done["stdout"], done["stderr"]))
    for line in done["stderr"].splitlines():
        if line.startswith("note: "):
            trial.check("note", must.plain_sentence(line.removeprefix("note: ")))
    return done


def likelihood(table):
    """What Python asks for a table of this task."""
    if table.task == "classification":
        cells = table.data[table.target]
        return "softmax" if len(set(cells.to_pylist()) - {None}) > 2 else "bernoulli"
    return {"regression": "gaussian", "counts": "poisson", "events": "cox"}[table.task]


def by_tool(trial, model):
    """Fits the same table with the tool and compares; returns its refusal, if it refuses."""
    form = trial.form
    same = form.typed or (form.clean and trial.table.exact)
    data, new, file = (trial.folder / f"{name}.{form.ending}" for name in ("data", "new", "x"))
    try:
        files.write(trial.table.data, data, form)
        files.write(trial.table.new, new, form)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, TypeError):
        return None  # the format has no such type
    file = trial.folder / "tool.safetensors"
    done = tool(trial, "tool fit", "fit", data, "--model", file, *random_fits.words_of(trial.fit, likelihood(trial.table), trial.table.target))
    refusal = Refused(done["stderr"].strip().splitlines()[-1] if done["stderr"].strip() else "", "tool") if done["code"] else None
    without_effect = refusal is not None and any(text in refusal.message for text in WITHOUT_EFFECT)
    if model is not None and same and not without_effect and (refusal is None) == isinstance(model, Refused):
        other = model.message if refusal is None else refusal.message
        trial.check("refusals", [f"expected Python and the tool to agree; only {'Python' if refusal is None else 'the tool'} refuses: {other}"])
    if refusal is not None:
        return refusal
    compared = model if not isinstance(model, Refused) and (form.typed or (same and trial.table.usual)) else None
    predicted_by_tool(trial, compared, file, new)
    if trial.chance(0.3) and trial.table.task != "events":
        reported_by_tool(trial, file, data)
    return None


def predicted_by_tool(trial, model, file, new):
    """The tool's answers are well, those of `model`, which Python fitted, and those of its own file in Python."""
    out = trial.folder / "answers.parquet"
    done = tool(trial, "tool predict", "predict", file, new, "--out", out, "--threads", "1", "--level", repr(trial.fit.level))
    if done["code"]:
        if trial.table.usual and not trial.table.wild and trial.form.clean:
            trial.check("tool predict", [f"expected answers of new rows; received {done['stderr'][-300:]}"])
        return
    answers = columns_of(files.pyarrow.parquet.read_table(out))
    trial.check("answers of the tool", must.answer(answers))
    if model is None:
        return
    own = trial.calling("predict new rows again", trial.answers, model, trial.table.new)
    if isinstance(own, Refused):
        return trial.check("refusals", [f"expected Python and the tool to agree on new rows; only Python refuses: {own.message}"])
    if not trial.decided_by_time(model):
        trial.check("Python = tool", must.close(own, answers, 1e-7, "Python and the tool"))
    loaded = trial.calling("load of the tool's", trial.package.load, file)
    if isinstance(loaded, Refused):
        return trial.check("saved", [f"expected a file that opens; received {loaded.message}"])
    its = trial.calling("predict loaded", lambda: columns_of(loaded.predict_frame(trial.table.new, level=trial.fit.level)))
    if not isinstance(its, Refused):
        trial.check("saved = loaded", must.close(answers, its, 1e-7, "the tool and its file in Python"))


def reported_by_tool(trial, file, data):
    """report, report --json and evaluate --json end within their limits, with finite numbers."""
    for words, what in (((), "report"), (("--json",), "report --json")):
        page = () if words else ("--out", trial.folder / "page.html")
        done = tool(trial, f"tool {what}", "report", file, data, "--split", "all", *page, *words, "--threads", "1", seconds=REPORT_SECONDS)
        trial.check(what, must.within(done["cpu"], done["megabytes"], REPORT_SECONDS, REPORT_MEGABYTES, what))
        if words and done["code"] == 0:
            trial.check(what, must.json_text(done["stdout"], what))
    done = tool(trial, "tool evaluate", "evaluate", file, data, "--json", "--threads", "1")
    if done["code"] == 0:
        trial.check("tool evaluate", must.json_text(done["stdout"], "evaluate --json"))
