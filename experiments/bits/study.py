"""The same fit with the vector instructions of other processors, on one processor that is told to work as they do.

Two words among a cell's flags are the runner's own: `--mkl` and `--aten` are the values of MKL_ENABLE_INSTRUCTIONS and
ATEN_CPU_CAPABILITY.
"""

import collections
import pathlib
import platform
import statistics

import paper_n
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


def of_one_cell(rows):
    """Lists of rows with the same data, method, split and seed whose recipes say nothing differently."""
    found = collections.defaultdict(list)
    for row in rows:
        groups = found[row["data"], row["method"], row["seed"], taken(row["flags"], "--split-seed")[1]]
        own = next((group for group in groups if not results.differences(group[0]["recipe"], row["recipe"])), None)
        if own:
            own.append(row)
        else:
            groups.append([row])
    return [group for groups in found.values() for group in groups]


def kept(*names):
    rows = [row for name in names for row in results.read(studies.HERE / name / "results.csv")]
    return [row for row in rows if row["recipe"] and not row["error"]]


def measured_twice():
    """Lines of the rows of table1 and sensitivity that have the same data, recipe, split and seed."""
    lines = []
    for first, *others in of_one_cell(kept("table1", "sensitivity")):
        if others:
            values = [float(row["nll_standardized"]) for row in (first, *others)]
            told = "; ".join(f"{row['nll_standardized']}, {row['steps']} steps ({row['commit']})" for row in (first, *others))
            difference = f"{max(values) - min(values):.3f}" if len(set(values)) > 1 else "same"
            lines.append([first["data"], label(first["method"], first["flags"]), first["seed"], told, difference])
    return lines


def of_another_program():
    """The methods of table1's `defaults` whose rows on pol share no commit with those on the other tables."""
    own = paper_n.of_another_program(kept("table1"))
    if not own:
        return ""
    return (f"\nIn table1's `defaults`, pol's rows of {', '.join(own)} are from another program ({paper_n.commits_of(own)}) "
            "than those of the other tables and than pol's other methods: a comparison on pol is one of two programs where only one of the two "
            "methods is named here. The recipes of these rows have one name more, `noise_folds`, and differ in nothing that both have. Between 3aeba6e and af0cdc9 the order of a step's sums and the rule that stops a fit "
            "changed: these differences are not the processor's alone.\n")


def ends_of(whole):
    """How far apart whole fits of one method and seed end with other instructions, beside the sd of table1's seeds."""
    found = collections.defaultdict(list)
    for row in whole:
        found[row["method"], row["seed"]].append(float(row["nll_standardized"]))
    said = []
    for (method, seed), values in found.items():
        seeds = [float(row["nll_standardized"]) for row in results.latest(kept("table1"))
                 if (row["study"], row["data"], label(row["method"], row["flags"])) == ("defaults", "pol", label(method, ""))]
        beside = f", where the sd of the NLL over {len(seeds)} seeds is {statistics.stdev(seeds):.3f} in table1" if len(seeds) > 1 else ""
        said.append(f"`{method}`, seed {seed}: {max(values) - min(values):.3f} apart{beside}" if len(values) > 1
                    else f"`{method}`, seed {seed}: one setting alone, no difference")
    return "Whole fits: " + "; ".join(said) + ". One pair does not say how far apart fits end." if said else ""


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
        f"{moved(short, SETTINGS[0], SETTINGS[2])}. `pp-dkl` was not measured with AVX2 in MKL.",
        ends_of(whole), grid(["method", "seed", "MKL, ATen", "NLL", "steps"], ends),
        "## Cells measured twice\n\nRows of [table1](../table1/README.md) and [sensitivity](../sensitivity/README.md) with the "
        "same split and seed and with options that do not differ; a name that only one recipe has counts for nothing. Those of 6ec64a7 are "
        "from another machine, those of af0cdc9 from a later program.\n\n"
        + grid(["table", "method", "seed", "NLL", "difference"], measured_twice())
        + of_another_program() + "\nBetween 3aeba6e and 6ec64a7 nothing changed in the arithmetic of a step (`git diff 3aeba6e 6ec64a7 -- "
        "slimbayes/objectives slimbayes/train slimbayes/nn slimbayes/basis`); -O3 became -O2, which does not touch rounding "
        "without -ffast-math, and would have moved `vbll` as well. That points to the processor; the rows of that machine were "
        "not brought about again. A mean over seeds holds this difference in its spread; a single cell, or a seed compared with "
        "the same seed, does not stand for more than that."])
