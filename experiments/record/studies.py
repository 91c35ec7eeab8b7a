"""The studies: each is a folder of experiments/ with a study.py, which has

  TITLE     of its page
  WHAT      what it measures, a phrase for the overview
  PAPER     whose claims it is about: N, E, R, S, F or ours
  cells()   its cells in the order of their running: dicts of study (a part of it), data, method, seed, flags
  page(now) the page's parts and claims (pages.Page); `now` is the runner of today's tool

and, where it needs them,

  PROTOCOL            a study of a paper: its protocol beside the paper's, protocol.Line by line; a claim gets no verdict where one differs
  runner(tool, data)  what runs its cells instead of runners.Runner; see there for what a runner has
  FIELDS              the columns of its results.csv, results.KEY first
  MAY_DIFFER          {name of a recipe's inputs: why}: what the methods of one table may do differently (results.refuse_mixed)
"""

import functools
import importlib.util
import pathlib

import results

HERE = pathlib.Path(__file__).resolve().parent.parent
PAPERS = {"N": "Zhu, Yuchi, Xie, Scalable Deep Basis Kernel Gaussian Processes", "E": "its predecessor on low-rank deep kernels",
          "R": "the paper of Rich-BLL, richer Bayesian last layers", "S": "Toure and Stephens, Singular Bayesian neural networks",
          "F": "the paper of FiD-GP", "ours": "what we say ourselves"}


def folders():
    return sorted(path.parent for path in HERE.glob("*/study.py"))


def find(word):
    """The folder of a study's name, or of its path."""
    for folder in pathlib.Path(word), HERE / word:
        if (folder / "study.py").exists():
            return folder.resolve()
    raise SystemExit(f"expected the name or the folder of a study; received {word}; studies: {', '.join(folder.name for folder in folders())}")


@functools.cache
def load(folder):
    """The module of a study."""
    spec = importlib.util.spec_from_file_location(f"study_{folder.name}", folder / "study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "TITLE") and getattr(module, "PAPER", "") not in PAPERS:
        raise ValueError(f"[PAPER] expected one of {', '.join(PAPERS)}; received {getattr(module, 'PAPER', 'none')!r} in {folder.name}/study.py")
    return module


def cells(folder):
    """Its cells, every value a string; one that two parts name stands once, where it comes first."""
    found = [{name: str(cell[name]) for name in results.KEY} for cell in load(folder).cells()]
    return list({results.key(cell): cell for cell in found}.values())


def all_rows(folder):
    """Every row of a cell that is asked for, in the order of their measuring."""
    asked = {results.key(cell) for cell in cells(folder)}
    return [row for row in results.read(folder / "results.csv") if results.key(row) in asked]


def rows(folder):
    """One row a cell that is asked for: the last that worked, else the last failure."""
    return results.latest(all_rows(folder))
