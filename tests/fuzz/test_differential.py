"""The checks of the differential fuzzer see wrong answers: each invariant is given one."""

import subprocess
import sys

import differential
import invariants as must
import numpy as np
import pytest
import random_fits
import random_tables
import trial
from launcher import Launcher


def answers(**changed):
    """Two good answers, with some columns replaced."""
    good = {"mean": [1.0, 2.0], "sd": [0.5, 0.5], "sd_aleatoric": [0.3, 0.3], "sd_epistemic": [0.4, 0.4], "lower": [0.0, 1.0],
            "upper": [2.0, 3.0]}
    return {name: np.array(values, dtype=float) for name, values in {**good, **changed}.items()}


def test_answer_is_silent_on_good_answers():
    assert must.answer(answers()) == []
    assert must.answer({"p_a": np.array([0.25, 1.0]), "p_b": np.array([0.75, 0.0]), "label": np.array(["b", "a"], dtype=object)}) == []


@pytest.mark.parametrize("wrong", [
    {"mean": [np.inf, 2]}, {"mean": [np.nan, 2]}, {"upper": [2, np.nan]}, {"sd": [0, 0.5], "sd_aleatoric": [0, 0.3], "sd_epistemic": [0, 0.4]},
    {"sd": [-0.5, 0.5]}, {"sd_epistemic": [0.41, 0.4]}, {"lower": [3, 1]}, {"median": [1, 0.9]}, {"median": [2.1, 2]},
    {"p_a": [1.1, 0.5], "p_b": [-0.1, 0.5]}, {"p_a": [0.5, 0.5], "p_b": [0.5, 0.49]}])
def test_answer_sees_a_wrong_one(wrong):
    assert must.answer(answers(**wrong))


def test_a_row_without_an_answer_is_no_fault_of_finite():
    blank = {name: np.array([np.nan, 2.0]) for name in answers()}
    assert must.finite(blank) == [] and must.without_answer(blank).tolist() == [True, False]


def test_ordered_takes_a_median_that_is_no_column():
    assert must.ordered(answers(), np.array([1.0, 2.0])) == []
    assert must.ordered(answers(), np.array([1.0, 5.0]))


@pytest.mark.parametrize(("code", "stdout", "stderr"), [
    (-11, "", ""), (3, "", "error: expected a row; received none\n"), (2, "", ""), (1, "", "error: a b c\nerror: a b c\n"),
    (2, "mean,sd\n", "error: expected a row; received none\n"), (0, "", "error: expected a row; received none\n"),
    (2, "", "error: [json.exception.type_error.302] type must be string\n"), (1, "", "error: std::bad_alloc\n")])
def test_ended_well_sees_a_wrong_end(code, stdout, stderr):
    assert must.ended_well(code, stdout, stderr)


def test_ended_well_is_silent_on_a_refusal():
    assert must.ended_well(2, "", "note: 3 rows were left out\nerror: expected a row; received none\n") == []
    assert must.ended_well(130, "", "error: interrupted before a first model\n") == []


@pytest.mark.parametrize("error", [
    MemoryError("std::bad_alloc"), RuntimeError("expected a row; received none"), OverflowError("int too large to convert"),
    UnicodeEncodeError("utf-8", "\udc80", 0, 1, "surrogates not allowed"), ValueError("two\nlines of text"), ValueError(""),
    ValueError("a name that turns \u202eround"), TypeError("unsupported operand type(s) for +")])
def test_raised_well_sees_a_raw_exception(error):
    assert must.raised_well(error)


def test_raised_well_is_silent_on_a_sentence():
    assert must.raised_well(ValueError("expected at least 2 rows; received one; give more rows")) == []


def test_without_function_names_sees_one():
    assert must.without_function_names("[Encoder::inputs] expected a column; received none")
    assert must.without_function_names("[fit] expected a column; received none")
    assert must.without_function_names("expected a number in [0, 1]; received 'x' [fit]") == []


def test_close_is_relative_to_the_sd():
    assert must.close(answers(), answers(mean=[1 + 1e-8, 2]), 1e-7, "x") == []
    assert must.close(answers(), answers(mean=[1 + 1e-6, 2]), 1e-7, "x")
    assert must.close(answers(), answers(mean=[np.nan, 2]), 1e-7, "x")
    assert must.close(answers(), {"mean": np.zeros(2)}, 1e-7, "x")
    assert must.close({"label": np.array(["a"], object)}, {"label": np.array(["b"], object)}, 1e-7, "x") == []


