"""--rename and --fill make the columns of a foreign file fit the model."""

import json

import pytest
from conftest import header, predicted, refused, run, toy_rows, write_csv
from inputs import series

COLOURS = ["red", "blue"]


def rows_of(count, seed):
    """x0, x1, colour, y: y depends on all of them."""
    return [[a, b, COLOURS[i % 2], y + i % 2] for i, (a, b, y) in enumerate(toy_rows(count, seed=seed))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    names = ["x0", "x1", "colour", "y"]
    write_csv(folder / "train.csv", names, rows_of(200, 1))
    write_csv(folder / "near.csv", names, rows_of(60, 2))
    far = rows_of(50, 3)
    write_csv(folder / "far.csv", names, [[a + 3, b, "red", y] for a, b, _, y in far])
    write_csv(folder / "other.csv", ["length", "x1", "y"], [[a + 3, b, y] for a, b, _, y in far])
    done = run(folder, "fit", "train.csv", "--target", "y", "--method", "bll", "--model", "m", "--steps", 200, "--threads", 1)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_foreign_file_is_scored_as_if_it_had_the_columns(folder):
    expected = json.loads(run(folder, "evaluate", "m", "near.csv", "--ood", "far.csv", "--json").stdout)
    changed = ["near.csv", "--ood", "other.csv", "--rename", "length=x0", "--fill", "colour=red", "--json"]
    done = run(folder, "evaluate", "m", *changed)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected  # near.csv needs neither
    assert "expected a column 'x0'" in refused(folder, "evaluate", "m", "near.csv", "--ood", "other.csv")


def test_predict_and_evaluate_change_their_one_file(folder):
    words = ["--rename", "length=x0", "--fill", "colour=red"]
    assert predicted(folder, "m", "other.csv", *words) == predicted(folder, "m", "far.csv")
    kept = run(folder, "predict", "m", "other.csv", *words, "--keep", "x0,colour").stdout.splitlines()
    assert kept[0].startswith("x0,colour,mean") and kept[1].split(",")[1] == "red"
    assert kept[1].split(",")[0] == (folder / "other.csv").read_text().splitlines()[1].split(",")[0]  # as the file has it
    scored = [run(folder, "evaluate", "m", name, "--json", *more).stdout for name, more in (("far.csv", []), ("other.csv", words))]
    assert scored[0] == scored[1]
    write_csv(folder / "target.csv", ["x0", "x1", "colour", "quality"], rows_of(60, 2))
    renamed = run(folder, "evaluate", "m", "target.csv", "--rename", "quality=y", "--json").stdout
    assert renamed == run(folder, "evaluate", "m", "near.csv", "--json").stdout


def test_a_renamed_column_is_read_as_in_training(tmp_path):
    """Codes that look like numbers stay names, and a missing category is imputed."""
    codes = [[f"A{i % 3}" if i < 210 else f"{i % 3}", i % 3 + 0.1 * (i % 7)] for i in range(300)]
    write_csv(tmp_path / "train.csv", ["code", "y"], codes)
    fit = ["fit", "train.csv", "--target", "y", "--method", "dnn", "--model", "m", "--steps", 50, "--threads", 1]
    assert run(tmp_path, *fit).returncode == 0
    write_csv(tmp_path / "a.csv", ["code"], [["1"], ["2"]])
    write_csv(tmp_path / "b.csv", ["zip"], [["1"], ["2"]])
    assert predicted(tmp_path, "m", "b.csv", "--rename", "zip=code") == predicted(tmp_path, "m", "a.csv")
    write_csv(tmp_path / "c.csv", ["other"], [[1]])
    write_csv(tmp_path / "d.csv", ["code", "other"], [["NA", 1]])
    assert predicted(tmp_path, "m", "c.csv", "--fill", "code=NA") == predicted(tmp_path, "m", "d.csv")


@pytest.mark.parametrize("words, expected", [
    (["--rename", "size=x0"], "expected a column of 'other.csv' before the '=' of --rename; received 'size'; "),
    (["--rename", "length=x9"], "expected a column of the model after the '=' of --rename; received 'x9'; "),
    (["--rename", "x0=length"], "expected a column of the model after the '=' of --rename; received 'length'; "
                                "the pair reads FILE=MODEL: write --rename length=x0"),
    (["--rename", "length=x1"], "expected no column 'x1' in 'other.csv' for --rename length=x1; received one beside 'length'; "),
    (["--rename", "length"], "expected pairs FILE=MODEL (two names of a column) for --rename; received 'length'; "),
    (["--rename", "length=x0,length=x1"], "expected each column once in --rename; received 'length' twice; "),
    (["--fill", "x1=3"], "expected a column in --fill that 'other.csv' lacks; received 'x1', which it has; "),
    (["--fill", "colour=red", "--fill", "colour=blue"], "expected each column once in --fill; received 'colour' twice; "),
    (["--fill", "color=red"], "expected a column of the model in --fill; received 'color'; did you mean 'colour'?"),
    (["--fill", "x0=long"], "expected a numeric cell for 'x0' in --fill, as in training; received 'long'; "),
    (["--rename", "length=x0", "--fill", "x0=1"], "expected a column in --rename or in --fill; received 'x0' in both; "),
])
def test_a_change_that_does_not_fit_is_one_sentence(folder, words, expected):
    assert refused(folder, "predict", "m", "other.csv", *words).startswith("error: " + expected)


def test_of_two_files_one_must_need_a_change(folder):
    both = ["evaluate", "m", "near.csv", "--ood", "other.csv"]
    line = refused(folder, *both, "--rename", "size=x0")
    assert line.startswith("error: the foreign data 'other.csv' (--ood): expected a file with a column 'size' and none 'x0' for")
    line = refused(folder, *both, "--rename", "length=x0", "--fill", "x1=0,colour=red")
    assert "one of the files lacks; received 'x1', which both have" in line


def test_windows_take_changes_too(tmp_path):
    series(tmp_path / "air.csv")
    fit = ["fit", "air.csv", "--target", "y", "--window", 6, "--time", "time", "--method", "dnn", "--model", "m"]
    assert run(tmp_path, *fit, "--steps", 50, "--hidden", 16, "--blocks", 1).returncode == 0
    first, rest = (tmp_path / "air.csv").read_text().split("\n", 1)
    (tmp_path / "other.csv").write_text(first.replace("time", "when").replace("y", "pm") + "\n" + rest)
    words = ["--rename", "when=time,pm=y"]
    assert predicted(tmp_path, "m", "other.csv", *words) == predicted(tmp_path, "m", "air.csv")
    done = run(tmp_path, "evaluate", "m", "air.csv", "--ood", "other.csv", *words, "--json")
    assert done.returncode == 0, done.stderr
    auroc = json.loads(done.stdout)["ood"]["auroc"]
    assert set(auroc) == {"outside", "distance"} and all(abs(value - 0.5) < 0.02 for value in auroc.values())
