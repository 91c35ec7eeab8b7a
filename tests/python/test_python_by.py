"""evaluate(by=...): the scores of groups of rows."""

import numpy as np
import pandas as pd
import pytest
import toys

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


@pytest.fixture(scope="module")
def fitted():
    frame, y = toys.table(200)
    return sb.Regressor("ridge").fit(frame[["a", "b"]], y)


def test_by_a_column_is_by_the_array_of_its_cells(fitted):
    frame, y = toys.table(150, seed=3)
    by_name = fitted.evaluate(frame, y, by="kind")["by"]
    by_array = fitted.evaluate(frame[["a", "b"]], y, by=frame["kind"].to_numpy())["by"]
    assert by_name[0]["column"] == "kind" and by_array[0]["column"] == "by"
    assert by_name[0]["groups"] == by_array[0]["groups"]
    assert {group["name"] for group in by_name[0]["groups"]} == {"red", "green", "blue"}
    assert sum(group["rows"] for group in by_name[0]["groups"]) == 150


def test_by_several_columns_and_by_numbers(fitted):
    frame, y = toys.table(150, seed=3)
    report = fitted.evaluate(frame, y, by=["kind", "a"])
    assert [one["column"] for one in report["by"]] == ["kind", "a"]
    assert len(report["by"][1]["groups"]) == 5 and report["by"][1]["groups"][0]["name"].startswith("[")
    assert "by" not in fitted.evaluate(frame, y)
    few = fitted.evaluate(frame, y, by=np.arange(150) // 50)["by"][0]
    assert [group["name"] for group in few["groups"]] == ["0", "1", "2"]


def test_of_arrays(fitted):
    X, y = toys.matrix(120)
    model = sb.Regressor("ridge").fit(X, y)
    assert model.evaluate(X, y, by="x1")["by"][0]["column"] == "x1"
    assert model.evaluate(X, y, by=pd.Series(["u", "v"] * 60))["by"][0]["groups"][1]["name"] == "v"


def test_conditional_coverage(fitted):
    frame, y = toys.table(300, seed=4)
    risk = fitted.evaluate(frame, y, conditional=True)["conditional"]
    assert risk["rows"] == 300 and {"ert_l1", "ert_l1_se", "ert_brier", "ert_brier_se"} <= set(risk)
    assert "it needs 100 rows" in fitted.evaluate(frame[:50], y[:50], conditional=True)["conditional"]["absent"]


def test_refusals(fitted):
    frame, y = toys.table(50)
    with pytest.raises(ValueError, match="expected columns of X as by; received 'kinds'"):
        fitted.evaluate(frame, y, by="kinds")
    with pytest.raises(ValueError, match="a group for each of the 50 rows"):
        fitted.evaluate(frame, y, by=np.zeros(49))
