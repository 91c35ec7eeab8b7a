"""The committed rows: what decided a row is in it."""

import json

import pytest
from results import read
from run import ROOT

# Options of a training that every network method has; a recipe without one of them does not say what was run.
TRAINING = {"steps", "epochs", "batch", "learning_rate", "weight_decay", "schedule", "patience", "clip_norm"}


@pytest.mark.parametrize("study", ["r_rivals", "r_table2", "r_table4", "r_table6"])
def test_every_row_names_the_whole_training(study):
    rows = read(ROOT / "experiments" / study / "results.csv")
    assert rows
    for row in rows:
        if row["error"] or row["method"] == "gp-exact":  # nothing is trained by steps
            continue
        recipe = json.loads(row["recipe"])
        named = set(recipe["options"]) | set(recipe.get("network", {}).get("options", {}))
        assert TRAINING <= named, (study, row["data"], row["method"], row["seed"], sorted(TRAINING - named))
        assert {"scale", "target_scale", "split", "valid_fraction", "test_fraction", "scale_on"} <= set(recipe["inputs"])
