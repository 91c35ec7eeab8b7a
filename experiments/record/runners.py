"""How one cell is run: a fit by the tool on a table or on generated data, or a rival's program on the same split.

A cell's data is a table of the data folder (`pol`), one cut to a size (`pol@2000`, see derived.py) or a generator and its number of training rows (`steps:20000`).
Generated data has validation rows and test rows of its own, one draw for all seeds, and a known truth.

Two words among a cell's flags are the runner's own. `FLAGS --around METHOD OWN`: METHOD is fitted with FLAGS, once for all
cells of this data and seed that begin alike, and the cell's method computes its answer around that network with its OWN flags
(`fit --network-from`). `--ood TABLE`: the AUROC by which the model tells the rows of TABLE from its test rows is measured too.
"""

import csv
import fcntl
import hashlib
import json
import math
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import derived
import source_fit
import sources
from reports import of_report, of_summary, of_valid
from results import as_text, differences, of_cell

RIVALS_FOLDER = pathlib.Path(__file__).resolve().parent / "rivals"
TEST_ROWS = 20000  # of generated data
RIVALS = {"catboost": ["catboost_fit.py"], "ngboost": ["ngboost_fit.py"], "torch": ["torch_fit.py"],
          "realmlp": ["pytabkit_fit.py", "--network", "realmlp"], "tabm": ["pytabkit_fit.py", "--network", "tabm"]}
MODELS = pathlib.Path(os.environ.get("SLIMBAYES_MODELS", pathlib.Path(__file__).resolve().parent.parent / ".models"))  # networks that cells share
SPLIT_FLAGS = {"--split", "--split-seed", "--valid-fraction", "--test-fraction", "--ignore"}


PACKAGES = {"catboost": "catboost", "ngboost": "ngboost", "torch": "torch", "realmlp": "pytabkit", "tabm": "pytabkit"}  # of the rivals
_children = set()  # the commands that run now


def end_children():
    for process in list(_children):
        process.terminate()


TABLE_OWN, GENERATED_OWN = ["--test-fraction", "0.1"], ["--ignore", "true_mean,true_sd"]  # unless the cell has them


class Failed(Exception):
    pass


def split_flags(cell):
    """The cell's flags: those of the split, and the rest."""
    flags, split, rest = shlex.split(cell["flags"]), [], []
    for at, flag in enumerate(flags):
        of_split = flag in SPLIT_FLAGS or (at > 0 and flags[at - 1] in SPLIT_FLAGS)
        (split if of_split else rest).append(flag)
    return split, rest


def taken(flags, name):
    """The flags without `name VALUE`, and the value; "" where it is not among them."""
    words = shlex.split(flags)
    if name not in words:
        return flags, ""
    at = words.index(name)
    return shlex.join(words[:at] + words[at + 2:]), words[at + 1]


def around(cell):
    """The cell whose network this one takes and the cell with its own flags alone; (None, cell) for one that trains its own."""
    before, word, after = cell["flags"].partition("--around ")
    if not word:
        return None, cell
    method, _, own = after.partition(" ")
    return dict(cell, method=method, flags=before.strip()), dict(cell, flags=own)


