"""A table that a model learns, more rows like it, and rows to answer, for the tests of what becomes of a fitted model."""

import pytest
from conftest import header, run, toy_rows, write_csv

SMALL = ["--steps", "200", "--hidden", "16", "--blocks", "1", "--threads", "1"]


@pytest.fixture
def rows(tmp_path):
    write_csv(tmp_path / "train.csv", header(2), toy_rows(200))
    write_csv(tmp_path / "more.csv", header(2), toy_rows(60, seed=2))
    write_csv(tmp_path / "test.csv", header(2), toy_rows(40, seed=3))
    return tmp_path


def fitted(folder, method="rich-bll", *words):
    done = run(folder, "fit", "train.csv", "--target", "y", "--method", method, "--model", "m", *SMALL, *words)
    assert done.returncode == 0, done.stderr
