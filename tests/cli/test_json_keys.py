"""The keys of the JSON that evaluate, fit, compare and describe print, which are a promise to programs. docs/report-fields.md lists
those of the first three (it is written from the structs, tests/report holds it), describe_keys.txt those of describe: METHOD or FILE
(a model) and the path. With SLIMBAYES_WRITE_PAGES=1 the last test writes the list."""

import json
import os
import pathlib
import random
import re

import pytest
from conftest import ROOT, header, run, toy_rows, write_csv
from inputs import series
from test_segmentation import scenes

FEW = ["--steps", "20", "--threads", "1"]
HELD = ["--test-fraction", "0.2"]
# name: the data, flags of a fit, flags of evaluate. Each has fields that no other has.
FITS = {
    "numbers": ("numbers.csv", ["--target", "y", "--method", "rich-bll", "--calibrate", "conformal", *HELD, *FEW],
                ["--split", "test", "--by", "x0"]),  # 48 rows in five bins: some has fewer than 10
    "tuned": ("numbers.csv", ["--target", "y", "--method", "vbll", "--tune", "--noise-folds", "2", *HELD, *FEW], ["--by", "x0", "--conditional"]),
    "two": ("two.csv", ["--target", "y", "--method", "mc-dropout", "--dropout", "0.1", "--draws", "3", *HELD, *FEW], ["--ood", "far.csv"]),
    "weights": ("weighted.csv", ["--target", "y", "--weights", "w", "--method", "dnn", *HELD, *FEW], ["--split", "test"]),
    "sets": ("three.csv", ["--target", "y", "--method", "dnn", "--calibrate", "conformal", *HELD, *FEW], ["--by", "x1"]),
    "counts": ("counts.csv", ["--target", "y", "--likelihood", "poisson", "--method", "sv-dbk", *HELD, *FEW], []),
    "events": ("events.csv", ["--likelihood", "cox", "--domain", "0:1,0:2", "--ignore", "true_intensity", "--method", "sv-dbk",
                              "--rank", "8", *HELD, *FEW], []),
    "windows": ("series.csv", ["--target", "y", "--window", "6", "--time", "time", "--method", "dnn", *HELD, *FEW], []),
    "adaptive": ("series.csv", ["--target", "y", "--window", "6", "--time", "time", "--method", "dnn", "--calibrate", "adaptive", *HELD, *FEW], []),
    "classes_of_windows": ("days.csv", ["--target", "y", "--window", "6", "--time", "time", "--method", "dnn", *HELD, *FEW], []),
    "pixels": ("scenes.bin", ["--format", "camvid", "--method", "mc-dropout", "--dropout", "0.1", "--draws", "2", "--hidden", "8",
                              "--blocks", "3", "--batch", "4", "--epochs", "6", "--learning-rate", "0.02", *HELD], []),
}
# Fields that these models do not have, with all below them. tests/machines has `ranks`.
RARE = {"evaluate --json": ("conditional.absent", "by[].few.set_size", "by[].few.accuracy", "ood.projectors", "ood.residual_gain",
                             "ood.left_out", "expected_error", "errors.absent", "left_out", "persistence.season"),
        "fit --json": ("ranks", "tuning.interrupted", "tuning.untried", "noise.interrupted", "tuning.tried[].failed", "tuning.best.failed")}
# Objects of describe whose keys are names: of options, of tensors, of layers. `tuning` is that of fit.
OPEN = ("options", "fit", "fingerprint", "network", "tensors", "tuning", "presets", "preset_notes")


def fields(section):
    """{path: may it be absent} of a section of the page."""
    page = (ROOT / "docs" / "report-fields.md").read_text()
    text = page.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return {path: "may be absent" in type for path, type in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.M)}


