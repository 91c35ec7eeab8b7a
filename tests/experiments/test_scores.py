"""Scores: means over the seeds of one recipe, by the papers' names."""

import pytest
from measured import row
from results import of_cell
from scores import Published, Scores, label


def test_a_mean_goes_over_rows_of_one_recipe():
    rows = [row("e", "pol", "dkl-exact", "", seed, nll_standardized=str(value), recipe={"options": {"steps": steps}})
            for seed, value, steps in ((0, -1.08, 500), (1, -1.61, 2000), (2, -1.64, 2000))]
    scores = Scores(rows)
    assert scores.values("e", "pol", "DKL", "NLL") == [-1.61, -1.64]
    assert [(left["seed"], found) for left, found in scores.left_out] == [("0", {"options.steps": (500, 2000)})]
    assert Scores([rows[0], {**rows[1], "recipe": {}}]).get("e", "pol", "DKL", "NLL").seeds == 1
    splits = [of_cell({"inputs": {"split_seed": seed}, "rank": 2}, f"--split-seed {seed}") for seed in range(2)]
    assert splits == [{"inputs": {}, "rank": 2}] * 2 and of_cell({"split_seed": 0}, "--rank 2") == {"split_seed": 0}


def test_two_cells_of_one_name_are_refused():
    with pytest.raises(ValueError, match="are both 'DBK-SiLU'"):
        Scores([row("s", "pol", "dbk", "--split-seed 1"), row("s", "pol", "dbk", "--split-seed 2")])


def test_names():
    assert label("dbk", "--basis rbf --preset paper --split random") == "DBK-RBF"
    assert label("sv-dbk", "--basis linear --rank 1 --alpha 0 --correction false --test-fraction 0.2") == "SV-DBK-cr"
    assert label("catboost", "--iterations 20000 --patience 200") == "CatBoost, long"
    assert label("dbk", "--rank 8") == "dbk --rank 8"


def test_published_numbers_are_found_by_table_and_name():
    assert Published("table1").get("pol", "DBK-RBF", "NLL").mean == -2.9807
    assert Published("rank").get("steps:20000", "dbk --rank 8", "NLL").mean == -0.215
    assert Published("nowhere").get("pol", "DBK", "NLL") is None