def test_same_bits_sees_the_last_one():
    assert must.same_bits(answers(), answers(), "x") == []
    assert must.same_bits(answers(), answers(mean=[np.nextafter(1, 2), 2]), "x")
    assert must.same_bits(answers(mean=[0.0, 2]), answers(mean=[-0.0, 2]), "x")


def test_within_sees_time_and_memory():
    assert must.within(1, 100, 60, 500, "report") == []
    assert len(must.within(61, 501, 60, 500, "report")) == 2


def test_json_text_sees_what_is_no_number():
    assert must.json_text('{"a": [1, 2.5, null]}', "x") == []
    assert must.json_text('{"a": [1, NaN]}', "x") and must.json_text('{"a": Infinity}', "x") and must.json_text('{"a"', "x")


def test_same_score_compares_with_the_density():
    y, mean, sd = np.array([0.0, np.nan]), np.array([1.0, 0.0]), np.array([2.0, 1.0])
    expected = 0.5 * 0.25 + np.log(2) + 0.5 * np.log(2 * np.pi)
    assert must.same_score(expected, must.gaussian_nll(y, mean, sd), "x") == []
    assert must.same_score(expected + 1e-3, must.gaussian_nll(y, mean, sd), "x")


def child_that(does):
    return differential.Child([sys.executable, "-c", f"import os, time; input(); print('stage fit', flush=True); {does}"])


def test_child_reports_a_crash_with_its_stage():
    fault = child_that("os.abort()").run(3)["faults"][0]
    assert fault["check"] == "crash" and "in: fit" in fault["text"] and "-6" in fault["text"]


def test_child_reports_what_never_ends(monkeypatch):
    monkeypatch.setattr(differential, "CPU_SECONDS", 0.2)
    fault = child_that("list(iter(int, 1))").run(3)["faults"][0]
    assert fault["check"] == "hang" and fault["text"].endswith("fit")


def test_launcher_measures_the_command_alone():
    took = Launcher()([sys.executable, "-S", "-c", "import sys; print('out'); sys.exit(7)"], ".")
    assert took["code"] == 7 and took["stdout"] == "out\n" and 0 < took["megabytes"] < 100
    much = Launcher()([sys.executable, "-S", "-c", "b = b'x' * (200 << 20)"], ".")
    assert much["megabytes"] > 200


def test_launcher_limits_memory_and_time():
    assert Launcher()([sys.executable, "-S", "-c", "b = b'x' * (400 << 20)"], ".", megabytes=100)["code"] == 1
    assert Launcher()([sys.executable, "-S", "-c", "while True: pass"], ".", seconds=1)["code"] < 0


def drawn(number):
    from slimbayes import _options

    draw = np.random.default_rng([5, number])
    table = random_tables.random_table(draw)
    return table, random_fits.random_fit(draw, _options.description(), table)


def test_a_case_is_decided_by_its_number():
    for number in range(30):
        (table, fit), (again, same) = drawn(number), drawn(number)
        assert table.data.equals(again.data) or table.wild
        assert repr(fit) == repr(same)


def test_every_option_with_bounds_is_drawn_within_and_beyond_them():
    from slimbayes import _options

    draw = np.random.default_rng(0)
    for option in [o for m in _options.description()["methods"] for o in m["options"] if "range" in o]:
        low, high = option["range"]
        for _ in range(5):
            value, wrong = random_fits.value_of(draw, option), random_fits.outside(draw, option)
            assert low <= value <= high, option
            assert not low <= wrong <= high or wrong != int(wrong), option


class WrongAnswers(trial.Trial):
    """A case whose answers are not those of the model."""

    def answers(self, model, data):
        found = super().answers(model, data)
        return {name: -values if name == "sd" else values for name, values in found.items()}


def test_a_case_with_wrong_answers_has_faults(tmp_path):
    seen = []
    for number in range(40):
        one = WrongAnswers(9, number, tmp_path, None, lambda *_: None, lambda _: None)
        if one.table.task == "regression" and one.table.data.num_rows < 200 and one.fit.method != "auto":
            result = one.run()
            if result["accepted"]:
                seen.append(result["faults"])
        if len(seen) == 2:
            break
    assert seen and all(any("positive sd" in fault["text"] for fault in faults) for faults in seen)


def test_differential_runs_cases_and_sums_them_up(tmp_path):
    done = subprocess.run([sys.executable, differential.__file__, "--runs", "3", "--jobs", "1", "--keep", tmp_path], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 runs in" in done.stdout and "0 faults" in done.stdout, done.stdout + done.stderr


def test_reason_leaves_names_and_numbers_out():
    assert differential.reason_of("error: expected 'a b' above 1e-3; received -5") == "expected '..' above N; received N"