class Runner:
    def __init__(self, tool, data, extra=()):
        self.tool, self.data, self.extra = tool, data, list(extra)
        self._recipes = {}

    def commit(self):
        """What the tool says that it was built from; "" where it does not."""
        said = subprocess.run([self.tool, "--version"], capture_output=True, text=True).stdout
        return said.partition("(")[2].partition(")")[0]

    def alike(self, cell):
        """What the cells of one recipe share: a study whose commands differ by table adds the table."""
        return cell["method"], cell["flags"], ":" in cell["data"], "@" in cell["data"]

    def recipe(self, cell):
        """What decides the cell beside its data, its seeds and the program, every default filled in; {} where the tool does
        not know its flags."""
        at = self.alike(cell)
        if at not in self._recipes:
            self._recipes[at] = of_cell(self._recipe(cell), cell["flags"])
        return self._recipes[at]

    def completed(self, row):
        """The row's recipe; an option that its tool did not have yet stood at its default, in effect."""
        recipe = row["recipe"]
        if isinstance(recipe.get("options"), dict):
            recipe = recipe | {"options": self.recipe({**row, "flags": ""}).get("options", {}) | recipe["options"]}
        return recipe

    def outdated(self, row):
        """How the row was measured otherwise than its cell would be today; {} for one that does not say how."""
        return differences(self.completed(row), self.recipe(row)) if row["recipe"] else {}

    def _recipe(self, cell):
        cell = dict(cell, flags=taken(cell["flags"], "--ood")[0])
        base, cell = around(cell)
        if base:
            network, own = self.recipe(base), self._dry_run(self._around(cell, "table", "network", "model"))
            if not network or not own:
                return {}
            trained = self.recipe(dict(cell, method="dnn", flags="")).get("options", {})  # they do not apply to a network that is kept
            own["options"] = {name: value for name, value in own["options"].items() if name not in trained}
            return own | {"inputs": network.get("inputs", {}), "network": {name: network[name] for name in ("method", "options")}}
        program, own = {}, TABLE_OWN
        if cell["method"] in RIVALS:
            split, rest = split_flags(cell)
            cell, program = dict(cell, method="dnn", flags=shlex.join(split)), {"method": cell["method"], "options": rest}
        elif ":" in cell["data"]:
            own = GENERATED_OWN
        elif "@" in cell["data"]:
            own = []
        answer = self._dry_run(self.command(cell, "table", own, "model"))
        return answer | program if answer else {}

    def _dry_run(self, command):
        answer = subprocess.run([*command, "--dry-run"], capture_output=True, text=True)
        return json.loads(answer.stdout) if answer.returncode == 0 else {}

    def run(self, cell):
        """The cell's row: metrics, or the last line of what went wrong."""
        with tempfile.TemporaryDirectory() as folder:
            work = Work(pathlib.Path(folder))
            row = dict(cell, error="")
            try:
                row.update(self._measure(cell, work))
            except (Failed, OSError, KeyError, ValueError) as error:
                row["error"] = " ".join(str(error).split()) or type(error).__name__
        row.update(command=work.command, memory_mb=round(work.peak_kb / 1024))
        return row

    def _measure(self, cell, work):
        if cell["method"] in RIVALS:
            return self._rival(cell, work)
        if "@" in cell["data"]:
            return self._sized(cell, work)
        if cell["data"] in sources.SOURCES:
            return source_fit.measured(self, cell, work, sources.SOURCES[cell["data"]])
        return self._generated(cell, work) if ":" in cell["data"] else self._table(cell, work)

    def _around(self, cell, table, network, model):
        return [self.tool, "fit", table, "--network-from", network, "--method", cell["method"], "--seed", cell["seed"],
                "--threads", "1", "--json", "--model", model, *shlex.split(cell["flags"]), *self.extra]

    def _network(self, cell, work):
        """The model file of a cell whose network others take; fitted by the first that asks for it."""
        asked = [cell["data"], cell["seed"], cell["flags"], self.commit(), as_text(self.recipe(cell))]
        model = MODELS / (hashlib.sha256("\n".join(asked).encode()).hexdigest()[:16] + ".safetensors")
        MODELS.mkdir(parents=True, exist_ok=True)
        with open(model.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not model.exists():
                self._fit(cell, self._path(cell), TABLE_OWN, work)
                shutil.copyfile(work.folder / "m.safetensors", model.with_suffix(".new"))
                os.replace(model.with_suffix(".new"), model)
        return model

    def command(self, cell, table, own, model):
        source = sources.SOURCES.get(cell["data"])
        target, own = (source.fit, []) if source else (("--target", "y"), own)
        command = [self.tool, "fit", table, *target, "--method", cell["method"], "--seed", cell["seed"],
                   "--threads", "1", "--json", "--model", model]
        flags = shlex.split(cell["flags"])
        given = {flag for flag in flags if flag.startswith("--")}
        for flag, value in zip(own[::2], own[1::2]):
            command += [] if flag in given else [flag, value]
        return command + flags + self.extra

    def _fit(self, cell, table, own, work):
        return json.loads(work.measured(self.command(cell, table, own, work.folder / "m.safetensors")))

    def _table(self, cell, work):
        flags, foreign = taken(cell["flags"], "--ood")
        base, own = around(dict(cell, flags=flags))
        model = work.folder / "m.safetensors"
        if base:
            network = self._network(base, work)
            answer = json.loads(work.measured(self._around(own, self._path(cell), network, model)))
            work.command = f"{as_shown(self.command(base, self._path(cell), TABLE_OWN, network))} && {work.command}"
        else:
            answer = self._fit(own, self._path(cell), TABLE_OWN, work)
        auroc = self._auroc(cell, model, foreign, work) if foreign else {}
        known = json.loads(work.quiet([self.tool, "describe", model, "--json"]))
        return {**of_summary(answer["summary"]), **of_valid(answer), **of_report(answer["test"]), **auroc, "parameters": known["parameters"]}

    def _auroc(self, cell, model, foreign, work):
        """Of the sd that the method offers for foreign rows, all of them, against its test rows."""
        table = self.data / f"{foreign}.csv.gz"
        report = json.loads(work.quiet([self.tool, "evaluate", model, self._path(cell), "--split", "test", "--ood", table, "--json"]))
        scores = report["ood"]["auroc"]
        return {"auroc": round(scores.get("epistemic_sd", scores.get("total_sd")), 5)}

    def _generated(self, cell, work):
        name, rows = cell["data"].split(":")
        tables = {}
        for seed, (part, n) in enumerate([("train", int(rows)), ("valid", max(200, int(rows) // 10)), ("test", TEST_ROWS)]):
            tables[part] = work.folder / f"{part}.csv"
            work.quiet([self.tool, "generate", name, "--rows", str(n), "--seed", str(seed), "--out", tables[part]])
        answer = self._fit(cell, tables["train"], ["--valid", tables["valid"], *GENERATED_OWN], work)
        model, predicted = work.folder / "m.safetensors", work.folder / "p.csv"
        report = json.loads(work.quiet([self.tool, "evaluate", model, tables["test"], "--json"]))
        work.quiet([self.tool, "predict", model, tables["test"], "--out", predicted])
        truth = against_truth(columns(tables["test"]), columns(predicted))
        return {**of_summary(answer["summary"]), **of_report(report), **truth}

    def _sized(self, cell, work):
        """On a table cut to a size; its test rows stand in another file."""
        train, test = derived.parts(self.data, cell, MODELS)
        answer = self._fit(cell, train, [], work)
        report = json.loads(work.quiet([self.tool, "evaluate", work.folder / "m.safetensors", test, "--threads", "1", "--json"]))
        return {**of_summary(answer["summary"]), **of_valid(answer), **of_report(report)}

    def _rival(self, cell, work):
        """On the rows of the tool's split: a model of one step holds them."""
        split, rest = split_flags(cell)
        model = work.folder / "split.safetensors"
        fraction = [] if "--test-fraction" in split else ["--test-fraction", "0.1"]
        work.quiet([self.tool, "fit", self._path(cell), "--target", "y", "--method", "dnn", "--steps", "1",
                    "--threads", "1", "--model", model, *fraction, *split])
        program, *own = RIVALS[cell["method"]]
        return json.loads(work.measured([sys.executable, RIVALS_FOLDER / program, self._path(cell), "--split", model, *own,
                                         "--seed", cell["seed"], *rest]).splitlines()[-1])

    def _path(self, cell):
        return derived.path(self.data, cell, MODELS)


class Work:
    """A folder for one cell's files, and what its main command was and took."""

    def __init__(self, folder):
        self.folder, self.command, self.peak_kb, self.processor_s = folder, "", 0, 0.0

    def measured(self, command):
        self.command = as_shown(command)
        return self._run(command, True)

    def quiet(self, command):
        return self._run(command, False)

    def _run(self, command, measure):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            # In a session of its own: Ctrl-C is for the runner, which ends what it started.
            process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
            _children.add(process)
            _, status, usage = os.wait4(process.pid, 0)
            _children.discard(process)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            if measure:
                self.peak_kb, self.processor_s = usage.ru_maxrss, usage.ru_utime + usage.ru_stime
            if process.returncode != 0:
                raise Failed((err.read().strip().splitlines() or [f"exit code {process.returncode}"])[-1])
            return out.read()


def as_shown(command):
    """The command without the folders of this machine."""
    words = [pathlib.Path(word).name if isinstance(word, pathlib.Path) else word for word in command]
    return shlex.join([pathlib.Path(words[0]).name, *words[1:]])


def columns(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def against_truth(test, predicted):
    """The NLL of the distribution that made the data, and how the predicted sd goes with the true one."""
    if "true_sd" not in test:
        return {}
    nll = [0.5 * math.log(2 * math.pi * sd**2) + 0.5 * ((y - mean) / sd) ** 2
           for y, mean, sd in zip(test["y"], test["true_mean"], test["true_sd"])]
    return {"oracle_nll": round(sum(nll) / len(nll), 5),
            "sd_correlation": round(correlation(predicted["sd"], test["true_sd"]), 5)}


def correlation(a, b):
    """Pearson's; nan where one of the two is constant, as a homoscedastic model's sd nearly is."""
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    scale = math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))
    return product / scale if scale > 0 else math.nan
