"""Text files that spell numbers and dates in another way (--thousands, --decimal, --date-format)."""

import datetime
import json
import random

from conftest import FEW, predicted, refused, run, toy_rows, write_csv


def german(number):
    whole, decimals = f"{1000 * number:,.3f}".split(".")
    return f"{whole.replace(',', '.')},{decimals}"


def tables(folder):
    """The same numbers in a CSV as slimbayes writes them, and in a TSV with points between groups and decimal commas."""
    rows = toy_rows(120)
    write_csv(folder / "plain.csv", ["x0", "x1", "y"], [[f"{1000 * cell:.3f}" for cell in row] for row in rows])
    (folder / "german.tsv").write_text("x0\tx1\ty\n" + "".join("\t".join(map(german, row)) + "\n" for row in rows))


def test_a_model_reads_later_data_in_its_notation(tmp_path):
    tables(tmp_path)
    common = ["--target", "y", "--method", "dbk", "--threads", 1, *FEW]
    for words in (["plain.csv", "--model", "p"], ["german.tsv", "--model", "m", "--thousands", ".", "--decimal", ","]):
        done = run(tmp_path, "fit", *words, *common)
        assert done.returncode == 0, done.stderr
    expected = predicted(tmp_path, "p", "plain.csv")
    assert predicted(tmp_path, "m", "german.tsv") == expected
    assert "--thousands '.' --decimal ','" in run(tmp_path, "describe", "m").stdout
    scores = [json.loads(run(tmp_path, "evaluate", *words, "--json").stdout)["rmse"] for words in (["p", "plain.csv"], ["m", "german.tsv"])]
    assert scores[0] == scores[1]
    kept = [json.loads(run(tmp_path, "predict", *words, "--keep", "x0", "--json").stdout)["rows"] for words in (["p", "plain.csv"], ["m", "german.tsv"])]
    assert [row["x0"] for row in kept[0]] == [row["x0"] for row in kept[1]]  # 1.234 in German is no number of JSON
    (tmp_path / "wrong.tsv").write_text("x0\tx1\n1.23,4\t0,5\n")
    assert "numbers such as 1.234,5 in column 'x0'; received '1.23,4'" in refused(tmp_path, "predict", "m", "wrong.tsv")


def test_the_options_are_named_and_checked(tmp_path):
    rows = [[f'"1,{200 + i}"', i % 7, i % 5 + i / 100] for i in range(60)]
    write_csv(tmp_path / "t.csv", ["x", "z", "y"], rows)
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m")
    assert "fit --thousands ',' reads '1,200' as 1200" in done.stderr
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m", "--thousands", ",")
    assert done.returncode == 0 and "categories" not in done.stderr
    words = ["fit", "t.csv", "--target", "y"]
    assert "one of , . ' and a blank for --thousands; received '_'" in refused(tmp_path, *words, "--thousands", "_")
    assert "a point or a comma for --decimal" in refused(tmp_path, *words, "--decimal", ";")
    assert "add --decimal ','" in refused(tmp_path, *words, "--thousands", ".")


def test_a_notation_that_hides_numbers_is_said(tmp_path):
    tables(tmp_path)
    words = ["fit", "plain.csv", "--target", "y", "--method", "ridge", "--model", "m"]
    line = refused(tmp_path, *words, "--decimal", ",")
    assert "expected numbers such as 1234,5 in the target 'y', by --decimal ','; received '" in line
    assert "leave these options out if the file spells its numbers so" in line
    (tmp_path / "mixed.tsv").write_text("x\tz\ty\n" + "".join(f"{i}.5\t{i}\t{i},25\n" for i in range(60)))
    done = run(tmp_path, "fit", "mixed.tsv", *words[2:], "--decimal", ",")
    assert "column 'x': by --decimal ',', cells such as '0.5' are no numbers" in done.stderr


