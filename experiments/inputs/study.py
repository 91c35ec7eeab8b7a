"""Series, images and texts: one fit of each method with its defaults, on the data of docs/inputs.md."""

import json
import shlex

import studies
from pages import Page
from results import KEY, asked
from runners import Runner
from tables import grid

TITLE = "Series, images and texts"
WHAT = "series, images and texts, a fit each with the defaults"
PAPER = "ours"
METRICS = ["accuracy", "mae", "rmse", "nll", "crps", "ece", "coverage", "coverage_level", "set_size"]
FIELDS = [*KEY, "test_rows", *METRICS, "train_s", "peak_mb", "commit", "command", "recipe", "error"]
SERIES = "--target pm2.5 --window 24 --horizon 1 --time year,month,day,hour --ignore No --network lstm --test-fraction 0.15"
TEXT = "--target label --text text --network transformer"
# By data: the files of a fit and of its test; without a file of their own the test rows are those of the split.
FILES = {"beijing_pm25": ("beijing_pm25.csv.gz", ""), "sst2": ("sst2_train.csv.gz", "sst2_dev.csv.gz"), "cifar10": ("cifar10_train.bin.gz", ""),
         **{name: (f"{name}/train-images-idx3-ubyte.gz", f"{name}/t10k-images-idx3-ubyte.gz") for name in ("mnist", "fashion-mnist")}}
CELLS = [("beijing_pm25", "dbk", SERIES), ("beijing_pm25", "vbll", SERIES), ("beijing_pm25", "dnn", SERIES), ("mnist", "vbll", "--network convnet --epochs 5"),
         ("mnist", "dnn", "--network convnet --epochs 5 --calibrate conformal"), ("fashion-mnist", "vbll", "--network convnet --epochs 5 --calibrate conformal"),
         ("sst2", "vbll", TEXT), ("sst2", "dnn", TEXT), ("cifar10", "dnn", "--format cifar10 --network resnet18 --crop 4 --flip --epochs 1")]


def cells():
    for data, method, flags in CELLS:
        yield asked("inputs", data, method, 0, flags)


class Fits(Runner):
    def command(self, cell, table, model):
        return [self.tool, "fit", table, "--method", cell["method"], "--seed", cell["seed"], "--threads", "1", "--json", "--model", model,
                *shlex.split(cell["flags"])]

    def recipe(self, cell):
        return self._dry_run(self.command(cell, self.data / FILES[cell["data"]][0], "model"))

    def _measure(self, cell, work):
        train, test = FILES[cell["data"]]
        model = work.folder / "m.safetensors"
        answer = json.loads(work.measured(self.command(cell, self.data / train, model)))
        report = json.loads(work.quiet([self.tool, "evaluate", model, self.data / test, "--threads", "1", "--json"])) if test else answer.get("test", {})
        found = {name: f"{report[name]:.4g}" for name in METRICS if isinstance(report.get(name), (int, float))}
        return {**found, "test_rows": report.get("n", ""), "train_s": round(answer["summary"]["seconds"], 1)}

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row} | {"peak_mb": row["memory_mb"]}


def runner(tool, data):
    return Fits(tool, data)


def page(now):
    names = [name for name in METRICS if name != "coverage_level"]
    lines = [[row["data"], row["method"], *(row[name] for name in names), f"{float(row['train_s']):,.0f}", row["peak_mb"]]
             for row in studies.rows(studies.HERE / "inputs") if not row["error"]]
    return Page(["One seed, the defaults but for what the flags say: PM2.5 of Beijing in windows of 24 hours, the last 15 % to test; five epochs of a "
                 "convnet on the images; a transformer on the phrases of SST-2, tested on the sentences of its development file; an epoch of "
                 "ResNet-18 on CIFAR-10, whose time alone is of interest. `coverage`: at 95 %, of conformal sets at 90 %. Seconds are of a shared core.",
                 grid(["data", "method", *names, "seconds", "MB"], lines)])
