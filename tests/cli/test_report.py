"""The page of report: well formed, self-contained, the same bytes twice; its facts against evaluate and predict."""

import html.parser
import json
import math
import random
import re
import xml.etree.ElementTree

import pytest
from conftest import header, predicted, refused, run, toy_rows, write_csv
from inputs import idx, series, squares

NASTY = '<b>&"'


def classes(path, count, seed=1):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        x = draw.gauss(0, 1)
        rows.append([f"{x:.6f}", f"{draw.gauss(0, 1):.6f}", draw.choice("ab"), "high" if x + draw.gauss(0, 0.5) > 0 else "<low>"])
    return write_csv(path, ["x", "z", "site", "label"], rows)


def counts(path, count, seed=1):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        x = draw.uniform(-1, 1)
        left, n = math.exp(-math.exp(1 + x)), 0
        product = draw.random()
        while product > left:
            product *= draw.random()
            n += 1
        rows.append([f"{x:.6f}", n])
    return write_csv(path, ["x", "n"], rows)


def table(path):
    draw = random.Random(3)
    rows = [[*row[:2], draw.choice(["red", "<i>blue</i>"]), row[2]] for row in toy_rows(300)]
    return write_csv(path, ["x0", '"<b>&"""', "colour", "y"], rows)


FITS = {
    "numbers": (table, ["--target", "y", "--method", "dbk", "--test-fraction", 0.3, "--steps", 200]),
    "classes": (lambda path: classes(path, 300), ["--target", "label", "--method", "vbll", "--calibrate", "conformal", "--calibration-fraction", 0.2,
                                                  "--test-fraction", 0.3, "--steps", 200]),
    "counts": (lambda path: counts(path, 300), ["--target", "n", "--likelihood", "poisson", "--method", "vbll", "--test-fraction", 0.3, "--steps", 200]),
    "windows": (series, ["--target", "y", "--time", "time", "--window", 6, "--method", "ridge", "--test-fraction", 0.3]),
}


