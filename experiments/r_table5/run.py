#!/usr/bin/env python3
"""R Table 5 in small: CIFAR-10 in, CIFAR-100 out. Fits the cells below and keeps each result as it finishes.

  experiments/r_table5/run.py [--seeds 3] [--match REGEX]

One network a seed, trained on the 10,000 images at hand (a tenth of them validate), carries the post-hoc methods; the
others train their own. Every cell is evaluated on the 2,000 test images, and its scores tell the 2,000 images of CIFAR-100
from them. A row is method, flags, seed, the metrics, the AUROC of every score (JSON); a cell that is there already is
not run again. One thread a fit. The tool is build/slimbayes (SLIMBAYES_TOOL), the images lie in SLIMBAYES_DATA.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from results import Results, finished, read  # noqa: E402

# R: a convnet in mu-P, AdamW at 1e-3 without weight decay, batches of 128, crops and flips; 100 epochs on 45,000 images.
NETWORK = ("--network convnet --hidden 32 --parametrisation mup --learning-rate 1e-3 --weight-decay 0 --schedule constant "
           "--patience 0 --epochs 40 --batch 128 --crop 4 --flip --valid-fraction 0.1")
PRIOR = "--prior fixed --prior-sd 1"
AROUND = [("dnn", ""), ("bll", PRIOR), ("rich-bll", f"{PRIOR} --ridge 1"), ("rich-bll", f"{PRIOR} --ridge 1 --subsample 0.4"),
          ("rich-bll", f"{PRIOR} --ridge 1e-4"), ("last-layer-laplace", PRIOR),
          # A prior so narrow that no row counts: the score is the squared norm of the features.
          ("last-layer-laplace", "--prior fixed --prior-sd 1e-6")]
OWN = [("mc-dropout", NETWORK), ("bbb", NETWORK.replace("--parametrisation mup ", "")), ("ensemble", f"--of dnn --members 5 {NETWORK}")]
KEY = ["study", "data", "method", "seed", "flags"]
METRICS = ["nll", "ece", "accuracy", "brier"]
FIELDS = KEY + ["test_rows", *METRICS, "auroc", "commit", "command", "recipe", "error"]


def cells(seeds):
    for kind, groups in ("around", [AROUND]), ("own", [[each] for each in OWN]):
        for group, seed in itertools.product(groups, range(seeds)):
            for method, flags in group:
                yield {"study": kind, "data": "cifar10", "method": method, "seed": str(seed), "flags": flags}


class Study:
    def __init__(self, tool, data):
        self.tool, self.data = tool, data
        self.models = pathlib.Path(os.environ.get("SLIMBAYES_MODELS", HERE.parent / ".models"))
        self.commit = self._said("--version").partition("(")[2].partition(")")[0]

    def _said(self, *words):
        done = subprocess.run([str(word) for word in (self.tool, *words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
        return done.stdout

    def _fit(self, method, seed, flags, model, *more):
        return ["fit", self.data / "cifar10_train.bin.gz", *more, "--method", method, "--seed", seed, "--threads", "1", "--json",
                "--model", model, *shlex.split(flags)]

    def _network(self, seed):
        """The network that all post-hoc methods of a seed stand on: the model file of dnn."""
        model = self.models / f"cifar10-{self.commit}-{seed}.safetensors"
        if not model.exists():
            self.models.mkdir(parents=True, exist_ok=True)
            new = model.with_suffix(".new")
            self._said(*self._fit("dnn", seed, NETWORK, new, "--format", "cifar10"))
            os.replace(new, model)
        return model

    def run(self, cell):
        row = {**cell, "commit": self.commit, "recipe": "", "error": ""}
        try:
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder) / "m.safetensors"
                more = ["--network-from", self._network(cell["seed"])] if cell["study"] == "around" else ["--format", "cifar10"]
                if (cell["study"], cell["method"]) == ("around", "dnn"):
                    model, fit = more[1], self._fit("dnn", cell["seed"], NETWORK, model, "--format", "cifar10")
                else:
                    fit = self._fit(cell["method"], cell["seed"], cell["flags"], model, *more)
                    self._said(*fit)
                report = json.loads(self._said("evaluate", model, self.data / "cifar10_test.bin.gz", "--ood",
                                               self.data / "cifar100_test.bin.gz", "--json"))
        except RuntimeError as error:
            return {**row, "error": str(error)}
        shown = [pathlib.Path(word).name if isinstance(word, pathlib.Path) else word for word in fit]
        scores = {name: round(value, 5) for name, value in report["ood"]["auroc"].items()}
        return {**row, **{name: round(report[name], 5) for name in METRICS if name in report}, "test_rows": report["n"],
                "auroc": json.dumps(scores, sort_keys=True), "command": shlex.join(["slimbayes", *shown])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--match", default="", help="run the cells alone whose line this regular expression finds")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    options = parser.parse_args()
    study = Study(options.tool, pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data")))
    results = Results(HERE / "results.csv", FIELDS)
    never = lambda row: False  # noqa: E731
    for cell in cells(options.seeds):
        if not re.search(options.match, ",".join(cell.values())) or finished(read(results.path), cell, never):
            continue
        with results.claim(cell, never) as mine:
            if mine:
                row = study.run(cell)
                results.append(row)
                print(cell["method"], cell["seed"], row["error"] or (row["nll"], row["auroc"]), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
