"""A fitted regression as an ONNX graph: the torch module of _torch.py, translated by torch's exporter, behind the user's columns."""

import argparse
import io
import json
import logging
import math
import os
import sys
import warnings
from statistics import NormalDist

import numpy as np
import torch
from torch import nn

from slimbayes import _texts
from slimbayes._notes import warn
from slimbayes._torch import TorchModel, module_of, served
from slimbayes._torch_parts import Numbers

OPSET = 18
# The texts of a missing cell in a CSV file (slimbayes/data/table/cell.cpp).
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None", "\\N", "?"]
INSIDE, ANSWER = "net/", "answer/"  # names of the graph's own values, so that none is that of a column or of an output
PACKAGES = "pip install onnx onnxscript"


def conformal_factor(scores, groups, level, weights=None):
    """slimbayes/density/conformal_rank.cpp: the factor of the sd, from the calibration scores in ascending order, the group of each, or None
    where no two rows share one, and the weight of each, or None where the rows have no weights."""
    if weights is not None:
        upto = np.cumsum(np.asarray(weights, dtype=np.float64))
        count = math.floor(upto[-1] * (1 + 1e-10))
    else:
        count = len(scores) if groups is None else int(groups.max()) + 1
    rank = math.ceil((count + 1) * level * (1 - 1e-14))
    if rank > count:
        raise ValueError(f"export_onnx: expected more than {count} calibration rows for a level of {level:g}; fit with more, or lower the level")
    if weights is not None:
        reached = np.flatnonzero(upto >= (upto[-1] + 1) * level * (1 - 1e-10))
        return float(scores[reached[0] if len(reached) else -1])
    if count == len(scores):
        return float(scores[rank - 1])
    weight = np.cumsum(1 / np.bincount(groups)[groups])
    return float(scores[np.argmax(weight >= (count + 1) * level * (1 - 1e-12))])


class _ClassAnswers(nn.Module):
    """The outputs of the graph of a classification, from rows [n, columns] of numbers."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def names(self):
        return ["probabilities", "label", "entropy", "mutual_information"]

    def forward(self, x):
        p, entropy, information = self.model(x)
        return p, p.argmax(-1), entropy, information


class _CountAnswers(nn.Module):
    """The outputs of the graph of a regression of counts, from rows [n, columns] of numbers."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def names(self):
        return ["mean", "sd", "sd_aleatoric", "sd_epistemic", "log_mean", "log_var"]

    def forward(self, x):
        mean, var, log_mean, log_var = self.model(x)
        return mean, (mean + var).sqrt(), mean.sqrt(), var.sqrt(), log_mean, log_var


class _Answers(nn.Module):
    """The outputs of the graph of a regression, from rows [n, columns] of numbers."""

    def __init__(self, model, factor, parts):
        super().__init__()
        self.model, self.parts, self.ends = model, parts, factor is not None
        self.of = Numbers(factor=factor or 0.0)

    def names(self):
        ends = ["lower", "upper"] if self.ends else []
        return ["mean", "sd", *self.parts, *ends, *(["component_mean", "component_sd"] if self.model.mixture else [])]

    def forward(self, x):
        answer = self.model(x)
        sd = answer.variance.sqrt()
        found = [answer.mean, sd]
        if self.parts:
            found += [answer.aleatoric_var.sqrt(), answer.epistemic_var.sqrt()]
        if self.ends:
            half = self.of.factor * sd
            found += [torch.clamp(end, min=self.model.of.low) for end in (answer.mean - half, answer.mean + half)]
        if self.model.mixture:
            found += self.model.components(x)[1:]
        return tuple(found)


def _translated(module, columns):
    """The graph of a module whose input is `rows` [n, columns], by torch's exporter."""
    try:
        import onnx
        import onnxscript  # noqa: F401  torch's exporter needs it
    except ImportError as error:
        raise ImportError(f"export_onnx: expected the packages onnx and onnxscript; received a Python without them: {PACKAGES}") from error
    level, log = logging.getLogger("torch.onnx").level, logging.getLogger("torch.onnx")
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(module.eval(), (torch.zeros(3, columns, dtype=torch.float64),), dynamo=True, opset_version=OPSET, verbose=False,
                                        input_names=["rows"], output_names=[ANSWER + name for name in module.names()], dynamic_shapes=({0: torch.export.Dim("n", min=1)},))
    finally:
        log.setLevel(level)
    whole = io.BytesIO()
    program.save(whole)  # with the weights in it
    model = onnx.compose.add_prefix(onnx.load_model_from_string(whole.getvalue()), INSIDE, rename_inputs=False)
    ends = {INSIDE + ANSWER + name: name for name in module.names()}
    for value in model.graph.output:
        value.name = ends[value.name]
    for node in model.graph.node:
        for names in node.input, node.output:
            names[:] = [ends.get(name, name) for name in names]
    return model


