"""One case of the differential fuzzer: a random table, method and options, fitted and asked through the package and the tool.

`Trial(seed, number).run()` fits in Python, checks every answer, and on a part of the cases does the same with the tool and compares.
The part of a check that costs time is drawn, too.
"""

import json
import re
import time
import warnings
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import invariants as must
import random_files as files
import random_fits
import random_tables

REPORT_SECONDS = 60
ALONE = 1e-5  # of the sd: networks predict in float32, and sum the rows of a batch in another order than one row


class Refused(NamedTuple):
    message: str
    kind: str


def columns_of(table):
    """{name: values} of an Arrow table or a data frame of answers."""
    if not isinstance(table, pa.Table):
        table = pa.table(table) if hasattr(table, "__arrow_c_stream__") else pa.Table.from_pandas(table, preserve_index=False)
    out = {}
    for name, cells in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(cells.type):  # Python answers in the time zone of the frame, the tool in UTC
            cells = cells.cast(pa.timestamp("us", cells.type.tz)).cast(pa.timestamp("us"))
        if pa.types.is_floating(cells.type):
            out[name] = np.array(cells.to_numpy(), dtype=float)
        else:
            out[name] = np.array(cells.to_pylist(), dtype=object)
    return out


class Trial:
    """The values of a case, all drawn from (seed, number), and the faults that were seen."""

    def __init__(self, seed, number, folder, launch, ask_tool, say):
        import slimbayes
        from slimbayes import _options

        slimbayes.Regressor  # imports scikit-learn, which can take a second, before a time limit runs
        self.package, self.launch, self.ask_tool, self.say, self.folder = slimbayes, launch, ask_tool, say, folder
        self.draw = np.random.default_rng([seed, number])
        self.table = random_tables.random_table(self.draw)
        self.fit = random_fits.random_fit(self.draw, _options.description(), self.table)
        self.form = files.random_format(self.draw)
        self.library = files.library_for(self.draw, self.table.data)
        self.faults, self.cpu, self.doing = [], {}, ("start", time.process_time())

    def write(self):
        """Writes what the case is to its folder: the tables, and the fit as JSON."""
        for name, table in (("data", self.table.data), ("new", self.table.new)):
            try:
                files.pyarrow.feather.write_feather(table, str(self.folder / f"{name}.arrow"))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                pass  # a type that no file holds; the case's number makes it again
        facts = {**self.fit._asdict(), **self.table._asdict(), "form": self.form._asdict(), "library": self.library}
        facts = {k: v for k, v in facts.items() if k not in ("data", "new")}
        (self.folder / "case.json").write_text(json.dumps(facts, indent=1, default=str), encoding="utf-8")

    def check(self, name, faults):
        """Keeps the faults that this check saw, each of them once."""
        found = [{"check": name, "text": text} for text in faults]
        self.faults += [fault for fault in found if fault not in self.faults]

    def stage(self, name):
        """Says what begins, so that a crash or a hang has a place."""
        now = time.process_time()
        last, since = self.doing
        self.cpu[last] = self.cpu.get(last, 0) + now - since
        self.doing = name, now
        self.say(name)

    def chance(self, share):
        return self.draw.random() < share

    def calling(self, name, function, *given):
        """What the function returns, or the Refused that it raised; its warnings must be notes in plain sentences."""
        self.stage(name)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                result = function(*given)
            except Exception as error:
                self.check("message", must.raised_well(error))
                self.check("function names", must.without_function_names(str(error)))
                result = Refused(str(error), type(error).__name__)
        for one in seen:
            if not issubclass(one.category, self.package.Note):
                if one.category.__module__ != "builtins" or "feature names" not in str(one.message):
                    self.check("warning", [f"{one.category.__name__}: {one.message} ({one.filename})"])
                continue
            self.check("note", must.plain_sentence(str(one.message)))
            self.check("function names", must.without_function_names(str(one.message)))
        return result

    # What the package is asked.

    def estimator(self):
        """An estimator with the keywords of the fit."""
        kind = {"windows": "Forecaster"}.get(self.table.kind) or {
            "regression": "Regressor", "classification": "Classifier", "counts": "CountRegressor"}[self.table.task]
        given = {**self.fit.general, **self.fit.options}
        return getattr(self.package, kind)(self.fit.method, seed=self.fit.seed, level=self.fit.level, threads=1, **given)

    def fitted(self, data=None):
        return self.estimator().fit(files.as_frame(self.table.data, self.library) if data is None else data, self.table.target)

    def answers(self, model, data):
        return columns_of(model.predict_frame(data))

    def decided_by_time(self, model):
        """Whether the clock had a say in the fit: then two fits may differ."""
        said = " ".join([*model.notes_, json.dumps(model._facts["summary"])])
        return bool(self.fit.options.get("time_limit")) or bool(re.search(r"time limit|\"stopped\": \"time\"|\bseconds\b", said))

    # The checks.

    def run(self):
        """The outcome of the case as a dict. A fit that is refused is tried again without what may be left out of its options."""
        refused = None
        for fit in (self.fit, random_fits.plainer(self.fit, self.table)):
            self.fit = fit
            model = self.attempt()
            if not isinstance(model, Refused):
                break
            refused = refused or model.message
        self.stage("end")
        return {"faults": self.faults, "refused": refused, "accepted": not isinstance(model, Refused), "method": self.fit.method,
                "cpu": self.cpu, "kind": self.table.kind, "task": self.table.task}

    def attempt(self):
        """Makes the fit and all checks; returns the Refused of a fit that was not accepted."""
        if self.table.task == "events":  # of which the package has no estimator
            return self.ask_tool(self, None)
        began = time.process_time()
        model = self.calling("fit", self.fitted)
        limit = self.fit.options.get("time_limit", 0) if self.fit.method == "auto" else 0
        if limit and not self.fit.beyond:  # one thread: the wall takes at least as long as the processor
            self.check("time limit", must.within(time.process_time() - began, 0, 1.1 * limit + 0.5, 1, f"a fit with the limit {limit} s"))
        if self.fit.beyond and not isinstance(model, Refused):
            self.check("bounds", [f"expected a refusal of {self.fit.beyond}; the fit was accepted"])
        if not isinstance(model, Refused):
            self.of_python(model)
        if self.chance(0.6):
            self.ask_tool(self, model)
        return model

    def of_python(self, model):
        for fact in model._facts["summary"].get("facts", []):
            self.check("facts", must.without_function_names(fact))
        data, new = self.table.data, self.table.new
        own = self.calling("predict own rows", self.answers, model, data)
        if isinstance(own, Refused):
            return self.check("predict own rows", [f"expected answers of the training rows; received {own.message}"])
        self.check("answers", must.answer(own))
        blank = int(must.without_answer(own).sum())
        if blank and not self.table.wild:
            self.check("blank", [f"expected answers of the training rows; {blank} of {len(must.without_answer(own))} have none"])
        self.scores(model, own)
        ahead = self.calling("predict new rows", self.answers, model, new)
        if isinstance(ahead, Refused):
            if self.table.usual and not self.table.wild:
                self.check("predict new rows", [f"expected answers of new rows like the training rows; received {ahead.message}"])
        else:
            self.check("answers of new rows", must.answer(ahead))
        self.parts(model, own)
        if self.table.kind != "windows":
            self.rows_alone(model, own)
        if self.chance(0.5):
            self.saved(model, own)
        if self.chance(0.35) and not self.decided_by_time(model):
            again = self.calling("fit again", lambda: self.answers(self.fitted(), data))
            if isinstance(again, Refused):
                self.check("twice", [f"expected the second fit to end as the first; received {again.message}"])
            else:
                self.check("twice", must.same_bits(own, again, "two fits"))
        if self.chance(0.15) and not blank:
            self.reported(model)

    def parts(self, model, own):
        """predict_dist and predict_interval agree with the table of answers."""
        found = self.calling("predict_dist", model.predict_dist, self.table.data)
        if isinstance(found, Refused):
            return self.check("predict_dist", [f"expected a distribution; received {found.message}"])
        if found.sd is not None and "sd" in own:
            self.check("predict_dist", must.close({"sd": own["sd"], "mean": own["mean"]}, {"sd": found.sd, "mean": found.mean}, 1e-9,
                                                  "predict_dist and predict_frame"))
        if found.median is not None:
            self.check("median", must.ordered(own, found.median))
        if "lower" in own and self.chance(0.3):
            levels = [self.fit.level, 0.5]
            pairs = [self.calling("predict_interval", model.predict_interval, self.table.data, level) for level in levels]
            if not any(isinstance(p, Refused) for p in pairs):
                inner, outer = pairs[1], pairs[0]
                known = np.isfinite(inner[0]) & np.isfinite(outer[0])
                if self.fit.level >= 0.5 and ((outer[0] > inner[0]) | (inner[1] > outer[1]))[known].any():
                    self.check("levels", [f"expected the interval at {levels[0]} to hold the one at .5; it does not"])

    def rows_alone(self, model, own):
        """A row has the same answer alone as among others."""
        n = self.table.data.num_rows
        at = sorted({int(self.draw.integers(n)) for _ in range(3)})
        for i in at:
            alone = self.calling("predict one row", self.answers, model, self.table.data.slice(i, 1))
            if isinstance(alone, Refused):
                self.check("row alone", [f"expected an answer of row {i + 1} alone; received {alone.message}"])
                continue
            batch = {name: values[i: i + 1] for name, values in own.items()}
            self.check("row alone", must.close(batch, alone, ALONE, f"row {i + 1} in the batch and alone"))

    def saved(self, model, own):
        path = self.folder / "python.safetensors"
        saved = self.calling("save", model.save, path)
        loaded = saved if isinstance(saved, Refused) else self.calling("load", self.package.load, path)
        if isinstance(loaded, Refused):
            return self.check("saved", [f"expected a file that opens; received {loaded.message}"])
        levelled = self.calling("predict loaded", lambda: columns_of(loaded.predict_frame(self.table.data, level=self.fit.level)))
        if isinstance(levelled, Refused):
            return self.check("saved", [f"expected the loaded model to answer; received {levelled.message}"])
        self.check("saved", must.same_bits(own, levelled, "the model and its file"))

    def has_absurd_target(self):
        """A target beyond 1e18 of the sds of most targets, which no score can count."""
        y = np.array(self.table.data[self.table.target].cast(pa.float64()).to_numpy(), dtype=float)
        low, high = np.nanquantile(y, [0.25, 0.75])
        return np.nanmax(np.abs(y)) > 1e17 * max(high - low, 1e-300)

    def scores(self, model, own):
        """evaluate's NLL is that of the answers, where their density is a Gaussian or a probability."""
        if must.without_answer(own).any() or self.table.kind == "windows":
            return
        found = self.calling("evaluate", model.evaluate, self.table.data)
        if isinstance(found, Refused) and "training sds" in found.message and self.has_absurd_target():
            return None  # the fit left the row out and said so; a score of it would be no number
        if isinstance(found, Refused):
            return self.check("evaluate", [f"expected scores of the training rows; received {found.message}"])
        self.check("evaluate", must.finite_json(found, "evaluate"))
        cells = self.table.data[self.table.target]
        gaussian = "sd" in own and "median" not in own and found.get("nll") is not None
        if self.table.task == "regression" and gaussian and self.fit.general.get("likelihood", "gaussian") == "gaussian":
            y = np.array(cells.cast(pa.float64()).to_numpy(), dtype=float)
            self.check("NLL", must.same_score(found["nll"], must.gaussian_nll(y, own["mean"], own["sd"]), "evaluate"))
        if self.table.task == "classification" and "nll" in found:
            missing = set(self.fit.general.get("na", []))
            known = [i for i, label in enumerate(cells.to_pylist()) if label is not None and str(label) not in missing]
            p = self.calling("predict_proba", model.predict_proba, self.table.data)
            if p.shape != (self.table.data.num_rows, len(model.classes_)):
                return self.check("classes", [f"expected a probability for each of {model.classes_}; received the shape {p.shape}"])
            place = {must.spelt(c): i for i, c in enumerate(model.classes_.tolist())}
            chosen = np.array([p[i, place[must.spelt(cells[i].as_py())]] for i in known])
            if (chosen > 1e-12).all():
                self.check("NLL", must.same_score(found["nll"], float(-np.log(chosen).mean()), "evaluate"))

    def reported(self, model):
        began, seconds = time.process_time(), REPORT_SECONDS
        page = self.calling("report", model.report, self.table.data, None, None, "all")
        self.check("report", must.within(time.process_time() - began, 0, seconds, 1, "report"))
        if isinstance(page, Refused):
            return self.check("report", [f"expected a page on the training rows; received {page.message}"])
        self.check("report", must.finite_json(page.facts, "report"))
