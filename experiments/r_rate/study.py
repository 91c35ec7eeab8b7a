"""R Theorem 3.4 and section 3.3: how fast A, which maps a network's last features to the gradients of its earlier weights, is found."""

import itertools
import json
import math

import sources
import studies
from judge import alike, judged, limit
from one_network import ARCHITECTURE
from pages import Page
from paper_s import Measured
from protocol import SAME, SILENT, Line
from results import KEY, asked
from runners import Runner
from scores import of, with_standard_error
from tables import grid

TITLE = "How many rows A needs (R Theorem 3.4)"
WHAT = "R Theorem 3.4 and 3.3: the error of A by rows and by width"
PAPER = "R"
PROTOCOL = [
    Line("data", "independent rows of one distribution (Theorem 3.4); no experiment", "drawn with replacement from a table's rows", SAME),
    Line("network", "mu-P (A.3); MLP of two layers of 50 for tables (C.1)", "the same, of widths from 25 to 200; Adam at 1e-3, 20 epochs", SAME),
    Line("A", "least squares, no ridge (eq. 9, 18)", "the same", SAME),
    Line("norm", "spectral (eq. 19)", "the same, over that of A", SAME),
    Line("\"accurate estimation\" (3.3)", "not said", "a relative error of a half; one of a tenth needs 25 times the rows, by the theorem", SILENT)]
FIELDS = [*KEY, "features", "gradients", "least_eigenvalue", "errors", "seconds", "memory_mb", "commit", "command", "recipe", "error"]
TABLES, WIDTHS, SEEDS = ["kin40k", "pol"], [25, 50, 100, 200], 3
NETWORK = f"{ARCHITECTURE.replace('--hidden 50 ', '')} --epochs 20 --batch 32"
SIZES, DRAWS, CHUNK = [2, 4, 8, 16, 32, 64, 128], 10, 2000  # rows for each feature; samples of each size; rows at a time
ASYMPTOTIC, ACCURATE, MARGIN = 8, 0.5, 0.1


def cells():
    for seed, table, width in itertools.product(range(SEEDS), TABLES, WIDTHS):
        yield asked("rate", table, "dnn", seed, f"--hidden {width}", NETWORK)


class Features:
    """phi_r(x) = d f / d theta of the last layer [n, r] and phi_m(x) of the earlier ones [n, m] of a model file's network (R 3.1), with two
    hidden layers of ReLUs, in float64. Features that are 0 for all rows are left out, as the theorem asks for independent ones."""

    def __init__(self, model, x):
        import numpy as np
        from safetensors import safe_open
        with safe_open(model, framework="numpy") as file:
            w = {name: file.get_tensor(name).astype("float64") for name in file.keys() if name.startswith("network.")}
            metadata = file.metadata()
        layers = [layer for layer in json.loads(metadata["network"])["layers"] if layer["kind"] == "linear"]
        self.scales = [(layer.get("weight_scale", 1), layer.get("bias_scale", 1)) for layer in layers]
        first, second, (self.last, _) = [(a * w[f"network.{at}.weight"], b * w[f"network.{at}.bias"])
                                         for at, (a, b) in zip((0, 2, 4), self.scales)]
        columns = json.loads(metadata["encoder"])["columns"]
        self.x = (x - [column["shift"] for column in columns]) / [column["scale"] for column in columns]
        self.one = np.maximum(self.x @ first[0].T + first[1], 0)
        self.two = np.maximum(self.one @ second[0].T + second[1], 0)
        self.weight = second[0]
        every = np.concatenate([self.scales[2][0] * self.two, np.full((len(x), 1), self.scales[2][1])], axis=1)
        self.of_last = every[:, every.any(axis=0)]

    def earlier(self, rows):
        import numpy as np
        (a1, b1), (a2, b2), _ = self.scales
        down = self.last * (self.two[rows] > 0)          # d f / d pre-activations of the second layer
        lower = (down @ self.weight) * (self.one[rows] > 0)
        blocks = [a1 * lower[:, :, None] * self.x[rows][:, None], b1 * lower[:, :, None],
                  a2 * down[:, :, None] * self.one[rows][:, None], b2 * down[:, :, None]]
        return np.concatenate([block.reshape(len(rows), -1) for block in blocks], axis=1)


def transform(features, rows):
    """A^T [r, m], of least norm among the minimisers of sum |phi_m - A phi_r|^2 over the rows."""
    import numpy as np
    left, values, right = np.linalg.svd(features.of_last[rows], full_matrices=False)
    kept = values > 1e-10 * values[0]
    inverse = (right[kept].T / values[kept]) @ left[:, kept].T
    return sum(inverse[:, at:at + CHUNK] @ features.earlier(rows[at:at + CHUNK]) for at in range(0, len(rows), CHUNK))


def norm(a):
    """The spectral norm of a wide matrix."""
    import numpy as np
    return math.sqrt(max(np.linalg.eigvalsh(a @ a.T)[-1], 0))


