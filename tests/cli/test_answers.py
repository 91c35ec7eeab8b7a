"""What predict shows: parts of the sd under names that they are, several levels, quantiles, parts of a fit, two kinds of sets, JSON."""

import csv
import io
import json

import pytest
from conftest import FEW, header, predicted, refused, run, toy_rows, write_csv

PARTS = ["sd_aleatoric", "sd_epistemic"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    write_csv(folder / "t.csv", header(2), toy_rows(300))
    rows = [[*x, "high" if y > 0.5 else "middle" if y > -0.3 else "low"] for *x, y in toy_rows(400, seed=3)]
    write_csv(folder / "c.csv", header(2), rows)
    write_csv(folder / "new.csv", header(2), [[*x, "low"] for *x, _ in toy_rows(200, seed=5)])
    for method, more in (("dbk", []), ("vbll", []), ("dnn", []), ("mc-dropout", []), ("ensemble-dbk", ["--of", "dbk", "--members", 2]),
                         ("ensemble-dnn", ["--of", "dnn", "--members", 2])):
        done = run(folder, "fit", "t.csv", "--target", "y", "--method", method.partition("-d")[0] if more else method, *more,
                   "--model", method, *FEW)
        assert done.returncode == 0, done.stderr
    done = run(folder, "fit", "c.csv", "--target", "y", "--method", "dnn", "--calibrate", "conformal",
               "--calibration-fraction", 0.3, "--model", "classes", *FEW)
    assert done.returncode == 0, done.stderr
    (folder / "fit.txt").write_text(done.stdout)
    return folder


def columns(folder, model, *more):
    done = run(folder, "predict", model, "t.csv", *more)
    assert done.returncode == 0, done.stderr
    return next(csv.reader(io.StringIO(done.stdout))), done.stderr


def test_a_column_is_what_its_name_says(folder):
    for model in ("vbll", "mc-dropout", "ensemble-dnn"):  # calibrated apart, or the draws' disagreement
        assert columns(folder, model)[0] == ["mean", "sd", *PARTS, "lower", "upper"]
        assert columns(folder, model, "--parts")[0] == ["mean", "sd", *PARTS, "lower", "upper"]
    for model in ("dbk", "dnn", "ensemble-dbk"):  # noise in both, or no epistemic part
        names, notes = columns(folder, model)
        assert names == ["mean", "sd", "lower", "upper"]
        assert "aleatoric" not in notes and "one noise variance" not in notes
        assert columns(folder, model, "--parts")[0] == ["mean", "sd", "sd_noise", "sd_function", "lower", "upper"]
    assert "sd_function is the spread" in columns(folder, "dbk", "--parts")[1]
    plain, parts = predicted(folder, "dbk", "t.csv"), predicted(folder, "dbk", "t.csv", "--parts")
    assert plain["sd"] == pytest.approx([(a**2 + b**2) ** 0.5 for a, b in zip(parts["sd_noise"], parts["sd_function"])])


def test_several_levels(folder):
    both = predicted(folder, "vbll", "t.csv", "--level", ".5,.9")
    assert list(both) == ["mean", "sd", *PARTS, "lower_50", "upper_50", "lower_90", "upper_90"]
    for level in (50, 90):
        alone = predicted(folder, "vbll", "t.csv", "--level", level / 100)
        assert alone["lower"] == both[f"lower_{level}"] and alone["upper"] == both[f"upper_{level}"]
    text = next(csv.DictReader(io.StringIO(run(folder, "predict", "vbll", "t.csv", "--level", "0.975,0.5").stdout)))
    assert float(text["lower_97.5"]) < float(text["lower_50"]) < float(text["upper_50"]) < float(text["upper_97.5"])
    assert "a probability above 0 and at most 0.999" in refused(folder, "predict", "vbll", "t.csv", "--level", ".5,1")
    assert "each level once" in refused(folder, "predict", "vbll", "t.csv", "--level", ".5,0.50")
    sets = predicted(folder, "classes", "new.csv", "--level", ".5,.9")
    assert {"set_50", "set_90"} < set(sets) and "set" not in sets


def test_json_has_the_cells_of_the_table(folder):
    write_csv(folder / "ids.csv", ["id", *header(2)], [[f"00{i}" if i % 2 else "", *row] for i, row in enumerate(toy_rows(9, seed=7))])
    write_csv(folder / "far.csv", header(2), [*toy_rows(2), [1e200, 0, 0]])
    for model, data, *more in (("vbll", "ids.csv", "--level", ".5,.9", "--keep", "id,x0"), ("classes", "new.csv"), ("vbll", "far.csv"),
                               ("dbk", "far.csv", "--on-bad-row", "skip"), ("dbk", "t.csv")):
        done, text = (run(folder, "predict", model, data, *more, *flag) for flag in (["--json"], []))
        assert done.returncode == 0 and done.stderr == text.stderr
        found, lines = json.loads(done.stdout), list(csv.DictReader(io.StringIO(text.stdout)))
        assert found["task"] == ("classification" if model == "classes" else "regression")
        assert found["levels"] == ([0.5, 0.9] if "--level" in more else [0.95]) and "split" not in found
        assert [list(row) for row in found["rows"]] == [list(line) for line in lines]  # the order of the columns, too
        for row, line in zip(found["rows"], lines):
            for name, value in row.items():
                assert line[name] == (value or "") if isinstance(value, (str, type(None))) else float(line[name]) == value
    rows = json.loads(run(folder, "predict", "vbll", "far.csv", "--json").stdout)["rows"]
    assert set(rows[2].values()) == {None} and None not in rows[0].values()
    assert "--json without --out" in refused(folder, "predict", "vbll", "t.csv", "--json", "--out", "a.csv")


def test_quantiles_are_those_of_the_interval(folder):
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "ridge", "--calibrate", "conformal", "--calibration-fraction", 0.3,
               "--model", "calibrated")
    assert done.returncode == 0, done.stderr
    for model in "vbll", "calibrated":
        found = predicted(folder, model, "t.csv", "--level", 0.9, "--quantiles", "0.05,0.5,0.95,0.3")
        assert list(found)[-4:] == ["q0.05", "q0.5", "q0.95", "q0.3"]
        assert found["q0.05"] == pytest.approx(found["lower"], rel=1e-12) and found["q0.95"] == pytest.approx(found["upper"], rel=1e-12)
        assert found["q0.5"] == found["mean"]
        assert all(a < b <= c < d for a, b, c, d in zip(*(found[f"q{q}"] for q in (0.05, 0.3, 0.5, 0.95))))
    words = ["predict", "calibrated", "t.csv", "--quantiles"]
    assert "q and 1 - q together hold their level" in run(folder, *words, "0.1").stderr
    assert "q and 1 - q" not in run(folder, "predict", "vbll", "t.csv", "--quantiles", "0.1").stderr
    assert "calibration rows enough for the quantile 0.0001, an end of the interval of level 0.9998" in refused(folder, *words, "0.0001")
    for wrong in "0", "1", "-0.1", "half":
        assert "a probability above 0 and below 1 for --quantiles" in refused(folder, *words, wrong)
    assert "each probability once for --quantiles; received 0.5 twice" in refused(folder, *words, "0.5,.50")
    assert "numbers, counts or events for --quantiles; received one of classes" in refused(folder, "predict", "classes", "new.csv",
                                                                                             "--quantiles", "0.5")