def test_columns_of_other_separators(tmp_path):
    tables(tmp_path)
    text = (tmp_path / "german.tsv").read_text()
    common = ["--target", "y", "--method", "ridge", "--thousands", ".", "--decimal", ","]
    assert run(tmp_path, "fit", "german.tsv", "--model", "m", *common).returncode == 0
    expected = predicted(tmp_path, "m", "german.tsv")
    for name, sign in (";", ";"), ("|", "|"), ("tab", "\t"):
        (tmp_path / "german.csv").write_text(text.replace("\t", sign))
        flag = "--separator tab" if name == "tab" else f"--separator '{name}'"
        assert f"fit {flag} reads it" in refused(tmp_path, "fit", "german.csv", *common)
        done = run(tmp_path, "fit", "german.csv", "--model", "s", *common, "--separator", name)
        assert done.returncode == 0, done.stderr
        assert predicted(tmp_path, "s", "german.csv") == predicted(tmp_path, "s", "german.tsv") == expected
        assert f"--separator '{name}'" in run(tmp_path, "describe", "s").stdout
        assert run(tmp_path, "predict", "s", "german.csv").stdout == run(tmp_path, "predict", "s", "german.tsv").stdout != ""
        assert run(tmp_path, "evaluate", "s", "german.csv").returncode == 0
    assert "a comma, ;, | or tab for --separator; received ':'" in refused(tmp_path, "fit", "german.csv", *common, "--separator", ":")


def test_points_that_may_separate_thousands_are_said(tmp_path):
    draw = random.Random(1)
    numbers = [850, *(draw.randint(500, 90000) for _ in range(79))]
    rows = [[f"{n:,}".replace(",", "."), f"{draw.gauss(5, 1):.3f}", n / 1000] for n in numbers]
    write_csv(tmp_path / "t.csv", ["x", "z", "y"], rows)
    words = ["fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m"]
    said = run(tmp_path, *words).stderr
    assert said.count("as where points separate thousands") == 1 and "column 'x': its numbers with a point" in said
    assert "fit --thousands '.' --decimal ',' reads it so" in said
    assert "separate thousands" not in run(tmp_path, "predict", "m", "t.csv").stderr


def test_a_format_without_dates_is_said(tmp_path):
    write_csv(tmp_path / "t.csv", ["d", "x", "y"], [[f"{1 + i % 28:02}.{1 + i % 12:02}.2019", i % 7, i % 5] for i in range(90)])
    words = ["fit", "t.csv", "--target", "y", "--likelihood", "gaussian", "--method", "ridge", "--model", "m", "--date-format"]
    assert "no column has dates of the format '%m/%d/%Y' (--date-format)" in run(tmp_path, *words, "%m/%d/%Y").stderr
    assert "no column has dates" not in run(tmp_path, *words, "%d.%m.%Y").stderr


def test_dates_of_a_format(tmp_path):
    days = [datetime.date(2014, 1, 1) + datetime.timedelta(day) for day in range(120)]
    rows = toy_rows(120)
    for name, form in ("iso.csv", "%Y-%m-%d"), ("german.csv", "%d.%m.%Y"):
        write_csv(tmp_path / name, ["day", "x0", "x1", "y"], [[day.strftime(form), *row] for day, row in zip(days, rows)])
    common = ["--target", "y", "--method", "dbk", "--threads", 1, *FEW]
    for words in (["iso.csv", "--model", "p"], ["german.csv", "--model", "m", "--date-format", "%d.%m.%Y"]):
        done = run(tmp_path, "fit", *words, *common)
        assert done.returncode == 0, done.stderr
    assert predicted(tmp_path, "m", "german.csv") == predicted(tmp_path, "m", "iso.csv") == predicted(tmp_path, "p", "iso.csv")
    assert "--date-format '%d.%m.%Y'" in run(tmp_path, "describe", "m").stdout
    done = run(tmp_path, "fit", "german.csv", "--model", "n", *common, "--split", "time", "--date-format", "%d.%m.%Y")
    assert "split by time ('day'): 108 training rows up to 2014-04-18" in done.stderr
    line = refused(tmp_path, "fit", "german.csv", *common, "--date-format", "%d.%m")
    assert "for --date-format; received no year in '%d.%m'" in line
    done = run(tmp_path, "fit", "german.csv", "--model", "n", *common)
    assert "fit --date-format names their format" in done.stderr
