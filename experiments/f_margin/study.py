"""F lemma 1 and equation 21: the margin S, the noise |E| and the residuals of a trained network."""

import gzip
import itertools
import json
import math
import re

import sources
import studies
from judge import Case, above, higher, judged, limit, lower
from pages import Page
from paper_f import FLOW
from paper_s import Measured, shown
from protocol import SAME, SILENT, Line
from results import KEY, asked
from runners import Runner
from tables import grid

TITLE = "The margin of lemma 1 (F equations 17 to 21)"
WHAT = "F lemma 1, eq. 21: the margin S, the noise of the weights and the residuals, in a trained network"
PAPER = "F"
PROTOCOL = [
    Line("network", "ResNet-18 and others (5.2)", "three layers of 100 with ReLU"),
    Line("images", "CIFAR-100, CIFAR-10 foreign, and others (5.2)", "Fashion-MNIST; MNIST foreign"),
    Line("inducing weights", "128 x 128 (Table 7)", "50 x 100: as many columns as outputs, or P g(.) is not defined, and fewer rows, or P is the identity"),
    Line("noise of a weight", "lambda at most .01, with a penalty (4.2)", "at most .01, without one"),
    Line("spectral norms, orthogonal start (4.2)", "of the linear layers; of Sigma_NM", "neither"),
    FLOW._replace(of="certified"),
    FLOW._replace(ours="spectral norm of each matrix", effect=SAME, of="spectral"),
    Line("rows x of the lemma", "of norm 1 (Lemma 1)", "a layer's inputs and its 1 for the bias, divided by their norm", SAME),
    Line("S of foreign rows", "\"measured\" (4.2), on which rows is not said", "the least residual of 2,000 foreign images", SILENT)]
LAYERS = {"1": "network.1.weight", "2": "network.3.weight", "3": "network.5.weight"}
OUTPUT, IMAGES, DRAWS = "network.7.weight", 2000, 8
MEASURES = ["noise", "margin", "familiar_mean", "familiar_most", "foreign_mean", "foreign_least", "auroc", "moved"]
FIELDS = [*KEY, "accuracy", *[f"{name}_{layer}" for layer in LAYERS for name in MEASURES], "seconds", "memory_mb", "commit", "command", "recipe", "error"]
FITS = ("--network mlp --activation relu --hidden 100 --blocks 3 --inducing-rows 50 --inducing-columns 100 --most-noise 0.01 --batch 100 "
        "--learning-rate 1e-3 --epochs 20 --patience 0")
FLOWS = ["certified", "spectral"]


def cells():
    for seed, flow in itertools.product(range(3), FLOWS):
        yield asked("margin", "fashion", "fid-gp", seed, FITS, f"--flow {flow}")


def softplus(x):
    import numpy as np
    return np.logaddexp(x, 0)


