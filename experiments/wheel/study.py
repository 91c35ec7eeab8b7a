"""The wheel bandit (R Table 3): its runner, and regret beside R's."""

import collections
import itertools
import json
import os
import pathlib
import shlex
import subprocess

import results
import studies
from judge import Case, judged, lower
from pages import Page
from protocol import SAME, SILENT, Line
from scores import Published, number, of, with_standard_error
from tables import cell, grid

TITLE = "The wheel bandit (R Table 3)"
WHAT = "R Table 3: exploration on the wheel bandit"
PAPER = "R"
PROTOCOL = [
    Line("game", "contexts uniform on the disk, 5 arms, delta .5 to .99 (C.2)", "the same", SAME),
    Line("rewards", "Gaussian, of a fixed variance (C.2), as in Riquelme et al. (4.1)", "means 1, 1.2 and 50, sd .01, as there", SAME),
    Line("length", "3 pulls an arm; 16,000 pulls, 20 a phase; 100 steps a phase (C.2)", "the same", SAME),
    Line("network", "context and one-hot arm, two layers of 100, ReLU, mu-P (C.2)", "the same; mu-P's reference width is 100", SAME),
    Line("training", "MSE, Adam at 3e-3, clipped at 1, batches of 512 (C.2)", "the same; VBLL on its bound", SAME),
    Line("choice of an arm", "Thompson sampling of the function's posterior (4.1)", "the same", SAME),
    Line("posterior", "rebuilt at every gradient step (C.2)", "once a phase, after its steps: nobody acts between them", SAME),
    Line("prior and A", "prior I, A by least squares (eq. 9, 15)", "the same: prior sd 1, ridge 0", SAME),
    Line("rows of (S)", "a fixed number, no fewer than the features (4.3)", "512, for 101 features", SILENT),
    Line("noise", "mean of recent squared errors, its window not said (4.3)", "of the last 20 pulls; games that are not scored try others (windows)", SILENT),
    Line("rivals", "some borrowed from Harrison et al. (Table 3); priors not said", "all played; priors of Riquelme et al.'s code", SILENT),
    Line("regret", "cumulative, over that of a random policy (4.3)", "the same, over its expectation, first pulls included", SAME),
]
NUMBERS = ["pulls", "regret", "uniform_regret", "percent", "percent_after_first", "gradient_seconds", "posterior_seconds", "seconds"]
FIELDS = results.KEY + NUMBERS + ["commit", "command", "recipe", "error"]
# Fresh pages for every temporary tensor cost 15 % of a step.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "2000000000"}
DELTAS = ["0.5", "0.7", "0.9", "0.95", "0.99"]
POLICIES = [("lin-diag-post", ""), ("uniform", ""), ("bll", ""), ("rich-bll", "--subsample 512"), ("neural-linear", ""),
            ("neural-linear-mr", ""), ("vbll", ""), ("rich-bll", "")]
CHEAP = ["lin-diag-post", "uniform", "neural-linear", "neural-linear-mr"]  # twenty games each, three of the others
WINDOWS = [20, 100, 1000, 16000]
LONG = "--phases 4000"  # 80,000 pulls


def cells():
    """`wheel`: all policies at three deltas, the costliest with the hardest delta first, then at the two between; then more games of the cheap ones.
    `horizon`: games five times as long. `window`: the noise variance's windows, on games that are not scored elsewhere."""
    for deltas in (["0.5", "0.9", "0.99"], ["0.7", "0.95"]):
        for (policy, flags), seed in itertools.product(POLICIES, range(3)):
            costly = len(deltas) == 3 and (policy, flags) == POLICIES[-1]
            for delta in reversed(deltas) if costly else deltas:
                yield results.asked("wheel", delta, policy, seed, flags)
    for policy, seed, delta in itertools.product(CHEAP[:2], range(10), DELTAS):
        yield results.asked("horizon", delta, policy, seed, LONG)
    for (policy, seed), delta in itertools.product([(policy, seed) for policy in CHEAP for seed in range(3, 20)], DELTAS):
        yield results.asked("wheel", delta, policy, seed)
    for seed, window, (policy, flags) in itertools.product(range(100, 103), WINDOWS, [("rich-bll", "--subsample 512"), ("bll", "")]):
        yield results.asked("window", "0.99", policy, seed, flags, f"--window {window}")


