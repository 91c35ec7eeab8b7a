"""importance, partial_dependence and explain_row: a linear model, whose truth is known, and the same numbers as the tool."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
import toys

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def linear(rows=300, seed=0):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({"a": draw.normal(size=rows), "b": draw.normal(size=rows), "kind": draw.choice(["red", "blue"], rows)})
    return X, pd.Series(2 * X.a - X.b + 3.0 * (X.kind == "red") + 0.1 * draw.normal(size=rows), name="y")


@pytest.fixture(scope="module")
def model():
    return sb.Regressor("ridge").fit(*linear())


def test_importance_is_a_table_with_the_most_important_column_first(model):
    X, y = linear(200, 1)
    found = model.importance(X, y)
    assert list(found.group) == ["a", "kind", "b"]
    assert {"nll", "nll_se", "rmse", "mean", "aleatoric", "epistemic", "width"} <= set(found.columns) and "accuracy" not in found
    assert (found.rmse > 0).all() and (found.aleatoric.abs() < 1e-9).all()
    var = (np.array([4, 9 / 4, 1]) * 2) / 7.25  # twice each term's share of the variance of the mean
    np.testing.assert_allclose(found["mean"], var, atol=0.25)
    bare = model.importance(X)
    assert "nll" not in bare and "rmse" not in bare and sorted(bare["mean"]) == sorted(found["mean"])
    pd.testing.assert_frame_equal(model.importance(X.assign(y=y)), found)


def test_groups_are_permuted_together(model):
    X, y = linear(200, 1)
    found = model.importance(X, y, groups=[["a", "b"]], repeats=2, rows=100)
    assert set(found.group) == {"a + b", "kind"}
    twin = X.assign(copy=X.a)
    both = sb.Regressor("ridge").fit(twin, y)
    assert "a + copy" in set(both.importance(twin, y, groups="auto", repeats=1).group)
    with pytest.raises(ValueError, match="received 'z'"):
        model.importance(X, y, groups=[["a", "z"]])
    with pytest.raises(ValueError, match="each column once in groups; received .a. twice"):
        model.importance(X, y, groups=[["a"], ["a"]])
    with pytest.raises(ValueError, match="a list of lists of columns"):
        model.importance(X, y, groups=["a", "b"])
    with pytest.raises(ValueError, match="at least 1 for repeats"):
        model.importance(X, y, repeats=0)


def test_partial_dependence_of_a_line_is_a_line(model):
    X, _ = linear(200, 1)
    found = model.partial_dependence(X, "a")
    assert list(found.columns) == ["value", "rows", "mean", "sd_aleatoric", "sd_epistemic", "width"] and len(found) == 20
    slopes = np.diff(found["mean"]) / np.diff(found.value)
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-3)
    assert abs(slopes[0] - 2) < 0.05
    kinds = model.partial_dependence(X, "kind").set_index("value")["mean"]
    assert abs(kinds["red"] - kinds["blue"] - 3) < 0.1
    with pytest.raises(ValueError, match="an input of the model"):
        model.partial_dependence(X, "z")


def test_the_columns_of_an_array_have_numbers():
    X, y = toys.matrix()
    model = sb.Regressor("ridge").fit(X, y)
    assert set(model.importance(X, y, repeats=1).group) == {"x0", "x1", "x2"}
    pd.testing.assert_frame_equal(model.partial_dependence(X, 1), model.partial_dependence(X, "x1"))


def test_classes_have_probabilities_and_accuracy():
    X, y = linear()
    model = sb.Classifier("logistic").fit(X, np.where(y > 0, "up", "down"))
    assert model.importance(X, np.where(y > 0, "up", "down")).accuracy.max() > 0.1
    found = model.partial_dependence(X, "a")
    np.testing.assert_allclose(found.p_up + found.p_down, 1)


def test_the_numbers_are_those_of_the_tool(model, tmp_path):
    X, y = linear(150, 2)
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    model.save(tmp_path / "m")
    told = json.loads(toys.tool(tmp_path, "explain", "m", "t.parquet", "--column", "a", "--json"))
    found = model.importance(X, y)
    assert [one["group"] for one in told["importance"]] == list(found.group)
    assert [one["nll"]["value"] for one in told["importance"]] == list(found.nll)
    assert [point["mean"] for point in told["partial_dependence"][0]["points"]] == list(model.partial_dependence(X, "a")["mean"])


def expect_additive(model, X, account):
    """Shapley values of a sum of functions of one column: each term minus its mean over the background."""
    row, background = X.iloc[[5]], X.iloc[100:130]
    for name in X.columns:
        mixed = pd.concat([row] * len(background), ignore_index=True)
        mixed[name] = background[name].to_numpy()
        term = model.predict(row)[0] - model.predict(mixed).mean()
        assert abs(account["columns"][name]["mean"] - term) < 1e-5, name


def test_a_row_has_its_shapley_values(model):
    pytest.importorskip("shap")
    X, _ = linear()
    state = np.random.get_state()[1].copy()
    account = model.explain_row(X.iloc[[5]], X.iloc[100:130], draws=2)
    assert (np.random.get_state()[1] == state).all()
    expect_additive(model, X, account)
    for name, base in account["base"].items():
        total = base + sum(column[name] for column in account["columns"].values())
        assert abs(total - account["answer"][name]) < 1e-6
    assert abs(account["answer"]["mean"] - model.predict(X.iloc[[5]])[0]) < 1e-6
    assert all(column["log_sd_aleatoric"] == 0 for column in account["columns"].values())
    assert account == model.explain_row(X.iloc[5], X.iloc[100:130], draws=2)


class Explainer:
    """In the place of shap's: exact for a sum of functions of one column each."""

    def __init__(self, answer_of, masker, seed):
        self.answer_of, self.background = answer_of, masker

    def __call__(self, rows, max_evals, silent):
        def value(column):
            mixed = np.repeat(rows, len(self.background), axis=0)
            mixed[:, column] = self.background[:, column]
            return self.answer_of(rows)[0] - self.answer_of(mixed).mean(0)

        self.values = np.stack([value(c) for c in range(rows.shape[1])])[None]
        return self


def test_the_cells_of_a_mixture_are_those_of_its_rows(model, monkeypatch):
    """Without shap: what is handed to its explainer answers mixtures of rows with columns of any type."""
    stand_in = type(sys)("shap")
    stand_in.explainers = type("explainers", (), {"Permutation": Explainer})
    stand_in.maskers = type("maskers", (), {"Independent": staticmethod(lambda places, max_samples: places)})
    monkeypatch.setitem(sys.modules, "shap", stand_in)
    X, _ = linear()
    account = model.explain_row(X.iloc[[5]], X.iloc[100:130])
    expect_additive(model, X, account)
    total = account["base"]["mean"] + sum(column["mean"] for column in account["columns"].values())
    assert abs(total - account["answer"]["mean"]) < 1e-5
    with pytest.raises(ValueError, match="expected one row; received 2"):
        model.explain_row(X.iloc[:2], X)
    with pytest.raises(ValueError, match="at least two rows"):
        model.explain_row(X.iloc[[5]], X.iloc[:1])


def test_without_shap_a_sentence_says_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    X, _ = linear()
    with pytest.raises(ImportError, match="pip install shap"):
        model.explain_row(X.iloc[[5]], X)