def masks(features, units, count, form):
    """What each of the flow's layers may see, 0 or 1: unit i the elements up to its degree, and output j the units of lower degrees."""
    import numpy as np
    degree = np.array([1 + i * (features - 2) // (units - 1) for i in range(units - 1)] + [features - 1])
    inputs = np.arange(1, features + 1)
    last = inputs[:, None] > degree
    return [degree[:, None] >= inputs, *[degree[:, None] >= degree] * (count - 2), last if form == "certified" else np.concatenate([last, last])]


class Flow:
    """The map g of rows [n, m] of a layer, from its numbers in a model file (slimbayes/bayes/row_flow.h)."""

    def __init__(self, parts, form):
        import numpy as np
        count, (units, features) = sum(name.endswith(".weight") for name in parts), parts["0.weight"].shape
        self.form = form
        weights = [parts[f"{i}.weight"] * mask for i, mask in enumerate(masks(features, units, count, form))]
        norms = [np.linalg.norm(weight, 2) for weight in weights]
        if form == "certified":
            self.scale = softplus(parts["scale"])
            self.bound = self.scale.max() + math.prod(norms)
        else:
            weights = [weight / norm for weight, norm in zip(weights, norms)]
        self.layers = [(weight, parts[f"{i}.bias"]) for i, weight in enumerate(weights)]

    def __call__(self, u):
        import numpy as np
        x = u
        for i, (weight, bias) in enumerate(self.layers):
            x = x @ weight.T + bias
            if i + 1 < len(self.layers):
                x = np.tanh(x)
        if self.form == "certified":
            return (self.scale * u + x) / self.bound
        scales, shifts = np.split(x, 2, axis=-1)
        return u * np.exp(np.tanh(scales)) + shifts


class Layer:
    """A layer W = T_row U T_col + E of a model file, in float64, with its flow g and the projector P on the rows of U (F eq. 4 to 9, 16)."""

    def __init__(self, parts, plan):
        import numpy as np
        self.flow = Flow({name.removeprefix("flow."): value for name, value in parts.items() if name.startswith("flow.")}, plan["inducing"]["flow"])
        self.z = parts["z_rows"], parts["z_columns"]
        self.d = softplus(parts["d_rows"]), softplus(parts["d_columns"])
        roots = [np.linalg.cholesky(z @ z.T + np.diag(d ** 2)) for z, d in zip(self.z, self.d)]
        self.inverse = [np.linalg.inv(root @ root.T) for root in roots]
        u = roots[0] @ self.flow(parts["inducing"]) @ roots[1].T
        prior = plan["prior"]["sd"]
        self.noise = prior * plan["inducing"]["most_noise"] / (1 + math.exp(-parts["noise"].item()))
        self.mean = prior * self._given(u)
        self.onto = np.linalg.pinv(u) @ u

    def _given(self, u):
        return self.z[0].T @ self.inverse[0] @ u @ self.inverse[1] @ self.z[1]

    def drawn(self, draw):
        """W of one draw of the noise, by Matheron's rule; U at its mean."""
        (zr, zc), (dr, dc) = self.z, self.d
        e1, e2, e3, e4 = (draw.standard_normal(shape) for shape in
                          ((zr.shape[1], zc.shape[1]), (zr.shape[1], len(dc)), (len(dr), zc.shape[1]), (len(dr), len(dc))))
        prior_u = zr @ e1 @ zc.T + zr @ e2 * dc + dr[:, None] * (e3 @ zc.T) + dr[:, None] * e4 * dc
        return self.mean + self.noise * (e1 - self._given(prior_u))

    def residual(self, w, x):
        """|(I - P) g(W x)| of each row x. [n]"""
        import numpy as np
        g = self.flow(x @ w.T)
        return np.linalg.norm(g - g @ self.onto.T, axis=1)


def with_one(x):
    import numpy as np
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def auroc(familiar, foreign):
    """The chance that a foreign row has the larger score; no two scores are equal."""
    import numpy as np
    order = np.argsort(np.concatenate([familiar, foreign]))
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return (ranks[len(familiar):].sum() - len(foreign) * (len(foreign) + 1) / 2) / (len(familiar) * len(foreign))


def of_layer(layer, familiar, foreign, draw):
    """The measures of one layer. `familiar` and `foreign`: inputs of the layer with a 1 at the end. `margin`: the residual of a unit x with
    T_col x = 0, which S cannot exceed."""
    import numpy as np
    familiar, foreign = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (familiar, foreign))
    drawn = [layer.drawn(draw) for _ in range(DRAWS)]
    norms = [np.linalg.norm(w - layer.mean, 2) for w in drawn]
    null = np.linalg.svd(layer.z[1], full_matrices=True)[2][-1:]
    before, after = (np.concatenate([layer.residual(w, x) for x in (familiar, foreign)]) for w in (layer.mean, drawn[0]))
    known, other = after[:len(familiar)], after[len(familiar):]
    return {"noise": np.mean(norms), "margin": layer.residual(layer.mean, null)[0], "familiar_mean": known.mean(), "familiar_most": known.max(),
            "foreign_mean": other.mean(), "foreign_least": before[len(familiar):].min(), "auroc": auroc(known, other),
            "moved": np.abs(after - before).max() / norms[0]}


def pixels(path):
    """The first test images. [n, 784] float64"""
    import numpy as np
    with gzip.open(path) as file:
        file.read(16)
        return np.frombuffer(file.read(IMAGES * 784), np.uint8).reshape(IMAGES, 784).astype("float64")


def labels(path):
    import numpy as np
    with gzip.open(path) as file:
        file.read(8)
        return np.frombuffer(file.read(IMAGES), np.uint8)


def measures(model, familiar, foreign, classes, seed):
    """Of a model file: the accuracy of its mean weights, and what of_layer says of each hidden layer."""
    import numpy as np
    from safetensors import safe_open
    with safe_open(model, framework="numpy") as file:
        tensors = {name: file.get_tensor(name).astype("float64") for name in file.keys() if name.startswith("network.")}
        plans, encoder = (json.loads(file.metadata()[name]) for name in ("weight_plan", "encoder"))
    x = [(images - encoder["mean"][0]) / encoder["sd"][0] for images in (familiar, foreign)]
    draw, found = np.random.default_rng(seed), {}
    for name in (*LAYERS.values(), OUTPUT):
        layer = Layer({own.removeprefix(f"{name}."): value for own, value in tensors.items() if own.startswith(f"{name}.")}, plans[name])
        x = [with_one(each) for each in x]
        number = next((number for number, own in LAYERS.items() if own == name), None)
        if number:
            found |= {f"{measure}_{number}": f"{value:.6g}" for measure, value in of_layer(layer, *x, draw).items()}
            x = [np.maximum(each @ layer.mean.T, 0) for each in x]
        else:
            found["accuracy"] = f"{(np.argmax(x[0] @ layer.mean.T, axis=1) == classes).mean():.6g}"
    return found


class Margin(Runner):
    def _measure(self, cell, work):
        files, model = sources.SOURCES["fashion"].files(self.data, work.folder), work.folder / "m.safetensors"
        answer = json.loads(work.measured(self.command(cell, files.train, [], model)))
        classes = labels(files.test.with_name(re.sub("images-idx3", "labels-idx1", files.test.name)))
        return {**measures(model, pixels(files.test), pixels(files.foreign), classes, int(cell["seed"])), "seconds": round(answer["summary"]["seconds"], 1)}


def runner(tool, data):
    return Margin(tool, data)


def numbers_of(row):
    """With `s`, the least residual that the row has at unit vectors: S is at most this."""
    found = {field: float(row[field]) for field in row if field in FIELDS[len(KEY):FIELDS.index("seconds")]}
    return found | {f"s_{layer}": min(found[f"margin_{layer}"], found[f"foreign_least_{layer}"]) for layer in LAYERS}


def name_of(row):
    return row["flags"].split("--flow ")[1].split()[0]


def doubled(score):
    """2 |E|, which S must exceed."""
    return score._replace(mean=2 * score.mean, sd=2 * score.sd, by_seed={seed: 2 * value for seed, value in score.by_seed.items()})


def compare(measured, flow, case, one, other, twice=False):
    """Cases by layer: `case` (lower, higher) of two measures."""
    for layer in LAYERS:
        a, b = (measured.score(flow, f"{measure}_{layer}") for measure in (one, other))
        yield case(f"layer {layer}", a, doubled(b) if twice else b) if a and b else Case(f"layer {layer}", None, "")


def within(measured, flow, low, high):
    for layer in LAYERS:
        if score := measured.score(flow, f"noise_{layer}"):
            yield above(f"layer {layer}, above {low}", score, low)
            yield lower(f"layer {layer}, below {high}", score, limit(high))


def claims(measured):
    """F 4.2: "|E| about 0.02-0.04"; "S about 0.15 > 2 x 0.03 = 0.06, so S > 2 |E|" (21); appendix D: "for in-distribution samples, we have
    empirically sup d(x) < |E|" (60), "S_OoD > 2 |E|" (61), which together give strict separation (20)."""
    for flow in FLOWS:
        yield judged(f"F 4.2, {flow}", "the noise E of a layer's weights has a spectral norm of .02 to .04", list(within(measured, flow, 0.02, 0.04)))
        yield judged(f"F 4.2, eq. 21, {flow}", "S is above twice the norm of E, as far as the rows of foreign images and a unit x with T_col x = 0 tell, which S cannot exceed",
                     list(compare(measured, flow, higher, "s", "noise", twice=True)))
        yield judged(f"F D, eq. 60, {flow}", "the largest residual of 2,000 familiar images is below the norm of E",
                     list(compare(measured, flow, lower, "familiar_most", "noise")))
        yield judged(f"F D, eq. 61, {flow}", "the least residual of 2,000 foreign images is above twice the norm of E",
                     list(compare(measured, flow, higher, "foreign_least", "noise", twice=True)))
        yield judged(f"F 4.2, eq. 20, {flow}", "the residuals separate familiar and foreign images strictly: the largest of the ones is below the least of the others",
                     list(compare(measured, flow, lower, "familiar_most", "foreign_least")))


ROWS = [("norm of E", "noise"), ("S at most", "s"), ("residual at an x with T_col x = 0", "margin"), ("familiar, mean", "familiar_mean"),
        ("familiar, largest", "familiar_most"), ("foreign, mean", "foreign_mean"), ("foreign, least", "foreign_least"),
        ("AUROC of d(x)", "auroc"), ("most moved by E, over its norm", "moved")]


def reversed_order(measured):
    """A sentence on whether the residual tells foreign images from familiar ones; "" without rows."""
    found = [score.mean for flow in FLOWS for layer in LAYERS if (score := measured.score(flow, f"auroc_{layer}"))]
    if not found:
        return ""
    if max(found) < 0.5:
        return (f"Familiar images have the larger residuals: the AUROC of d(x) is {min(found):.2f} to {max(found):.2f}, below .5 in every layer. What fails is "
                "the lemma's premise (equations 60 and 71), that a familiar x leaves no residual without the noise: they leave a larger one than foreign images do.")
    return f"The AUROC of d(x) is {min(found):.2f} to {max(found):.2f}."


def page(now):
    measured, parts = Measured(studies.rows(studies.HERE / "f_margin"), "margin", name_of, numbers_of), []
    for flow in FLOWS:
        lines = [[title, *found] for title, name in ROWS if any(found := [shown(measured.by_seed(flow, f"{name}_{layer}"), name) for layer in LAYERS])]
        parts.append(f"## Flow: {flow}\n\nAccuracy of the mean weights: {shown(measured.by_seed(flow, 'accuracy'), '')}.\n\n"
                     + grid(["", *[f"layer {layer}" for layer in LAYERS]], lines) if lines else "")
    return Page(["A network with inducing weights on Fashion-MNIST, its layers taken apart in numpy. d(x) is the norm of (I - P) g(W x) of a layer, x its "
                 "input divided by its norm, W = T_row U T_col + E a draw of the noise, U at its mean. Familiar: 2,000 test images; foreign: 2,000 of "
                 "MNIST. S, the infimum over all unit x, is at most the residual at any of them, so at a foreign image, and at an x with T_col x = 0, which exists "
                 "wherever a layer has more inputs than inducing columns ([findings](../../docs/findings.md)). `certified` has the Lipschitz constant of 1 that "
                 "the lemma asks for; `spectral` is F's flow, which has none. Mean ± standard error (seeds).", reversed_order(measured), *parts],
                list(claims(measured)))