class Program:
    """A cell's data is delta, its method the policy. One thread a game."""

    def __init__(self, path):
        self.path, self._recipes = path, {}

    def said(self, *words):
        if not self.path.exists():
            return subprocess.CompletedProcess(words, 1, "", "no program: build it (make build) or name it in WHEEL_STUDY")
        environment = {**os.environ, **ALLOCATOR, "OMP_NUM_THREADS": "1"}
        return subprocess.run([self.path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def commit(self):
        """What the program says that it was built from; "" without a program."""
        return self.said("--version").stdout.strip()

    def words(self, cell):
        return ["--policy", cell["method"], "--delta", cell["data"], "--seed", cell["seed"], *shlex.split(cell["flags"])]

    def recipe(self, cell):
        """What decides the cell beside delta, seed and the program; {} where the program does not know its flags."""
        at = cell["method"], cell["flags"]
        if at not in self._recipes:
            done = self.said("--dry-run", *self.words(cell))
            self._recipes[at] = json.loads(done.stdout) if done.returncode == 0 else {}
        return self._recipes[at]

    def outdated(self, row):
        return results.differences(row["recipe"], self.recipe(row))

    def run(self, cell):
        done = self.said(*self.words(cell))
        row = {**cell, "command": shlex.join(["wheel_study", *self.words(cell)]), "error": ""}
        if done.returncode != 0:
            return {**row, "error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
        found = json.loads(done.stdout)
        return {**row, **{name: f"{found[name]:.7g}" for name in NUMBERS}, "commit": found["commit"], "recipe": found["recipe"]}


def runner(tool, data):
    """Of build/checks/wheel_study, or what WHEEL_STUDY names."""
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "checks" / "wheel_study"
    return Program(pathlib.Path(os.environ.get("WHEEL_STUDY", built)))


S = "rich-bll --subsample 512"
PRINTED = {"rich-bll": "rich_bll", S: "rich_bll_s", "bll": "bll_nngp", "vbll": "vbll", "neural-linear": "neural_linear",
           "neural-linear-mr": "neural_linear_mr", "lin-diag-post": "lin_diag_post", "uniform": ""}
INTRO = """R is Rich-BLL, number 12 of [the references](../../docs/references.md). Contexts are uniform on the unit disk.
Of five arms, arm 0 has mean reward 1.2 and the others 1; beyond the radius delta one arm,
chosen by the quadrant, has mean 50. A phase is 20 pulls, then 100 gradient steps; a game has 800 phases after 3 pulls of each
arm. Regret: percent of the expected regret of uniformly random arms in the same contexts, first pulls included; lower is better.
Ours: mean and standard error over seeds (their number in brackets). R: mean and standard error over 10 seeds, as printed; R marks
the rows that it borrowed from Harrison et al. (2024), and the marks are lost in our copy of the text.

What R and its sources leave open, and what is taken here:

- **Rewards.** The sd of every reward is 0.01, as in Riquelme et al. (2018); their code has 0.05 for the small ones (`--noise-sd 0.05`).
- **Network.** The context and the one-hot arm, two hidden layers of 100 with ReLU, one output, in mu-P; Adam 3e-3, norm clipped at
  1, batches of 512 pulls drawn with replacement. All neural policies train it so.
- **Posterior.** It is rebuilt once a phase, after the gradient steps. R rebuilds it at every gradient step; between the steps of a
  phase nobody acts, so that the actions are the same. `rich-bll` takes A and the posterior from all pulls, `--subsample 512` both
  from 512 random ones, with the sums scaled up. A is least squares, `--ridge 0` of the tool. The prior sd is 1, for `bll` too.
- **Noise variance** of `bll` and `rich-bll`: the mean squared error of the predictions before the last pulls. R has a "rolling
  window" and does not say how long: here the 20 pulls of a phase. One game of `rich-bll --subsample 512` at delta 0.99, with
  a seed that is not scored, chose this window, and `bll` had no such search; the section on windows has both with longer ones.
- **Horizon.** A game has 16,000 pulls, as in R (C.2: 80,000 gradient steps, 16,000 environment steps). The section on the horizon has
  LinDiagPost, the cheapest policy, also in games of 80,000 pulls, in case that R borrowed its row from such games. A game in which a policy never finds the good arm ends near 100 %
  or above, so that at delta 0.99 a mean over few games tells little.
- **NeuralLinear.** A linear model with an inverse-gamma noise variance per arm on the last hidden layer, without an intercept;
  a0 = b0 = 6 and lambda = 0.25, as in the code of Riquelme et al. **NeuralLinear-MR**: the same with a0 = 12, b0 = 30, lambda = 23.
  A public code names these values so, among its settings for the mushroom data; that MR means this is our reading. Their network
  has one output per arm and no arm among its inputs.
- **LinDiagPost.** A linear model of the context with an intercept per arm and the diagonal of the posterior covariance. That it has
  NeuralLinear's prior is our assumption.
- **VBLL.** A q(w) = N(m, L L^T) per arm on the last layer's features, trained with the network on the bound of all pulls; a trained
  noise variance, as in the library's `vbll`.
"""


def name_of(row):
    return " ".join([row["method"], *row["flags"].split()])


class Regret:
    """Percent of the uniform policy's regret, by policy, delta and seed."""

    def __init__(self, rows):
        self.rows = [row for row in rows if not row["error"]]
        self._seeds = collections.defaultdict(dict)
        for row in self.rows:
            self._seeds[name_of(row), row["data"]][row["seed"]] = number(row["percent"])

    def by_seed(self, name, delta):
        return self._seeds.get((name, delta), {})

    def get(self, name, delta):
        values = self.by_seed(name, delta)
        return with_standard_error(of(values)) if values else None

    def names(self):
        return list(dict.fromkeys(name_of(row) for row in self.rows))


def gap(regret, delta):
    """Of bll to rich-bll (S), seed by seed, with the standard error."""
    a, b = regret.by_seed("bll", delta), regret.by_seed(S, delta)
    found = {seed: a[seed] - b[seed] for seed in sorted(a.keys() & b.keys(), key=int)}
    return with_standard_error(of(found)) if found else None


def best_of(regret, names, delta, seeds):
    """By the mean over the seeds that all of them played."""
    return min(((name, regret.get(name, delta)) for name in names), key=lambda each: sum(each[1].by_seed[seed] for seed in seeds))


def against_best(regret, ours, others, delta):
    played = [regret.by_seed(name, delta).keys() for name in (*ours, *others)]
    if not all(played) or not (seeds := set.intersection(*map(set, played))):
        return Case(delta, None, "")
    mine, rival = (best_of(regret, names, delta, seeds) for names in (ours, others))
    return lower(delta, mine[1], rival[1], mine[0], rival[0]) if mine and rival else Case(delta, None, "")


def claims(regret):
    source = "R 4.3"
    for name in "rich-bll", S:
        yield judged(source, f"{name}'s regret is below bll's at every delta",
                     [lower(d, regret.get(name, d), regret.get("bll", d)) for d in DELTAS])
    yield judged(source, f"the gap between bll and {S} is wider at delta 0.99 than at 0.5",
                 [lower("0.5 and 0.99", gap(regret, "0.5"), gap(regret, "0.99"))])
    close = []
    for d in DELTAS:
        full = regret.get("rich-bll", d)
        close.append(lower(d, regret.get(S, d), full and full.times(1.1), "", "1.1 times"))
    yield judged(source, f"{S} is close to rich-bll (at most a tenth above it) at every delta", close)
    others = [name for name, printed in PRINTED.items() if printed and not printed.startswith("rich")]
    yield judged(source, "rich-bll, full or subsampled, has the lowest regret at delta 0.95 and 0.99",
                 [against_best(regret, ["rich-bll", S], others, d) for d in DELTAS[3:]])
    yield judged(source, "last-layer and linear policies (bll, NeuralLinear, NeuralLinear-MR, LinDiagPost) have a higher regret than rich-bll, full "
                 "or subsampled, at 0.95 and 0.99",
                 [against_best(regret, ["rich-bll", S], ["bll", "neural-linear", "neural-linear-mr", "lin-diag-post"], d) for d in DELTAS[3:]])
    yield judged(source, "vbll has the lowest regret at delta 0.5 and 0.9",
                 [against_best(regret, ["vbll"], [name for name in PRINTED if name != "vbll" and PRINTED[name]], d) for d in ("0.5", "0.9")])


def printed_cell(score):
    return f"{score.mean:.2f} ± {score.sd:.2f}" if score else ""


def regret_table(regret, published):
    rows = []
    for name, printed in PRINTED.items():
        if any(regret.get(name, d) for d in DELTAS):
            rows.append([f"`{name}`", "ours", *(cell(regret.get(name, d), digits=2) for d in DELTAS)])
        if printed:
            rows.append([f"`{name}`", "R", *(printed_cell(published.get(d, printed, "percent")) for d in DELTAS)])
    return grid(["policy", "", *(f"delta {d}" for d in DELTAS)], rows)


def horizon_table(regret, published):
    """Games of 16,000 and of 80,000 pulls beside R's number."""
    rows = []
    for name in CHEAP[:2]:
        for words, what in (name, "16,000 pulls"), (f"{name} {LONG}", "80,000 pulls"):
            rows.append([f"`{name}`", what, *(cell(regret.get(words, d), digits=2) for d in DELTAS)])
        if PRINTED[name]:
            rows.append([f"`{name}`", "R", *(printed_cell(published.get(d, PRINTED[name], "percent")) for d in DELTAS)])
    return grid(["policy", "", *(f"delta {d}" for d in DELTAS)], [row for row in rows if any(row[2:])])


def against_20(regret):
    """By policy and window, the verdict on its regret against that of 20 pulls, seed by seed."""
    for name, window in itertools.product((S, "bll"), WINDOWS[1:]):
        own, short = (regret.get(f"{name} --window {pulls}", "0.99") for pulls in (window, WINDOWS[0]))
        if own and short:
            yield name, window, lower("", own, short)


def window_table(regret):
    rows = [[f"`{name}`", *(cell(regret.get(f"{name} --window {window}", "0.99"), digits=1) for window in WINDOWS)] for name in (S, "bll")]
    found = list(against_20(regret))
    if not found:
        return ""
    decided = [f"`{name}` with {window:,} pulls ({case.numbers})" for name, window, case in found if case.won is not None]
    said = (f"Decided against 20 pulls, seed by seed: {'; '.join(decided)}." if decided else
            "Three games decide between 20 pulls and no other window, seed by seed: the scored games keep 20.")
    return ("## Windows of the noise variance\n\nPercent of random arms at delta 0.99, on games that stand nowhere else. " + said + "\n\n"
            + grid(["policy", *(f"{window:,} pulls" for window in WINDOWS)], rows))


def seconds_table(regret):
    rows = []
    for name in (name for name in regret.names() if name in PRINTED):
        mine = [row for row in regret.rows if name_of(row) == name]
        mean = [of([number(row[part]) for row in mine]).mean for part in ("seconds", "gradient_seconds", "posterior_seconds")]
        rows.append([f"`{name}`", *(f"{value:.1f}" for value in mean), f"{mean[1] / 80:.2f}" if mean[1] > 1 else "", f"{len(mine)}"])
    return grid(["policy", "a game, s", "gradient steps, s", "posteriors, s", "a step, ms", "games"], rows)


def page(now):
    regret = Regret(studies.rows(studies.HERE / "wheel"))
    return Page([INTRO, "## Regret, percent of random arms\n\n" + regret_table(regret, Published("wheel")),
                 "## Horizon\n\n" + horizon_table(regret, Published("wheel")), window_table(regret),
                 "## Seconds\n\nOn one of two shared cores at the lowest priority: read them as a bound. The products of a "
                 "gradient step take about 0.25 ms; the rest is automatic "
                 "differentiation and Adam on small tensors.\n\n" + seconds_table(regret)], list(claims(regret)))
