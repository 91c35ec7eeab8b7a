"""The card of a fitted model for the Hugging Face Hub: a README.md with a head in YAML."""

import json
import math

from slimbayes import _options
from slimbayes._library import core

_PIPELINES = {("table", "regression"): "tabular-regression", ("table", "counts"): "tabular-regression",
              ("table", "classification"): "tabular-classification", ("windows", "regression"): "time-series-forecasting",
              ("windows", "counts"): "time-series-forecasting", ("text", "classification"): "text-classification",
              ("images", "classification"): "image-classification"}
_SCORES = {  # what the report calls them, in the order of the card
    "rmse": "root of the mean squared error, in units of the target", "mae": "mean absolute error, in units of the target",
    "accuracy": "share of rows whose most probable class is right", "f1": "F1 of the second class", "f1_macro": "mean of the F1 of each class",
    "auroc": "area under the ROC curve", "brier": "Brier score", "ece": "expected calibration error",
    "nll": "mean negative log likelihood, in nats; smaller is better",
    "nll_constant": "the same for an answer that ignores the inputs", "crps": "continuous ranked probability score, in units of the target",
    "coverage": "share of rows inside their {level:.0%} interval", "width": "mean width of that interval, in units of the target"}
_MOST = 30  # columns and classes that a card lists


def _text(value):
    """A text for a line of Markdown."""
    out = core.printable(str(value))
    return "".join("\\" + one if one in "\\`*_[]<>|#" else one for one in out)


def _yaml(value, indent=""):
    """Dicts and lists of texts and numbers in YAML's block style. A text as JSON writes it is a text of YAML."""
    lines = []
    if isinstance(value, list):
        for one in value:
            first, *rest = _yaml(one, indent + "  ")
            lines += [f"{indent}- {first.strip()}", *rest]
        return lines
    if not isinstance(value, dict):
        return [indent + json.dumps(core.printable(value) if isinstance(value, str) else value, ensure_ascii=False)]
    for name, one in value.items():
        nested = isinstance(one, (dict, list))
        lines += [f"{indent}{name}:", *_yaml(one, indent + "  ")] if nested else [f"{indent}{name}: {_yaml(one)[0]}"]
    return lines


def _listed(names):
    return ", ".join(_text(name) for name in names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


def _table(head, rows):
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows), ""]


def _head(facts, scores, rows, name, license):
    """The metadata of the card: what the Hub reads."""
    pipeline = _PIPELINES.get((facts["kind"], facts["task"]))
    found = {"library_name": "slimbayes", **({"license": license} if license else {}), **({"pipeline_tag": pipeline} if pipeline else {}),
             "tags": ["slimbayes", "uncertainty", "bayesian", facts["method"]]}
    if scores:
        found["model-index"] = [{"name": name, "results": [{
            "task": {"type": pipeline or facts["task"]}, "dataset": {"name": rows, "type": facts["kind"]},
            "metrics": [{"type": each, "value": value, "name": text} for each, value, text in scores]}]}]
    return found


def _data_lines(facts):
    counts = ", ".join(f"{count:,} {part}" for part, count in facts["rows"].items() if count)
    lines = [f"- target: {_text(facts['target'])}"] if facts["target"] else []
    lines += [f"- classes: {_listed(facts['classes'])}"] if facts["classes"] else []
    lines += [f"- columns that the model reads ({len(facts['columns'])}): {_listed(facts['columns'])}"] if facts["columns"] else []
    lines += [f"- rows of the fit: {counts}"] if counts else ["- rows: learned by updates; the file does not keep their number"]
    return [*lines, *(f"- {_text(note)}" for note in facts["summary"].get("notes", [])), ""]


def _limits(facts, scores, method, is_chosen):
    """What a reader must know before trusting the answers."""
    lines = [] if scores else ["- No score stands here: give `card` rows that the fit has not seen."]
    lines += ["- The scores are those of the validation rows, by which the fit chose: they are a little too good."] if is_chosen else []
    lines.append("- Intervals are adaptive: they hold their level in the long run if `update` follows the targets of the series."
                 if facts.get("adaptive") else "- Intervals are conformal: they hold their level on average over new rows of the kind of the training."
                 if facts["calibrated"] else "- Intervals are those of the model: nothing guarantees their level.")
    if facts["task"] != "classification" and method["parts"]:
        lines.append(f"- Parts of the error bar: {_text(method['parts'])}.")
    if not method["variance_grows_away"]:
        lines.append("- Far from the training data the error bar need not grow; `ood_scores` says how far rows are.")
    lines += ["- The fit was interrupted: the model is the best until then."] if facts["interrupted"] else []
    return [*lines, ""]


def _use(facts):
    """A first use of the model's file."""
    answers = "model.predict_proba(rows)" if facts["task"] == "classification" else "low, high = model.predict_interval(rows, level=0.9)"
    return ["```python", "import slimbayes as sb", 'model = sb.load("model.safetensors")  # what model.save wrote', answers, "```", ""]


def model_card(facts, report, rows, level, *, is_chosen=False, name=None, license=None):
    """The text of the card. `report`: scores by name; None: there are none. `rows`: what the scored rows are. `is_chosen`: whether the fit
    chose by them."""
    method = _options.describe(facts["method"])
    scores = [(each, report[each], text.format(level=level)) for each, text in _SCORES.items()
              if isinstance(found := (report or {}).get(each), (int, float)) and math.isfinite(found)]
    target = f" of {_text(facts['target'])}" if facts["target"] else ""
    title = name or f"slimbayes {facts['method']}" + (f": {facts['target']}" if facts["target"] else "")
    usual = {option["name"]: option["default"] for option in method["options"]}
    options = [(f"`{each}`", _text(value)) for each, value in sorted(facts["options"].items()) if value != usual.get(each)]
    lines = ["---", *_yaml(_head(facts, scores, rows, title, license)), "---", "", f"# {_text(title)}", "",
             f"A {facts['task']} model{target} ({facts['likelihood']} likelihood) with the uncertainty of each answer, fitted by "
             "slimbayes.", "", "## Data", "", *_data_lines(facts),
             "## Method", "", f"`{facts['method']}`: {_text(method['summary'])}" + (f" Source: {_text(method['paper'])}." if method["paper"] else ""), ""]
    lines += _table(("option", "value"), options) if options else ["All options have their defaults.", ""]
    lines += ["## Scores", "", *([f"On {report['n']:,} {rows}:", ""] if scores else [])]
    lines += _table(("score", "value", "what it is"), [(each, f"{value:.4g}", text) for each, value, text in scores]) if scores else []
    lines += ["## Limits", "", *_limits(facts, scores, method, is_chosen), "## Use", "", *_use(facts)]
    return "\n".join(lines)