class Rate(Runner):
    def _measure(self, cell, work):
        import numpy as np
        path, model = self._path(cell), work.folder / "m.safetensors"
        answer = self._fit(cell, path, ["--test-fraction", "0.1"], work)
        header, rows = sources.table(path)
        at = [i for i, name in enumerate(header) if name != "y"]
        features = Features(model, np.array([[float(row[i]) for i in at] for row in rows]))
        n, r = features.of_last.shape
        true, draw, errors = transform(features, np.arange(n)), np.random.default_rng(int(cell["seed"])), {}
        for size in SIZES:
            found = [norm(transform(features, draw.integers(n, size=size * r)) - true) / norm(true) for _ in range(DRAWS)]
            errors[str(size)] = float(f"{np.mean(found):.6g}")
        least = np.linalg.eigvalsh(features.of_last.T @ features.of_last / n)[0]
        return {"features": r, "gradients": true.shape[1], "least_eigenvalue": f"{least:.4g}", "errors": json.dumps(errors),
                "seconds": round(answer["summary"]["seconds"], 1)}


def runner(tool, data):
    return Rate(tool, data)


def name_of(row):
    return row["data"], int(row["flags"].split()[1])


def line(points):
    """Slope of the least-squares line through (x, y)."""
    xs, ys = zip(*points)
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a in xs)


def rows_for(errors, accuracy):
    """The rows for each feature at which the error is `accuracy`, on straight lines between the logarithms; None outside of the sizes."""
    for (n, error), (more, less) in itertools.pairwise(errors.items()):
        if error >= accuracy > less:
            return math.exp(math.log(n) + math.log(more / n) * math.log(error / accuracy) / math.log(error / less))
    return None


def numbers_of(row):
    errors = {int(size): error for size, error in json.loads(row["errors"]).items()}
    needed = rows_for(errors, ACCURATE)
    rate = line([(math.log(size), math.log(error)) for size, error in errors.items() if size >= ASYMPTOTIC])
    return {"rate": rate, "features": float(row["features"]), "least": float(row["least_eigenvalue"]), **{f"error {size}": error for size, error in errors.items()},
            **({"needed": needed} if needed else {})}


def growth(measured, table):
    """By seed, the slope of log rows in log r, where all widths have the accuracy: 1 where the rows are proportional to r."""
    found = {}
    for seed in map(str, range(SEEDS)):
        points = [(math.log(r), math.log(r * rows)) for width in WIDTHS
                  if (r := measured.by_seed((table, width), "features").get(seed)) and (rows := measured.by_seed((table, width), "needed").get(seed))]
        if len(points) == len(WIDTHS):
            found[seed] = line(points)
    return found


def score(values):
    return with_standard_error(of(values)) if values else None


def claims(measured):
    """R: "the estimator concentrates around the solution of the least-squares problem at rate O(1 / sqrt(N))"; "accurate estimation of the
    feature transformation only requires a number of samples proportional to the feature dimension r"."""
    yield judged("R 3.2, Theorem 3.4", f"the error of A falls as 1 / sqrt(N): its exponent from {ASYMPTOTIC} rows for each feature on is -.5, within a tenth",
                 [alike(f"{table}, width {width}", score(measured.by_seed((table, width), "rate")), limit(-0.5), MARGIN)
                  for table, width in itertools.product(TABLES, WIDTHS)])
    yield judged("R 3.3", "an accurate A needs rows in proportion to r: their exponent in r is 1, within a tenth",
                 [alike(table, score(growth(measured, table)), limit(1), MARGIN) for table in TABLES])


def page(now):
    rows = studies.rows(studies.HERE / "r_rate")
    measured = Measured(rows, "rate", name_of, numbers_of)
    lines = []
    for table, width in itertools.product(TABLES, WIDTHS):
        own = [row for row in rows if not row["error"] and name_of(row) == (table, width)]
        if own:
            means = [score(measured.by_seed((table, width), field)) for field in (*[f"error {size}" for size in SIZES], "rate", "needed")]
            least = min(measured.by_seed((table, width), "least").values())
            lines.append([table, str(width), f"{int(own[0]['features'])}", f"{int(own[0]['gradients']):,}",
                          f"{least:.1e}", *[f"{one.mean:.3f}" if one else "" for one in means]])
    return Page(["One network a row, trained on the table. A is that of all rows of the table, A_N that of N rows drawn from them with replacement; "
                 "|A_N - A| / |A| in the spectral norm, mean of 10 draws and of the seeds. `rate`: the slope of its logarithm in log N from 8 rows "
                 "for each feature on. `rows / r`: the rows for each feature at which the error is a half. The theorem is about an N that is large enough, by a constant with the least "
                 "eigenvalue of the mean of phi_r phi_r^T (the least of the seeds stands here): it is small where a ReLU unit is on in few rows, and so is the rate uneven there.",
                 grid(["table", "width", "r", "m", "least eigenvalue", *[f"N = {size} r" for size in SIZES], "rate", "rows / r"], lines)], list(claims(measured)))