def lines_of(folder, *words):
    done = run(folder, "predict", *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_a_part_of_the_fit_has_the_numbers_of_its_rows(toy):
    model = ["fitted.safetensors", "toy.csv"]
    every = lines_of(toy, *model, "--keep", "y")
    numbers = []
    for part in "train", "valid", "test":
        lines = lines_of(toy, *model, "--keep", "y", "--split", part)
        own = [int(line.pop("row")) for line in lines]
        assert own == sorted(own) and lines == [every[number - 1] for number in own]
        numbers += own
    assert sorted(numbers) == list(range(1, 301))
    report = json.loads(run(toy, "evaluate", *model, "--split", "test", "--json").stdout)
    assert report["n"] == len(lines) and report["mae"] == pytest.approx(sum(abs(float(line["mean"]) - float(line["y"])) for line in lines) / len(lines))
    found = json.loads(run(toy, "predict", *model, "--split", "test", "--json").stdout)
    assert found["split"] == "test" and [row["row"] for row in found["rows"]] == own and list(found["rows"][0])[0] == "row"
    assert "fitted with calibration rows" in refused(toy, "predict", *model, "--split", "calibration")


def test_numbers_count_the_rows_without_a_target(tmp_path):
    rows = [[f"{i}.50", *x, "" if i % 7 == 3 else y] for i, (*x, y) in enumerate(toy_rows(90))]
    write_csv(tmp_path / "holes.csv", ["id", *header(2)], rows)
    write_csv(tmp_path / "other.csv", header(2), toy_rows(9))
    done = run(tmp_path, "fit", "holes.csv", "--target", "y", "--method", "ridge", "--model", "m", "--test-fraction", 0.3, "--ignore", "id")
    assert done.returncode == 0, done.stderr
    lines = lines_of(tmp_path, "m", "holes.csv", "--split", "test", "--keep", "id,x0")
    assert len(lines) > 20 and all([line["id"], line["x0"]] == [str(cell) for cell in rows[int(line["row"]) - 1][:2]] for line in lines)
    assert "a file for --split with --keep" in refused(tmp_path, "predict", "m", "-", "--split", "test", "--keep", "id")
    assert "the data that the model was fitted on, for --split" in refused(tmp_path, "predict", "m", "other.csv", "--split", "test")
    rows = [[i, *row] for i, row in enumerate(toy_rows(60))]
    write_csv(tmp_path / "numbered.csv", ["row", *header(2)], rows)
    assert run(tmp_path, "fit", "numbered.csv", "--target", "y", "--method", "ridge", "--model", "m", "--test-fraction", 0.3).returncode == 0
    assert "another name for --keep than row" in refused(tmp_path, "predict", "m", "numbered.csv", "--split", "test", "--keep", "row")


def members(cell):
    return set(cell.split("|")) if cell else set()


def test_deterministic_sets_hold_the_randomised_ones(folder):
    random, sure = (predicted(folder, "classes", "new.csv", "--level", 0.8, *more)["set"]
                    for more in ([], ["--sets", "deterministic"]))
    assert all(members(a) <= members(b) and b for a, b in zip(random, sure)) and random != sure
    reports = [json.loads(run(folder, "evaluate", "classes", "c.csv", "--level", 0.8, "--json", *more).stdout)
               for more in ([], ["--sets", "deterministic"])]
    assert [report["sets"] for report in reports] == ["randomised", "deterministic"]
    assert reports[1]["empty"] == 0 and reports[1]["coverage"] >= reports[0]["coverage"]


def test_the_fit_says_how_uncertain_the_level_is(folder):
    text = (folder / "fit.txt").read_text()
    # 120 rows at 95 %: Beta(115, 6), of which 90 % lie between these.
    assert "with these calibration rows the coverage of new rows is from 91.4 to 97.8 %, with probability 90 %" in text, text


def test_a_kept_target_is_a_number_in_json(tmp_path, toy):
    def kept(data, *words):
        done = run(tmp_path, "predict", toy / "fitted.safetensors", data, "--keep", "y", "--json", *words)
        assert done.returncode == 0, done.stderr
        return {row.get("row", i): row["y"] for i, row in enumerate(json.loads(done.stdout)["rows"], 1)}

    every, part = kept(toy / "toy.csv"), kept(toy / "toy.csv", "--split", "test")
    assert len(every) == 300 and len(part) == 60 and all(isinstance(y, float) for y in every.values())
    assert part == {row: every[row] for row in part}
    write_csv(tmp_path / "odd.csv", header(2), [[0.1, 0.2, "1.50"], [0.3, 0.4, "unknown"], [0.5, 0.6, ""]])
    assert kept(tmp_path / "odd.csv") == {1: "1.50", 2: "unknown", 3: None}  # a text among them: all stay texts
