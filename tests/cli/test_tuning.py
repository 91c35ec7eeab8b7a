"""--tune and ensembles on the command line: what they tried, killed and resumed, refused where they make no sense."""

import json
import signal
import subprocess

import pytest
from conftest import FEW, TOOL, header, refused, run, toy_rows, write_csv
from test_fit import wait_for

SMALL = ["--rank", "8", "--hidden", "8", "--threads", "1", "--patience", "0"]


def test_tune_says_what_it_tried_and_keeps_the_best(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "dbk", "--json", *SMALL, *FEW]
    done = run(tmp_path, *words, "--tune", "--model", "best")
    assert done.returncode == 0, done.stderr
    tuning = json.loads(done.stdout)["tuning"]
    assert tuning["options"] == ["alpha", "beta"] and tuning["combinations"] == 16 == len(tuning["tried"])
    grid = [0, 0.01, 0.1, 1]
    assert [(t["alpha"], t["beta"]) for t in tuning["tried"]] == [(a, b) for a in grid for b in grid]
    assert tuning["best"] == min(tuning["tried"], key=lambda t: t["valid_nll"])
    assert done.stderr.count("tried ") == 16 and "tried 16 of 16: alpha 1, beta 1: validation NLL" in done.stderr
    facts = json.loads(run(tmp_path, "describe", "best", "--json").stdout)
    assert facts["tuning"] == tuning
    assert {name: facts["options"][name] for name in ("alpha", "beta")} == {n: tuning["best"][n] for n in ("alpha", "beta")}
    text = run(tmp_path, "describe", "best").stdout
    assert text.count("valid_nll") == 16 and text.count("<- chosen") == 1
    chosen = [f"--{name}={tuning['best'][name]}" for name in ("alpha", "beta")]
    assert run(tmp_path, *words, *chosen, "--model", "alone").returncode == 0
    answers = [run(tmp_path, "predict", name, toy / "toy.csv").stdout for name in ("best", "alone")]
    assert answers[0] == answers[1] != ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["alone", "best"]


def test_tune_says_what_the_choice_was_worth(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "dbk", *SMALL, "--tune", "--beta", 0, "--steps", 1500]
    report = json.loads(run(tmp_path, *words, "--json").stdout)["tuning"]
    tried = [entry["valid_nll"] for entry in report["tried"]]
    assert report["spread"] == max(tried) - min(tried) > 0.01
    text = run(tmp_path, *words).stdout
    assert f"tuned: alpha {report['best']['alpha']:g} (validation NLL" in text and "of 4 combinations the best by up to" in text
    done = run(tmp_path, *words[:-4], "--alpha", 0, "--steps", 1, "--learning-rate", 1e-8)  # whatever the weight, nothing moves
    assert "of 4 combinations the best; it made no difference" in done.stdout, done.stdout


def test_a_flag_fixes_its_option(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "dbk", "--json", "--tune", *SMALL, *FEW]
    tuning = json.loads(run(tmp_path, *words, "--alpha", 0.5).stdout)["tuning"]
    assert tuning["options"] == ["beta"] and len(tuning["tried"]) == 4
    assert "leave one of them out" in refused(tmp_path, *words, "--alpha", 0.5, "--beta", 0.5)


def test_nothing_to_tune_and_nothing_to_choose_by(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "dbk", "--tune", *FEW]
    for method in (["auto"], ["dnn"], ["gp-exact"], ["ensemble", "--of", "dnn"]):
        line = refused(tmp_path, "fit", toy / "toy.csv", "--target", "y", "--tune", "--method", *method)
        assert "something to tune" in line and "dbk" in line
    assert "validation rows" in refused(tmp_path, *words, "--valid-fraction", 0)
    for name in ("--alpha", "--beta"):
        line = refused(tmp_path, "fit", toy / "toy.csv", "--target", "y", name, "-0.01", *FEW)
        assert name[2:] in line and "-0.01" in line


def test_rank_above_the_rows(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "dbk", "--threads", 1, *FEW]
    line = refused(tmp_path, *words, "--rank", 271)
    assert "a rank of at most the 270 training rows" in line and "271" in line
    assert run(tmp_path, *words, "--rank", 270).returncode == 0
    write_csv(tmp_path / "short.csv", header(2), toy_rows(30))  # the default rank of 128 is no mistake of the user
    done = run(tmp_path, "fit", "short.csv", "--target", "y", "--method", "dbk", "--threads", 1, *FEW)
    assert done.returncode == 0 and "rank 128 is above the 27 training rows" in done.stderr


def test_ensemble_takes_the_flags_of_its_members(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "ensemble", "--threads", 1, "--json"]
    done = run(tmp_path, *words, "--of", "dbk", "--members", 2, "--rank", 8, *FEW)
    assert done.returncode == 0, done.stderr
    options = json.loads(done.stdout)["options"]
    assert (options["of"], options["members"], options["rank"], options["steps"]) == ("dbk", 2, 8, 50)
    facts = json.loads(run(tmp_path, "describe", "model.safetensors", "--json").stdout)
    assert facts["method"] == "ensemble" and facts["options"] == options
    assert run(tmp_path, "predict", "model.safetensors", toy / "toy.csv").returncode == 0
    assert "--rank" in run(tmp_path, *words[:6], "--of", "dbk", "--help").stdout
    assert "--rank" in refused(tmp_path, *words, "--rank", 8, *FEW)  # dnn has none
    assert "another method" in refused(tmp_path, *words, "--of", "ensemble", *FEW)
    assert "seed" in refused(tmp_path, *words, "--of", "gp-exact")
    assert "dnn" in refused(tmp_path, *words, "--of", "dnnn", *FEW)


def test_compare_runs_an_ensemble_beside_its_member(tmp_path, toy):
    done = run(tmp_path, "compare", toy / "toy.csv", "--target", "y", "--methods", "dnn,ensemble", "--members", 2, "--seeds", 1,
               "--json", *FEW)
    assert done.returncode == 0, done.stderr
    assert [len(entry["runs"]) for entry in json.loads(done.stdout)["methods"]] == [1, 1, 1, 1]  # ridge and constant too


SERIES = {
    "tune": ["--method", "dbk", "--tune", "--alpha", "0.01", *SMALL],
    "ensemble": ["--method", "ensemble", "--members", "8", "--hidden", "8", "--threads", "1", "--patience", "0"],
}


@pytest.mark.parametrize("name", SERIES)
def test_a_series_killed_and_resumed_gives_the_same_bits(tmp_path, name):
    """Killed after the first of several fits: it is not repeated, and the rest ends in the same bits."""
    write_csv(tmp_path / "long.csv", header(2), toy_rows(400))
    words = ["fit", "long.csv", "--target", "y", "--steps", "1000", *SERIES[name]]
    assert run(tmp_path, *words, "--model", "whole").returncode == 0
    process = subprocess.Popen([TOOL, *words, "--model", "m"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    record, part = tmp_path / "m.ckpt", tmp_path / "m.ckpt.0"

    def first_is_kept():
        """The record says that something is finished before the first result itself is written."""
        content = record.read_bytes() if record.exists() else b""
        return b'"results":"1"' in content and (b'"first":"1"' in content or part.exists() and b"finished job" in part.read_bytes())
    wait_for(first_is_kept, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "m").exists() and (tmp_path / "m.ckpt").exists()
    refused(tmp_path, *words, "--model", "m", "--resume", "--seed", "5")
    done = run(tmp_path, *words, "--model", "m", "--resume")
    assert done.returncode == 0, done.stderr
    assert "tried 1 of" not in done.stderr
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "m").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.csv", "m", "whole"]