def _nodes_of(column, number, missing, helper, proto):
    """The input of a column and the nodes that make its numbers [n, 1] in float64, `net/column/NUMBER`."""
    name, out = column["name"], f"{INSIDE}column/{number}"
    kind = {"categorical": proto.STRING, "datetime": proto.DOUBLE}.get(column["kind"], proto.FLOAT)
    given = helper.make_tensor_value_info(name, kind, ["n", 1])
    if kind != proto.STRING:
        return given, [helper.make_node("Cast", [name], [out], to=proto.DOUBLE)]
    texts = {text: math.nan for text in missing} | {text: float(place) for place, text in enumerate(column["levels"])}
    label = helper.make_node("LabelEncoder", [name], [f"{out}/place"], domain="ai.onnx.ml", keys_strings=list(texts), values_floats=list(texts.values()),
                             default_float=float(len(column["levels"])))
    return given, [label, helper.make_node("Cast", [f"{out}/place"], [out], to=proto.DOUBLE)]


def _with_columns(model, columns, missing, outputs):
    """Puts an input for each column in the place of `rows`."""
    from onnx import TensorProto, helper

    names = [column["name"] for column in columns]
    if clash := sorted(name for name in names if name in outputs or name.startswith(INSIDE)):
        raise ValueError(f"export_onnx: expected columns with other names than the outputs; received {', '.join(clash)}; pass encoded=True, or rename")
    inputs, nodes = [], []
    for number, column in enumerate(columns):
        given, own = _nodes_of(column, number, missing, helper, TensorProto)
        inputs.append(given)
        nodes += own
    rows = model.graph.input[0].name
    nodes.append(helper.make_node("Concat", [f"{INSIDE}column/{number}" for number in range(len(columns))], [rows], axis=1))
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    body = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *body])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))


def _regression(module, serve, arrays, level):
    """The outputs of a regression, and what its metadata say of them."""
    if module.mixture and level is not None:
        raise ValueError("export_onnx: expected no level for auto, whose answer is a mixture: its quantiles have no operator; the graph has the "
                         "components, whose shapes stand in its metadata; another method, such as dbk or gp-exact, has the interval")
    factor, level = None, 0.95 if level is None else level
    if not 0 < level < 1:
        raise ValueError(f"export_onnx: expected a level between 0 and 1; received {level:g}")
    if not module.mixture:
        scores = arrays.get("calibration.scores")
        factor = NormalDist().inv_cdf((1 + level) / 2) if scores is None else conformal_factor(
            scores, arrays.get("calibration.groups"), level, arrays.get("calibration.weights"))
    if module.mixture and "calibration.scores" in arrays:
        warn(["the components in the ONNX graph are those before the conformal calibration, which moves the interval of `predict` alone"])
    answers = _Answers(module, factor, ["sd_aleatoric", "sd_epistemic"] if serve["epistemic"] else [])
    return answers, {} if module.mixture else {"level": level}


def export(model, method, path, level, encoded):
    """Writes the graph of a compiled model to `path`."""
    metadata, arrays = served(model, method, "export_onnx")
    encoder, serve, fit = (json.loads(metadata[name]) for name in ("encoder", "serve", "fit"))
    module = module_of(metadata, arrays)
    if isinstance(module, TorchModel):
        answers, facts = _regression(module, serve, arrays, level)
    elif level is not None:
        raise ValueError("export_onnx: expected no level for classes and counts: sets of classes and quantiles of counts have no operator; leave it out")
    elif hasattr(module, "classes"):
        answers, facts = _ClassAnswers(module), {"classes": module.classes}
    else:
        answers, facts = _CountAnswers(module), {}
    graph = _translated(answers, len(module.columns))
    if not encoded:
        _with_columns(graph, module.encoder.columns, [*MISSING, *fit.get("na", [])], answers.names())
    _describe(graph, module, {"method": method, "target": encoder["target"], **facts})
    import onnx

    onnx.checker.check_model(graph, full_check=True)
    path = os.fsdecode(_texts.path(path))
    onnx.save_model(graph, f"{path}.part")
    os.replace(f"{path}.part", path)


def _describe(graph, module, facts):
    """Metadata: what the graph answers, the columns, and what all rows share of the components."""
    facts["columns"] = module.columns
    if module.levels:
        facts["levels"] = module.levels
    if getattr(module, "mixture", False):
        facts["least"] = None if math.isinf(float(module.of.low)) else float(module.of.low)
        shapes, _, _ = module.components(torch.zeros(1, len(module.columns), dtype=torch.float64))
        facts["components"] = [{"weight": float(one.weight), "dof": None if math.isinf(one.dof) else one.dof, "log": one.log,
                                "shift": float(one.shift), "scale": float(one.scale)} for one in shapes]
    graph.producer_name = "slimbayes"
    del graph.metadata_props[:]
    entry = graph.metadata_props.add()
    entry.key, entry.value = "slimbayes", json.dumps(facts)


def main():
    """What `slimbayes export MODEL --onnx FILE` calls. Exit status 3: the reason stands on stderr."""
    from slimbayes._library import core

    parser = argparse.ArgumentParser(description="Writes a model file as an ONNX graph.")
    parser.add_argument("model")
    parser.add_argument("onnx")
    parser.add_argument("--level", type=float)
    parser.add_argument("--encoded", action="store_true")
    given = parser.parse_args()
    try:
        model = core.Model.load(given.model)
        export(model, json.loads(model.facts())["method"], given.onnx, given.level, given.encoded)
    except Exception as error:  # noqa: BLE001  the tool's users want a sentence
        print(f"error: {error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
