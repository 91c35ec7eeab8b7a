"""The same fit with the vector instructions of other processors, on one processor that is told to work as they do.

Two words among a cell's flags are the runner's own: `--mkl` and `--aten` are the values of MKL_ENABLE_INSTRUCTIONS and
ATEN_CPU_CAPABILITY.
"""

import collections
import pathlib
import platform

import results
import studies
from pages import Page
from results import KEY, asked
from runners import TABLE_OWN, Runner, taken
from scores import label
from tables import grid

TITLE = "The same fit on other processors"
WHAT = "the same fit on other processors"
PAPER = "ours"
FIELDS = [*KEY, "valid_score", "nll_standardized", "steps", "cpu", "commit", "command", "recipe", "error"]
SETTINGS = [("AVX512", "avx512"), ("AVX512", "avx2"), ("AVX512", "default"), ("AVX2", "avx512"), ("AVX2", "avx2")]  # of MKL and ATen
DIGITS = {"vbll": 10, "dbk": 12, "pp-dkl": 8}  # that tell the settings apart
SHORT, WHOLE = "200 steps", "whole fits"


def cell_of(method, seed, mkl, aten, steps=""):
    study, budget = (SHORT, f"--steps {steps}") if steps else (WHOLE, "")
    return asked(study, "pol", method, seed, f"--mkl {mkl} --aten {aten} --split-seed 1", budget)


def cells():
    for method in DIGITS:
        yield from (cell_of(method, 0, mkl, aten, 200) for mkl, aten in SETTINGS if method != "pp-dkl" or mkl == "AVX512")
    yield from (cell_of("dbk", 2, *setting) for setting in SETTINGS[:2])
    yield cell_of("vbll", 2, *SETTINGS[-1])


def setting(row):
    return tuple(taken(row["flags"], word)[1] for word in ("--mkl", "--aten"))


class Bits(Runner):
    def command(self, cell, table, own, model):
        mkl, aten = setting(cell)
        variables = [f"{name}={value}" for name, value in (("ATEN_CPU_CAPABILITY", aten), ("MKL_ENABLE_INSTRUCTIONS", mkl)) if value]
        flags = taken(taken(cell["flags"], "--mkl")[0], "--aten")[0]
        _, *words = super().command(dict(cell, flags=flags), table, own, model)
        return ["env", *variables, pathlib.Path(self.tool), *words]

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        answer = self._fit(cell, self._path(cell), TABLE_OWN, work)
        return {"valid_score": answer["summary"]["best_score"], "nll_standardized": answer["test"]["nll_standardized"],
                "steps": answer["summary"]["steps"], "cpu": processor()}


def processor():
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def runner(tool, data):
    return Bits(tool, data)


def moved(rows, one, two):
    """The methods whose short fits have other bits with setting `two` than with `one`, and those that have the same."""
    at = {(row["method"], setting(row)): row["nll_standardized"] for row in rows}
    both = [method for method in DIGITS if (method, one) in at and (method, two) in at]
    found = {"moves ": [], "leaves the bits of ": []}
    for method in both:
        found["moves " if at[method, one] != at[method, two] else "leaves the bits of "].append(f"`{method}`")
    return " and ".join(text + ", ".join(methods) for text, methods in found.items() if methods) or "is not measured"


def measured_twice():
    """Lines of the rows of table1 and sensitivity that have the same data, recipe, split and seed."""
    found = collections.defaultdict(list)
    for study in "table1", "sensitivity":
        for row in results.read(studies.HERE / study / "results.csv"):
            if row["recipe"] and not row["error"]:
                split = taken(row["flags"], "--split-seed")[1]
                found[row["data"], row["method"], row["seed"], results.hash_of(row["recipe"]), split].append(row)
    lines = []
    for first, *others in found.values():
        if others:
            values = [float(row["nll_standardized"]) for row in (first, *others)]
            told = "; ".join(f"{row['nll_standardized']}, {row['steps']} steps ({row['commit']})" for row in (first, *others))
            difference = f"{max(values) - min(values):.3f}" if len(set(values)) > 1 else "same"
            lines.append([first["data"], label(first["method"], first["flags"]), first["seed"], told, difference])
    return lines


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "bits") if not row["error"]]
    short, whole = ([row for row in rows if row["study"] == study] for study in (SHORT, WHOLE))
    at = {(row["method"], setting(row)): f"{float(row['nll_standardized']):.{DIGITS[row['method']]}f}" for row in short}
    table = [[", ".join(found), *(at.get((method, found), "") for method in DIGITS)] for found in SETTINGS]
    ends = [[row["method"], row["seed"], ", ".join(setting(row)), f"{float(row['nll_standardized']):.3f}", f"{int(row['steps']):,}"]
            for row in whole]
    return Page([
        "```\nATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX512 \\\n  slimbayes fit pol.csv.gz --target y --method dbk "
        "--seed 0 --threads 1 --test-fraction 0.1 --split-seed 1 --steps 200 --json\n```",
        "Same binary, processor, threads and seed: the same bits. Another processor takes other vector instructions, whose sums "
        "and functions round otherwise; [results.csv](results.csv) has what that does on one processor that is told to work as "
        "others.",
        "NLL on pol's test rows after 200 steps, seed 0 (standardised):",
        grid(["MKL, ATen", *(f"`{method}`" for method in DIGITS)], table),
        f"AVX2 in place of AVX512 in MKL (the matrix products) {moved(short, SETTINGS[0], SETTINGS[3])}; avx2 in place of avx512 "
        f"in ATen {moved(short, SETTINGS[0], SETTINGS[1])}; ATen without vectors (default) "
        f"{moved(short, SETTINGS[0], SETTINGS[2])}. By the end of a fit the difference is that of other seeds:",
        grid(["method", "seed", "MKL, ATen", "NLL", "steps"], ends),
        "## Cells measured twice\n\nRows of [table1](../table1/README.md) and [sensitivity](../sensitivity/README.md) with equal "
        "options, split and seed; those of 6ec64a7 are from another machine.\n\n"
        + grid(["table", "method", "seed", "NLL", "difference"], measured_twice())
        + "\nBetween 3aeba6e and 6ec64a7 nothing changed in the arithmetic of a step (`git diff 3aeba6e 6ec64a7 -- "
        "slimbayes/objectives slimbayes/train slimbayes/nn slimbayes/basis`); -O3 became -O2, which does not touch rounding "
        "without -ffast-math, and would have moved `vbll` as well. That points to the processor; the rows of that machine were "
        "not brought about again. A mean over seeds holds this difference in its spread; a single cell, or a seed compared with "
        "the same seed, does not stand for more than that."])
