"""What `fit` says where the target is missing, mistyped, or a column that cannot be one."""

import random

import pytest
from conftest import refused, write_csv

DATA = ["orders.csv", "--method", "ridge", "--model", "m"]
SERIES = [*DATA, "--time", "time", "--window", 4]
HERE = "--target names the column to predict, here 'orders', 'city'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("targets")
    draw = random.Random(1)
    rows = [[f"2024-01-{1 + i // 24:02}T{i % 24:02}:00:00", draw.randrange(9), draw.choice(["Oslo", "Rome"]), f"A{100 + i}",
             f"word{i} of an order"] for i in range(60)]
    write_csv(folder / "orders.csv", ["time", "orders", "city", "id", "comment"], rows)
    return folder


def test_a_missing_target_lists_the_columns_that_can_be_one(folder):
    told = refused(folder, "fit", *DATA)
    assert "expected --target COLUMN, the column to predict; received none; " + HERE in told
    assert "only --likelihood cox has none" in told
    assert "received none; name it" in refused(folder, "fit", *DATA, "--dry-run")
    assert HERE in refused(folder, "fit", *SERIES) and HERE in refused(folder, "compare", "orders.csv")


@pytest.mark.parametrize("words", [["fit", *DATA], ["fit", *SERIES], ["compare", "orders.csv"]])
def test_a_mistyped_target_lists_near_names(folder, words):
    assert "did you mean 'orders'?" in refused(folder, *words, "--target", "order")
    assert "known: time, orders, city, id, comment" in refused(folder, *words, "--target", "price")


@pytest.mark.parametrize("words", [["fit", *DATA], ["compare", "orders.csv"]])
def test_a_target_of_times_says_what_to_do(folder, words):
    told = refused(folder, *words, "--target", "time")
    assert "received a column of times; times can be inputs, and --time orders a series by them; " + HERE in told


def test_the_column_of_times_is_not_forecast(folder):
    told = refused(folder, "fit", *SERIES, "--target", "time")
    assert "expected a target beside the column of times; received 'time' as both; --target names the column" in told


@pytest.mark.parametrize("target", ["id", "comment"])
@pytest.mark.parametrize("words", [["fit", *DATA], ["fit", *SERIES], ["compare", "orders.csv"]])
def test_a_target_of_identifiers_or_text_says_what_to_do(folder, words, target):
    told = refused(folder, *words, "--target", target)
    assert f"names of classes in the target '{target}', each in several rows; received 60 different texts, 60 of them once" in told
    assert "a text is an input by --text; " + HERE in told
