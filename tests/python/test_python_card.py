"""The model card: its head is YAML that the Hugging Face Hub reads, its body says what the model is and what its scores are."""

import huggingface_hub
import numpy as np
import pytest
import slimbayes as sb
import toys
import yaml

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def head(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_the_hub_reads_the_scores_of_given_rows():
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame[:200], y[:200])
    text = model.card(frame[200:], y[200:], name="prices", license="mit")
    data = huggingface_hub.ModelCard(text).data
    scores = {each.metric_type: each.metric_value for each in data.eval_results}
    report = model.evaluate(frame[200:], y[200:])
    assert scores["rmse"] == report["rmse"] and scores["coverage"] == report["coverage"] and "crps" in scores
    assert (data.model_name, data.license, data.library_name, data.pipeline_tag) == ("prices", "mit", "slimbayes", "tabular-regression")
    assert data.eval_results[0].dataset_name == "rows given for this card" and "ridge" in data.tags
    for part in "# prices", "target: price", "a, b, kind, n, yes", f"| rmse | {report['rmse']:.4g} |", "95% interval", "nothing guarantees their level":
        assert part in text


def test_without_rows_the_scores_are_those_of_the_fit(tmp_path):
    frame, y = toys.table()
    model = sb.Regressor("bll", steps=40, hidden=16, test_fraction=0.2).fit(frame, y)
    text = model.card()
    assert f"On {model.test_report_['n']} rows of the test part of the fit:" in text and "too good" not in text and "| `hidden` | 16 |" in text
    chosen = sb.Regressor("bll", steps=40).fit(frame, y)
    assert "the validation part of the fit" in chosen.card() and "too good" in chosen.card()
    model.save(tmp_path / "m.safetensors")
    for without in sb.load(tmp_path / "m.safetensors"), chosen.update(frame[:3].assign(a=7.0), y[:3]):
        assert "model-index" not in head(without.card()) and "No score stands here" in without.card()
    with pytest.raises(ValueError, match="not fitted yet"):
        sb.Regressor().card()


def test_names_cannot_leave_their_place():
    frame, y = toys.table(120)
    odd = "a|b: \"c\"\n---\n# é\u2028\x85"
    text = sb.Regressor("ridge").fit(frame.rename(columns={"a": odd, "b": "<b>_x_"}), y.rename("- &y: *")).card(name=f"{odd}: 1", license="a: b")
    assert head(text)["model-index"][0]["name"].startswith("a|b: \"c\"") and head(text)["license"] == "a: b"
    assert huggingface_hub.ModelCard(text).data.library_name == "slimbayes"
    assert sum(line == "---" for line in text.splitlines()) == 2 and "\\<b\\>\\_x\\_" in text and "target: - &y: \\*" in text


def test_classes_and_conformal_intervals():
    X, y = toys.matrix(400)
    model = sb.Classifier("logistic", calibrate="conformal").fit(X[:300], np.where(y > 0, "up", "down")[:300])
    text = model.card(X[300:], np.where(y > 0, "up", "down")[300:])
    found = {m["type"]: m["value"] for m in head(text)["model-index"][0]["results"][0]["metrics"]}
    assert found["accuracy"] == model.score(X[300:], np.where(y > 0, "up", "down")[300:]) and "ece" in found and "rmse" not in found
    assert "classes: down, up" in text and "conformal" in text and head(text)["pipeline_tag"] == "tabular-classification"


def test_skops_writes_a_card_of_an_estimator(tmp_path):
    skops = pytest.importorskip("skops.card")
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame, y)
    card = skops.Card(model).add_metrics(rmse=model.evaluate(frame, y)["rmse"])
    card.save(tmp_path / "README.md")
    text = (tmp_path / "README.md").read_text()
    assert "valid_fraction" in text and "rmse" in text and "Regressor" in text  # keywords, score, the diagram of scikit-learn