@pytest.fixture(scope="module", params=list(FITS))
def page(request, tmp_path_factory):
    """Kind, folder with data.csv, model and report.html, and the facts."""
    folder = tmp_path_factory.mktemp(request.param)
    write, words = FITS[request.param]
    write(folder / "data.csv")
    done = run(folder, "fit", "data.csv", "--model", "m.safetensors", "--threads", 1, *words)
    assert done.returncode == 0, done.stderr
    done = run(folder, "report", "m.safetensors", "data.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "report.html"
    done = run(folder, "report", "m.safetensors", "data.csv", "--json")
    assert done.returncode == 0, done.stderr
    return request.param, folder, json.loads(done.stdout)


class Tags(html.parser.HTMLParser):
    """Counts the tags and checks that they nest."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], {}, ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.setdefault(tag, []).append(dict(attrs))

    def handle_startendtag(self, tag, attrs):
        self.seen.setdefault(tag, []).append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_is_well_formed_and_needs_nothing_else(page):
    _, folder, facts = page
    text = (folder / "report.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    xml.etree.ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))  # XML too, and so is each image
    images = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len([image for image in images if 'class="chart"' in image]) >= 4
    for image in images:
        xml.etree.ElementTree.fromstring(image)
    assert "http" not in text and "url(" not in re.sub(r"url\(#\w+\)", "", text)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.seen)
    assert all(link["href"].startswith("#") for link in tags.seen["a"])
    ids = [attrs["id"] for found in tags.seen.values() for attrs in found if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert "nan" not in re.findall(r"[\w.+-]+", "".join(images)) and "inf" not in re.findall(r"[\w.+-]+", "".join(images))
    for part in ("calibration", "pit", "reliability", "selective", "surprising", "importance"):
        if part in facts:
            first = facts[part]["says"].split(",")[0].split(".")[0]
            assert first.replace(" %", "\u00a0%") in tags.text


def test_is_the_same_twice(page):
    _, folder, _ = page
    assert run(folder, "report", "m.safetensors", "data.csv", "--out", "again.html").returncode == 0
    assert (folder / "again.html").read_bytes() == (folder / "report.html").read_bytes()


def test_scores_are_those_of_evaluate(page):
    kind, folder, facts = page
    done = run(folder, "evaluate", "m.safetensors", "data.csv", "--split", "test", "--json")
    report = json.loads(done.stdout)
    assert facts["data"]["part"] == "test" and facts["data"]["scored"] == report["n"]
    for score in facts["scores"]:
        if "persistence" not in score["key"]:
            assert score["value"] == pytest.approx(report[score["key"]], rel=1e-12)
    assert facts.get("coverage_by_size") == report.get("coverage_by_size")
    assert ("conditional" in facts) == (kind in ("numbers", "counts"))
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert ("Coverage by width of the interval" in text) == ("coverage_by_size" in facts)


def test_every_kind_has_its_parts(page):
    kind, _, facts = page
    everywhere = {"card", "scores", "importance", "surprising", "foreign"}
    own = {"numbers": {"predicted", "calibration", "pit", "quarters", "residuals"}, "counts": {"predicted", "calibration", "pit", "quarters", "residuals"},
           "classes": {"reliability", "confusion", "selective", "entropy", "sets"}, "windows": {"forecast", "predicted", "pit"}}
    assert everywhere | own[kind] <= set(facts)
    assert len(facts["surprising"]["rows"]) == 10
    tails = [row["tail"] for row in facts["surprising"]["rows"]]
    assert tails == sorted(tails)
    if kind == "numbers":
        assert [group["column"] for group in facts["groups"]] == ["colour"]
        assert sum(level["rows"] for level in facts["groups"][0]["levels"]) == facts["data"]["scored"]
    if kind == "windows":
        assert len(facts["forecast"]["series"][0]["time"]) == facts["data"]["scored"]


@pytest.mark.parametrize("page", ["numbers"], indirect=True)
def test_surprising_rows_are_rows_of_the_file(page):
    _, folder, facts = page
    answers = predicted(folder, "m.safetensors", "data.csv")
    for row in facts["surprising"]["rows"]:
        assert row["mean"] == pytest.approx(answers["mean"][row["row"] - 1], rel=1e-5)


@pytest.mark.parametrize("page", ["numbers"], indirect=True)
def test_foreign_texts_are_escaped(page):
    _, folder, facts = page
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert NASTY not in text and "<i>" not in text
    assert "&lt;b&gt;&amp;&quot;" in text and "&lt;i&gt;blue&lt;/i&gt;" in text
    assert NASTY in [column["column"] for column in facts["importance"]["columns"]]
    assert all(column["mean"] >= 0 and column["aleatoric"] >= 0 for column in facts["importance"]["columns"])


def test_new_data_are_scored_whole_and_data_of_the_fit_with_a_warning(toy, tmp_path):
    write_csv(tmp_path / "new.csv", header(2), toy_rows(60, seed=9))
    model = toy / "fitted.safetensors"
    new = json.loads(run(tmp_path, "report", model, "new.csv", "--json").stdout)
    assert new["data"]["part"] == "all" and new["data"]["scored"] == 60 and new["warnings"] == []
    done = run(tmp_path, "report", model, toy / "toy.csv", "--split", "all", "--json", "--level", 0.8)
    facts = json.loads(done.stdout)
    assert facts["data"]["scored"] == 300 and len(facts["warnings"]) == 1 and facts["level"] == 0.8
    assert "training rows are scored too" in done.stderr


def test_images_have_parts_without_columns(tmp_path):
    idx(tmp_path / "train-images-idx3-ubyte", *squares(80))
    done = run(tmp_path, "fit", "train-images-idx3-ubyte", "--method", "dnn", "--epochs", 2, "--test-fraction", 0.3, "--threads", 1)
    assert done.returncode == 0, done.stderr
    facts = json.loads(run(tmp_path, "report", "model.safetensors", "train-images-idx3-ubyte", "--json").stdout)
    assert "importance" not in facts and facts["noun"] == "image" and facts["groups"] == []
    assert run(tmp_path, "report", "model.safetensors", "train-images-idx3-ubyte").returncode == 0


def test_refuses_what_it_cannot_report(toy, tmp_path):
    (tmp_path / "toy.csv").write_bytes((toy / "toy.csv").read_bytes())
    (tmp_path / "m.safetensors").write_bytes((toy / "fitted.safetensors").read_bytes())
    assert "swap them" in refused(tmp_path, "report", "toy.csv", "m.safetensors")
    assert "--out to be a file of its own" in refused(tmp_path, "report", "m.safetensors", "toy.csv", "--out", "toy.csv")
    assert "--out to be a file of its own" in refused(tmp_path, "report", "m.safetensors", "toy.csv", "--out", "m.safetensors")
    assert "--split" in refused(tmp_path, "report", "m.safetensors", "toy.csv", "--split", "tests")
    write_csv(tmp_path / "no_target.csv", ["x0", "x1"], [[0.1, 0.2]])
    assert "y" in refused(tmp_path, "report", "m.safetensors", "no_target.csv")


def test_events_are_refused_with_what_takes_them(tmp_path):
    draw = random.Random(1)
    write_csv(tmp_path / "events.csv", ["x"], [[draw.random()] for _ in range(40)])
    done = run(tmp_path, "fit", "events.csv", "--likelihood", "cox", "--domain", "0:1", "--steps", 20, "--threads", 1)
    assert done.returncode == 0, done.stderr
    line = refused(tmp_path, "report", "model.safetensors", "events.csv")
    assert "one of events" in line and "slimbayes evaluate" in line
