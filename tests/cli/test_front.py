"""What the tool answers without its engine: help, the catalogue, wrong use."""

import json
import os
import re
import subprocess
import zipfile

import pytest
from conftest import TOOL, header, refused, run, toy_rows, write_csv

COMMANDS = ["fit", "predict", "evaluate", "report", "explain", "update", "forget", "export", "compare", "rank-advice", "bounds", "methods", "describe",
            "generate", "demo"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(tmp_path, command):
    done = run(tmp_path, command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert f"slimbayes {command}" in done.stdout.split("Examples:")[1]


def test_root_help_and_version(tmp_path):
    text = run(tmp_path, "--help").stdout
    assert all(f"\n  {command}" in text for command in COMMANDS)
    version = run(tmp_path, "--version")
    assert version.returncode == 0 and re.fullmatch(r"slimbayes [0-9.]+( \([0-9a-f]{7,}(-dirty)?\))?\n", version.stdout)


def test_a_dry_run_prints_what_a_fit_would_take(tmp_path):
    """The options are those that the fit itself reports; no table is read."""
    flags = ["--target", "y", "--method", "vbll", "--preset", "paper", "--hidden", "4", "--steps", "2", "--split-seed", "3"]
    dry = run(tmp_path, "fit", "nowhere.csv", *flags, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    recipe = json.loads(dry.stdout)
    assert recipe["method"] == "vbll" and recipe["options"]["hidden"] == 4 and recipe["options"]["noise_floor"] == 1e-6
    assert recipe["inputs"]["split_seed"] == 3 and recipe["inputs"]["scale"] == "min-max"
    fit = run(tmp_path, "fit", write_csv(tmp_path / "t.csv", header(2), toy_rows(60)), *flags, "--json")
    assert json.loads(fit.stdout)["options"] == recipe["options"]


def test_a_dry_run_names_the_default_method_of_the_likelihood(tmp_path):
    for likelihood, method in (("gaussian", "auto"), ("bernoulli", "auto"), ("poisson", "auto")):
        dry = run(tmp_path, "fit", "nowhere.csv", "--target", "y", "--likelihood", likelihood, "--dry-run")
        assert json.loads(dry.stdout)["method"] == method


@pytest.mark.parametrize("words, sentence", [
    (["--target", "y", "--text", "t", "--scale", "standard"], "expected options of text input; received --scale"),
    (["--target", "y", "--text", "t", "--network", "mlp"], "expected a network for text; received 'mlp'; transformer and bag_of_words take it"),
    (["--target", "y", "--window", "4"], "expected a column of times for --window"),
    (["--target", "y", "--method", "gp-exact", "--window", "4", "--time", "t"], "expected an input that gp-exact takes, table; received windows"),
    (["--target", "y", "--method", "dbk", "--likelihood", "poisson"], "expected a task that dbk takes, regression; received counts"),
    (["--target", "y", "--likelihood", "cox"], "no target for events; received 'y'"),
    (["--target", "y", "--ignore", "y"], "a target that is not among the ignored columns"),
    (["--target", "y", "--crop", "4"], "received --crop, which belongs to 'Images'"),
    (["--target", "y", "--pixel-divisor", "126"], "received --pixel-divisor, which belongs to 'Images'"),
    (["--format", "idx", "--method", "dbk"], "expected an input that dbk takes, table, windows, text; received images"),
])
def test_what_needs_no_table_is_refused_by_a_dry_run_too(tmp_path, words, sentence):
    for more in ([], ["--dry-run"]):
        assert sentence in refused(tmp_path, "fit", "nowhere.csv", *words, *more)


def test_a_dry_run_splits_lists_and_says_what_only_the_table_could_tell(tmp_path):
    def recipe(*words):
        return json.loads(run(tmp_path, "fit", "nowhere.csv", "--target", "y", "--ignore", "a, b", "--ignore", "c", "--dry-run", *words).stdout)
    assert recipe()["inputs"]["ignore"] == ["a", "b", "c"]
    assert all("notes" not in recipe(*words) for words in ([], ["--method", "dbk"], ["--likelihood", "bernoulli"]))


def test_methods_name_the_inputs_that_can_work(tmp_path):
    inputs = {method["name"]: method["inputs"] for method in json.loads(run(tmp_path, "methods", "--json").stdout)}
    for name in ("dbk", "dbk-exact", "pp-dkl"):
        assert inputs[name] == ["table", "windows", "text"]
    assert all("images" in inputs[name] for name in ("vbll", "sv-dkl", "sv-dbk", "dnn", "ensemble"))


def test_a_table_is_no_model(tmp_path):
    write_csv(tmp_path / "a.csv", header(2), toy_rows(30))
    for words in (["describe", "a.csv"], ["predict", "a.csv", "a.csv"], ["evaluate", "a.csv", "a.csv"]):
        assert "a.csv: expected a model file" in refused(tmp_path, *words)


def test_a_module_of_pytorch_is_no_model_either(tmp_path):
    with zipfile.ZipFile(tmp_path / "net.pt", "w") as archive:
        archive.writestr("net/data.pkl", "none")
    write_csv(tmp_path / "a.csv", header(2), toy_rows(30))
    for words in (["fit", "a.csv", "--network-from", "net.pt"], ["predict", "net.pt", "a.csv"], ["describe", "net.pt"]):
        line = refused(tmp_path, *words)
        assert line.startswith("error: net.pt: ") and "a TorchScript module enters through C++ (docs/trained-network.md)" in line


def test_evaluate_explains_its_scores(tmp_path):
    text = run(tmp_path, "evaluate", "--help").stdout
    for score in ("epistemic_sd", "mutual_information", "entropy", "max_softmax", "log_rate_sd", "outside", "distance"):
        assert re.search(rf"^ +.*{score}.*: ", text, re.MULTILINE), score


@pytest.mark.parametrize(("words", "value"), [
    (["--flip", "a-images-idx3-ubyte"], True),
    (["--flip", "a-images-idx3-ubyte", "--crop", "2"], True),
    (["a-images-idx3-ubyte", "--flip"], True),
    (["a-images-idx3-ubyte", "--flip", "true"], True),
    (["--flip", "false", "a-images-idx3-ubyte"], False),
    (["a-images-idx3-ubyte", "--flip=false"], False),
    (["a-images-idx3-ubyte"], False),
])
def test_a_boolean_flag_takes_no_file_for_its_value(tmp_path, words, value):
    done = run(tmp_path, "fit", *words, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"]["flip"] is value


def test_a_boolean_option_of_a_method_takes_its_value_as_before(tmp_path):
    for words, value in ([], True), (["--correction", "false"], False), (["--correction"], True):
        done = run(tmp_path, "fit", "--method", "sv-dbk", *words, "t.csv", "--target", "y", "--dry-run")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["options"]["correction"] is value
    assert "boolean" in refused(tmp_path, "fit", "t.csv", "--target", "y", "--method", "sv-dbk", "--correction=perhaps")


def test_help_of_a_method_lists_its_options(tmp_path):
    for method, flag in [("dbk", "--noise-floor"), ("gp-exact", "--max-rows")]:
        text = run(tmp_path, "fit", "--method", method, "--help").stdout
        assert f"Options of {method}:" in text and flag in text and "default" in text
    assert "--rank" not in run(tmp_path, "fit", "--method", "gp-exact", "--help").stdout


def headings(text):
    return re.findall(r"^([A-Z].*):$", text, re.MULTILINE)


def test_help_without_a_method_shows_what_most_methods_have(tmp_path):
    """The flags of the candidates of auto are not shown as if they were fit's own, but they are taken."""
    for words in (["fit"], ["compare"]):
        text = run(tmp_path, *words, "--help").stdout
        assert "Options of most methods, with the defaults of vbll" in headings(text) and not any(one.startswith("Options of vbll") for one in headings(text))
        assert any(one.startswith("Options of auto") for one in headings(text))
        assert all(flag in text for flag in ("--steps", "--learning-rate", "--network", "--hidden", "--patience"))
        assert not any(flag in text for flag in ("--rank", "--alpha", "--focus", "--noise-form", "--draws"))
        assert f"slimbayes {words[0]} --method" in text and "slimbayes methods" in text
    dry = run(tmp_path, "fit", "t.csv", "--target", "y", "--rank", "7", "--focus", "1", "--dry-run")
    assert json.loads(dry.stdout)["options"]["passed_on"] == {"rank": 7, "focus": 1}
    assert "Options of rich-bll" in headings(run(tmp_path, "fit", "t.csv", "--network-from", "m", "--help").stdout)
    text = run(tmp_path, "compare", "--methods", "swag,gp-exact", "--help").stdout
    assert "--swag-rate" in text and "--max-rows" in text and "--rank" not in text


def test_describe_without_a_name_lists_the_methods(tmp_path):
    for more in ([], ["--json"]):
        listed = run(tmp_path, "describe", *more)
        assert listed.returncode == 0 and listed.stdout == run(tmp_path, "methods", *more).stdout


def test_methods_as_json(tmp_path):
    methods = json.loads(run(tmp_path, "methods", "--json").stdout)
    assert {"dbk", "dnn", "gp-exact"} <= {method["name"] for method in methods}


def test_every_flag_of_fit_comes_from_the_catalogue(tmp_path):
    for method in json.loads(run(tmp_path, "methods", "--json").stdout):
        options = json.loads(run(tmp_path, "describe", method["name"], "--json").stdout)["options"]
        text = run(tmp_path, "fit", "--method", method["name"], "--help").stdout
        for option in options:
            assert "--" + option["name"].replace("_", "-") in text


def test_describe_prints_what_the_preset_sets(tmp_path):
    preset = json.loads(run(tmp_path, "describe", "dbk", "--json").stdout)["presets"]["paper"]
    assert preset["batch"] == 1024 and preset["epochs"] == 400
    text = run(tmp_path, "describe", "dbk").stdout.partition("--preset paper sets\n")[2]
    settings, _, notes = text.partition("  the rest of the paper's experiment\n")
    assert [line.split()[0] for line in settings.splitlines()] == sorted(preset)
    assert "--valid-fraction 0.1 --test-fraction 0.1 --split random" in " ".join(notes.split()), "what a preset can't set is named with its flags"


def test_the_flags_that_presets_name_exist(tmp_path):
    """Each note of a preset names flags of `fit` or of its method."""
    found = 0
    known = set(re.findall(r"--[a-z][a-z-]*", run(tmp_path, "fit", "--help").stdout))
    for method in json.loads(run(tmp_path, "methods", "--json").stdout):
        facts = json.loads(run(tmp_path, "describe", method["name"], "--json").stdout)
        own = {"--" + option["name"].replace("_", "-") for option in facts["options"]}
        for name, about in facts["preset_notes"].items():
            named = re.findall(r"--[a-z][a-z-]*", " ".join(about["notes"]))
            found += len(named)
            assert set(named) <= known | own, (method["name"], name, named)
    assert found > 50, "the notes name their options as flags"


def test_front_needs_no_tensor_library(tmp_path):
    maps = run(tmp_path, "methods", env={**os.environ, "LD_DEBUG": "libs"}).stderr
    assert "libstdc++" in maps and "libtorch" not in maps and "libarrow" not in maps and "libslimbayes" not in maps


@pytest.mark.parametrize("words, hint", [
    (["fti"], "did you mean 'fit'?"),
    (["fit", "a.csv", "--trget", "y"], "did you mean '--target'?"),
    (["fit", "a.csv", "--target", "y", "--method", "dkb"], "did you mean 'dbk'?"),
    (["fit", "a.csv", "--target", "y", "--rank", "0"], "an integer from 1 to 4096"),
    (["fit", "a.csv", "--target", "y", "--rank", "many"], "integer"),
    (["fit", "a.csv", "--target", "y", "--schedule", "constnat"], "did you mean 'constant'?"),
    (["fit", "a.csv", "--target", "y", "--method", "gp-exact", "--rank", "3"], "--rank"),
    (["fit", "a.csv", "--target", "y", "--network", "mlp", "--heads", "3"], "network mlp; received --heads, which belongs to transformer"),
    (["fit", "a.csv", "--target", "y", "--method", "ensemble", "--heads", "2"], "--heads, which belongs to transformer"),
    (["fit", "a.csv", "--target", "y", "--dry-run", "--heads", "4"], "network tabular_resnet; received --heads"),
    (["compare", "a.csv", "--target", "y", "--heads", "3"], "network tabular_resnet; received --heads"),
    (["fit", "a.csv"], "a.csv: cannot open"),
    (["fit", "a.csv", "--target", "y", "--valid-fraction", "nan"], "nan"),
    (["fit", "a.csv", "--target", "y", "--valid-fraction", "1"], "below 1"),
    (["fit", "a.csv", "--target", "y", "--valid", "b.csv", "--valid-fraction", "0.2"], "--valid"),
    (["predict", "m", "d", "--level", "1"], "a probability above 0 and at most 0.999"),
    (["evaluate", "m", "d", "--split", "tset"], "test"),
    (["predict", "d.csv", "m.safetensors"], "swap them"),
    (["evaluate", "d.csv", "m.safetensors"], "swap them"),
    (["compare", "a.csv", "--target", "y", "--methods", "dbk,dnm"], "did you mean 'dnn'?"),
    (["describe", "dbkk"], "did you mean 'dbk'?"),
    (["describe", "absent.safetensors"], "absent.safetensors"),
    (["--bogus"], "--bogus"),
    (["predict", "m"], "expected `slimbayes predict MODEL DATA`; received no DATA; see `slimbayes predict --help`"),
    (["bounds", "m", "d", "e"], "expected `slimbayes bounds MODEL DATA` and its flags; received 'e' too; leave it out"),
    (["fit", "a.csv", "-x"], "received '-x' too"),
    (["fit", "a.csv", "--target"], "expected a value of --target; received none"),
    (["fit", "a.csv", "--target", "y", "--target", "z"], "expected --target once; received it 2 times"),
    (["fit", "a.csv", "--target", "y", "--seed", "-1"], "expected a seed from 0 to 18446744073709551615 for --seed; received '-1'"),
    (["fit", "a.csv", "--target", "y", "--threads", "all"], "expected a number of cores from 0 to 4096 for --threads; received 'all'"),
    (["fit", "a.csv", "--target", "y", "--max-table-memory", "5Q"], "expected a size, such as 500M or 8G for --max-table-memory; received '5Q'"),
    (["fit", "a.csv", "--target", "y", "--preset", "papr"], "for --preset; received 'papr'; did you mean 'paper'?"),
    (["compare", "a.csv", "--target", "y", "--seeds", "0"], "expected a number of seeds from 1 to 1000 for --seeds; received '0'"),
    (["methods", "all"], "expected `slimbayes methods` and its flags; received 'all' too"),
    ([], "--help"),
])
def test_wrong_use_is_one_line_with_a_hint(tmp_path, words, hint):
    assert hint in refused(tmp_path, *words)


def test_full_or_closed_stdout_fails_with_one_line(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TOOL, "methods"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    done = subprocess.run(f"exec '{TOOL}' methods >&-", shell=True, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


def test_a_fit_in_little_memory_ends_in_order(tmp_path):
    write_csv(tmp_path / "a.csv", header(2), toy_rows(300))
    done = subprocess.run(f"ulimit -v 2097152; exec '{TOOL}' fit a.csv --target y --threads 1 --steps 50", shell=True,
                          capture_output=True, text=True, cwd=tmp_path, executable="/bin/bash", timeout=120)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    if done.returncode == 0:
        assert errors == [] and (tmp_path / "model.safetensors").exists()
    else:
        assert done.returncode == 1 and len(errors) == 1, (done.returncode, done.stderr)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv"]


def test_an_engine_that_cannot_be_loaded_is_one_line(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    done = subprocess.run(f"ulimit -v 60000; exec '{TOOL}' fit a.csv --target y", shell=True, stderr=subprocess.PIPE,
                          text=True, cwd=tmp_path, executable="/bin/bash")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: the engine could not be loaded")


def test_a_flag_of_another_method_names_its_methods(tmp_path):
    assert "an option of --method dbk" in refused(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dnn", "--alpha", "1")
    assert "an option of" not in refused(tmp_path, "predict", "m", "t.csv", "--alpha", "1")
