"""The committed rows: what decided a row is in it."""

import collections

import pytest
from judge import lower
from measured import row, study
from results import asked, read, refuse_mixed
from run import ROOT
from scores import Score, limit

# Options of a training that every network method has; a recipe without one of them does not say what was run.
TRAINING = {"steps", "epochs", "batch", "learning_rate", "weight_decay", "schedule", "patience", "clip_norm"}


@pytest.mark.parametrize("name", ["r_rivals", "r_table2", "r_table4", "r_table6"])
def test_every_row_names_the_whole_training(name):
    rows = read(ROOT / "experiments" / name / "results.csv")
    assert rows
    for each in rows:
        if each["error"] or each["method"] == "gp-exact":  # nothing is trained by steps
            continue
        recipe = each["recipe"]
        named = set(recipe["options"]) | set(recipe.get("network", {}).get("options", {}))
        asked_for = TRAINING - {"weight_decay"} if each["method"] == "bbb" else TRAINING  # its prior takes the place of a decay
        assert asked_for <= named, (name, each["data"], each["method"], each["seed"], sorted(asked_for - named))
        assert {"scale", "target_scale", "split", "valid_fraction", "test_fraction", "scale_on"} <= set(recipe["inputs"])


def test_rows_whose_data_were_handled_differently_are_refused():
    def handled(method, flags="", scale="standard"):
        return row("s", "pol", method, flags, recipe={"inputs": {"scale": scale, "split": "group"}, "options": {"steps": len(method)}})

    refuse_mixed([handled("bll"), handled("vbll")])
    with pytest.raises(ValueError, match=r'\[scale\] expected the same for every method of s, pol; received "min-max": vbll; "standard": bll, dnn'):
        refuse_mixed([handled("bll"), handled("dnn"), handled("vbll", scale="min-max")])
    refuse_mixed([handled("bll"), handled("vbll", scale="min-max")], {"scale": "each its own default"})
    refuse_mixed([handled("bll"), handled("vbll", "--scale min-max", "min-max")])  # the cell names it
    refuse_mixed([handled("bll"), {**handled("vbll", scale="min-max"), "data": "protein"}])


def test_a_mean_of_older_options_is_not_compared_with_one_of_todays():
    now, then = (Score(mean, 0.1, 3, old, {0: mean, 1: mean, 2: mean}) for mean, old in ((1.0, False), (2.0, True)))
    case = lower("t", now, then)
    assert case.won is None and case.numbers.endswith("measured with options of two times")
    assert lower("t", now._replace(old=True), then).won is True
    assert lower("t", then, limit(3.0)).won is True  # a stated number has no options


def test_a_cell_has_one_space_between_its_flags():
    assert asked("s", "pol", "dbk", 3, " --rank  2", "", "--steps 5 ")["flags"] == "--rank 2 --steps 5"


def test_bits_names_the_methods_of_another_program(monkeypatch):
    bits = study("bits")
    rows = [row("defaults", data, method, "--split-seed 1", commit=commit, recipe={"method": method}) for data, method, commit in
            (("pol", "vbll", "two"), ("kin40k", "vbll", "one"), ("pol", "dnn", "one"), ("kin40k", "dnn", "one"))]
    monkeypatch.setattr(bits, "kept", lambda *names: rows)
    assert "pol's rows of VBLL are from another program (two)" in bits.of_another_program()
    monkeypatch.setattr(bits, "kept", lambda *names: rows[2:])
    assert bits.of_another_program() == ""


def test_conformal_is_compared_on_the_splits_that_both_have():
    def rows(part, splits):
        return [row(part, "concrete", "dbk", f"--level 0.9 --split-seed {split} --steps 1000", coverage=str(0.8 + split / 100))
                for split in splits]
    plain, calibrated = ("concrete", "dbk", "plain"), ("concrete", "dbk", "conformal")
    groups = collections.defaultdict(list) | {plain: rows("plain", [1]), calibrated: rows("conformal", [0, 1])}
    said = study("conformal").on_common_splits(groups)
    assert said == "On the splits that both have: concrete, dbk: 0.810 plain, 0.810 conformal (1 splits)."
    groups[calibrated].pop(0)
    assert study("conformal").on_common_splits(groups) == ""
