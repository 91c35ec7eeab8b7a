"""compare's table and notes: numbers of a column are written alike, and what fit would say is said, once."""

import json
import random
import re

from conftest import header, run, toy_rows, write_csv

SMALL = ["--rank", 8, "--threads", 1, "--steps", 30]


def replicates(folder):
    """60 design points, each in 20 identical rows."""
    rows = [row for row in toy_rows(60) for _ in range(20)]
    random.Random(4).shuffle(rows)
    return write_csv(folder / "replicates.csv", header(2), rows)


def test_the_notes_of_fit_are_said_once(tmp_path):
    replicates(tmp_path)
    words = ["compare", "replicates.csv", "--target", "y", "--methods", "dbk,dnn,ensemble", "--members", 2, "--seeds", 2, *SMALL]
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note")]
    shared = [note for note in notes if "have the inputs of a training row" in note]
    assert len(shared) == 1 and shared[0].startswith("note: ")
    assert len([note for note in notes if "--split grouped" in note]) == 1
    assert [note for note in notes if "2 members of dnn" in note and note.startswith("note (ensemble): ")] != []
    report = json.loads(run(tmp_path, *words, "--json").stdout)
    assert {"all", "ensemble"} <= {note["methods"] for note in report["notes"]}
    assert [note["note"] for note in report["notes"] if "have the inputs of a training" in note["note"]] == [shared[0][len("note: "):]]
    assert all("have the inputs of a training" in "".join(fit["notes"]) for method in report["methods"] for fit in method["runs"])
    grouped = run(tmp_path, *words, "--split", "grouped")
    assert grouped.returncode == 0 and "have the inputs of a training" not in grouped.stderr


def test_notes_that_differ_in_numbers_alone_are_one(tmp_path):
    """Nothing can be learnt: every fit says so, each with its own NLL."""
    draw = random.Random(1)
    write_csv(tmp_path / "noise.csv", ["x1", "x2", "y"], [[draw.random(), 1, draw.gauss(0, 1)] for _ in range(60)])
    done = run(tmp_path, "compare", "noise.csv", "--target", "y", "--methods", "dbk,dnn", "--seeds", 3, "--rank", 8,
               "--threads", 1, "--steps", 500, "--patience", 0)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note")]
    assert len([note for note in notes if "no better than that of one answer" in note]) <= 1
    assert len([note for note in notes if "'x2' is constant" in note]) == 1


def test_numbers_of_a_column_are_written_alike(tmp_path):
    """Errors of dnn and gp-exact around 100,000: no exponent beside a whole number, ± below ±."""
    write_csv(tmp_path / "prices.csv", header(2), [[a, b, 1e5 * (y + 3)] for a, b, y in toy_rows(120)])
    done = run(tmp_path, "compare", "prices.csv", "--target", "y", "--methods", "dbk,dnn,gp-exact", "--seeds", 2, *SMALL)
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.rstrip("\n").split("\n")
    assert len(lines) == 6 and "e+" not in done.stdout
    ends = [match.end() for match in re.finditer(r"\S+", head)]
    for start, end in zip(ends[:-3], ends[1:-2]):  # from the end of a name to that of the next, the mark included
        cells = [line[start + 1:end + 1].rstrip("* ") for line in lines]
        decimals = {len(number.partition(".")[2]) for cell in cells for number in re.findall(r"\d+(?:\.\d+)?", cell)}
        assert len(decimals) == 1, cells
        assert len({cell.find("±") for cell in cells if "±" in cell}) == 1, cells


def test_a_report_has_no_exponents_beside_whole_numbers(tmp_path):
    write_csv(tmp_path / "prices.csv", header(2), [[a, b, 1e5 * (y + 3)] for a, b, y in toy_rows(120)])
    done = run(tmp_path, "fit", "prices.csv", "--target", "y", "--test-fraction", 0.3, *SMALL)
    assert "interval_score at 95 %" in done.stdout and "e+" not in done.stdout
    assert ", standardised validation NLL" in done.stdout
    assert ", standardised validation MSE" in run(tmp_path, "fit", "prices.csv", "--target", "y", "--method", "dnn",
                                                     "--threads", 1, "--steps", 30).stdout


def test_a_comparison_without_test_rows_is_refused_before_it_trains(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(60))
    done = run(tmp_path, "compare", "t.csv", "--target", "y", "--methods", "dnn", "--seeds", 1, "--test-fraction", 0)
    assert done.returncode == 2 and "use a --test-fraction above 0" in done.stderr and "step" not in done.stderr


def test_few_test_rows_are_noted_once(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(60))
    words = ["compare", "t.csv", "--target", "y", "--methods", "constant,ridge"]
    told = run(tmp_path, *words, "--test-fraction", 0.2).stderr
    assert told.count("note: the scores rest on 12 test rows: too few to rank methods; a larger --test-fraction holds out more") == 1
    assert "too few to rank" not in run(tmp_path, *words, "--test-fraction", 0.5).stderr
    assert "too few to rank" not in run(tmp_path, *words, "--cross-validate", 5).stderr  # 60 rows together


def test_methods_around_one_network_train_it_once(tmp_path):
    """The runs are those of comparisons of each method alone, and the seconds contain the training."""
    write_csv(tmp_path / "t.csv", header(2), toy_rows(400))
    words = ["compare", "t.csv", "--target", "y", "--seeds", 2, "--threads", 1, "--steps", 400, "--json"]

    def compared(methods, *more):
        done = run(tmp_path, *words, "--methods", methods, *more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr

    together, told = compared("rich-bll,bll,ntk-gp,dnn")
    # What each fit chose is no note of a comparison; the report of each run has it.
    assert "prior sd" not in told
    assert all("prior sd" in run["facts"][-1] for entry in together["methods"][:3] for run in entry["runs"])
    notes = [line for line in told.splitlines() if "network that was trained before in this comparison" in line]
    assert len(notes) == 1 and notes[0].startswith("note (bll, ntk-gp): ")  # dnn scales its inputs otherwise
    for entry in together["methods"][:4]:  # the rest are the plain methods, which take no steps
        alone, _ = compared(entry["method"])
        for ours, its in zip(entry["runs"], alone["methods"][0]["runs"]):
            shared = ours.pop("seconds_shared", 0)
            assert (shared > 0) == (entry["method"] in ("bll", "ntk-gp")) and ours.pop("seconds") > shared
            its.pop("seconds")
            ours["notes"] = [note for note in ours["notes"] if "trained before in this comparison" not in note]
            assert ours == its
    _, told = compared("rich-bll,dnn,mc-dropout", "--scale", "standard", "--dropout", 0.1)
    assert "note (dnn, mc-dropout): " in told