def paths(value, known, at=""):
    """The paths of all keys in a JSON value, as the page writes them. Without `known`, the page's paths, no object is a map."""
    if isinstance(value, list):
        return set().union(*(paths(one, known, at + "[]") for one in value))
    if not isinstance(value, dict) or (known and at and not any(path.startswith(at + ".") for path in known)):
        return set()
    if any(path.startswith(at + ".*") for path in known):
        return set().union(*(paths(one, known, at + ".*") for one in value.values()))
    found = set()
    for key, one in value.items():
        path = f"{at}.{key}" if at else key
        found |= {path} | paths(one, known, path)
    return found


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The folder with the data and {name: {"fit": ..., "evaluate": ..., "describe": ...}}, the JSON of each model of FITS."""
    folder = tmp_path_factory.mktemp("keys")
    draw = random.Random(1)
    numbers = toy_rows(200)
    write_csv(folder / "numbers.csv", header(2), numbers + numbers[:40])
    write_csv(folder / "far.csv", header(2), [[5 + x, y, z] for x, y, z in toy_rows(30, seed=2)])
    for name, classes in ("two", 2), ("three", 3):
        rows = [[x, y, f"class {min(int((x + 1) * classes / 2 + draw.gauss(0, 0.1)), classes - 1)}"] for x, y, _ in toy_rows(300)]
        write_csv(folder / f"{name}.csv", header(2), [row for row in rows if row[2] != "class -1"])
    write_csv(folder / "weighted.csv", ["w", *header(2)], [[1 + i % 3, *row] for i, row in enumerate(rows)])
    write_csv(folder / "counts.csv", header(1), [[x, int(3 + 2 * x + draw.random())] for x, _ in toy_rows(200, inputs=1)])
    series(folder / "series.csv")
    lines = (folder / "series.csv").read_text().splitlines()
    days = [",".join([*line.split(",")[:-1], "night" if i % 24 < 9 else "day"]) for i, line in enumerate(lines[1:])]
    (folder / "days.csv").write_text("\n".join([lines[0], *days]) + "\n")
    (folder / "scenes.bin").write_bytes(scenes(10))
    assert run(folder, "generate", "cox", "--rows", "200", "--out", "events.csv").returncode == 0
    found = {}
    for name, (data, fit, evaluate) in FITS.items():
        model = f"{name}.safetensors"
        calls = {"fit": [data, "--model", model, *fit], "evaluate": [model, data, *evaluate], "describe": [model]}
        found[name] = {}
        for command, words in calls.items():
            done = run(folder, command, *words, "--json")
            assert done.returncode == 0, done.stderr
            found[name][command] = json.loads(done.stdout)
    for combination in (tuning := found["tuned"]["fit"]["tuning"])["tried"] + [tuning["best"]]:
        assert set(combination) == {*tuning["options"], "valid_nll"}  # names that depend on the method
        for option in tuning["options"]:
            del combination[option]
    return folder, found


@pytest.mark.parametrize("command", ["evaluate", "fit"])
def test_the_page_lists_every_field_and_each_field_is_there(reports, command):
    _, reports = reports
    section = f"{command} --json"
    known = fields(section)
    found = {name: paths(one[command], known) for name, one in reports.items()}
    for name, own in found.items():
        assert own <= set(known), name
    top = {path for path, absent in known.items() if not absent and not re.search(r"[.\[]", path)}
    assert all(top <= own for own in found.values())
    missing = set(known) - set().union(*found.values())
    assert {path for path in missing if "*" not in path and not path.startswith(RARE[section])} == set()


def test_the_metrics_of_a_fit_are_those_of_evaluate(reports):
    _, reports = reports
    known = fields("evaluate --json")
    for name, one in reports.items():
        for part in "test", "valid":
            metrics = paths(one["fit"].get(part, {}), known)
            assert metrics <= set(known), name
            assert part == "valid" or {"n", "nll"} <= metrics, name


@pytest.mark.parametrize("data, flags", [("numbers.csv", ["--repeats", "2"]), ("series.csv", ["--window", "6", "--time", "time"]),
                                         ("numbers.csv", ["--cross-validate", "2"])])
def test_the_page_lists_every_field_of_compare(reports, data, flags):
    folder, reports = reports
    done = run(folder, "compare", data, "--target", "y", "--methods", "ridge,dnn", *flags, "--json", *FEW)
    assert done.returncode == 0, done.stderr
    known = fields("compare --json") | {f"methods[].runs[].{path}": True for path in fields("evaluate --json")}
    found = paths(json.loads(done.stdout), known)
    assert found <= set(known)
    within = tuple(f"{path}." for path in ("forecasts", "leading") if path not in found)
    assert {path for path, absent in known.items() if not absent and not path.startswith(within)} <= found
    assert ("forecasts.*.rmse" in found) == (data == "series.csv")
    assert ("leading.decided" in found) == (data == "numbers.csv")


def test_describe_has_the_keys_of_its_list(reports, tmp_path):
    _, reports = reports
    methods = [json.loads(run(tmp_path, "describe", *words, "--json").stdout) for words in ([], ["sv-dbk"])]
    files = [one["describe"] for one in reports.values()]
    found = {f"{what} {path}" for what, all in (("METHOD", methods), ("FILE", files)) for one in all for path in paths(one, ())
             if not path.startswith(tuple(f"{name}." for name in OPEN))}
    page = pathlib.Path(__file__).parent / "describe_keys.txt"
    if os.environ.get("SLIMBAYES_WRITE_PAGES"):
        page.write_text("".join(f"{path}\n" for path in sorted(found)))
    assert page.read_text().splitlines() == sorted(found)
