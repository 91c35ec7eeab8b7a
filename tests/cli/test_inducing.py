"""Networks with inducing weights on the command line: sizes, the layers that are random, and the score of foreign rows."""

import json

import pytest
from conftest import header, refused, run, toy_rows, write_csv
from inputs import idx, squares

FIT = ["fit", "train-images-idx3-ubyte", "--model", "m", "--network", "convnet", "--hidden", 8, "--batch", 32, "--threads", 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inducing")
    idx(folder / "train-images-idx3-ubyte", *squares(200))
    idx(folder / "test-images-idx3-ubyte", *squares(40, seed=3))
    images, _ = squares(30, seed=4)
    idx(folder / "light-images-idx3-ubyte", [[[255 - p for p in row] for row in image] for image in images])
    done = run(folder, *FIT, "--method", "fid-gp", "--inducing-rows", 6, "--inducing-columns", 5, "--epochs", 8)
    assert done.returncode == 0, done.stderr
    assert "the KL to the prior is" in done.stderr and "the price of the limit" in done.stderr, done.stderr
    return folder


def test_describe_counts_each_layer_by_the_formula(folder):
    done = run(folder, "describe", "m", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert [one["layer"] for one in facts["layers"]] == ["conv1", "conv2", "conv3", "conv4", "linear1", "output"]
    for one in facts["layers"]:
        r, c, out, inputs = (one[key] for key in ("rows", "columns", "out", "in"))
        assert (r, c) == ((2 if one["layer"] == "output" else 6), 5)
        flow = 16 * c + 16 + 16 * c + c + c  # the certified flow: one hidden layer of 16 units, and a scale
        assert one["parameters"] == r * out + c * inputs + 2 * r * c + (r + c) + 1 + flow
        assert one["dense"] == out * inputs
    text = run(folder, "describe", "m").stdout
    together = next(line for line in text.splitlines() if line.startswith("  together")).split()
    assert int(together[2]) == sum(one["parameters"] for one in facts["layers"])
    assert int(together[4]) == 4 * int(together[2])  # bytes
    assert [one["layer"] for one in facts["ood_layers"]] == ["conv3", "linear1"]
    bytes_of_score = 4 * facts["ood_layers"][0]["numbers"]
    assert f"for the score of foreign rows at conv3: {facts['ood_layers'][0]['numbers']} numbers, {bytes_of_score} bytes" in text
    assert "uncertified" not in text


def test_the_flow_of_the_paper_is_called_uncertified(folder):
    done = run(folder, "fit", "train-images-idx3-ubyte", "--method", "fid-gp", "--network", "convnet", "--hidden", "4", "--steps", "4",
               "--flow", "paper", "--model", "paper")
    assert done.returncode == 0, done.stderr
    assert "the paper's flow is uncertified" in run(folder, "describe", "paper").stdout
    assert json.loads(run(folder, "describe", "paper", "--json").stdout)["layers"][0]["flow"] == "paper"


def test_a_projector_that_cannot_leave_anything_gives_no_residual(folder):
    done = run(folder, "fit", "train-images-idx3-ubyte", "--method", "fid-gp", "--network", "convnet", "--hidden", "4", "--steps", "4",
               "--inducing-rows", "1", "--inducing-columns", "1", "--model", "one")
    assert done.returncode == 0, done.stderr
    text = run(folder, "evaluate", "one", "test-images-idx3-ubyte", "--ood", "light-images-idx3-ubyte").stdout
    assert "leaves nothing, so there is no residual: fit with more --inducing-columns" in text
    assert "residual beside gradient_norm" not in text and "gradient_norm" in text


def test_foreign_images_are_scored_with_the_control_and_the_ranks(folder):
    done = run(folder, "evaluate", "m", "test-images-idx3-ubyte", "--ood", "light-images-idx3-ubyte", "--json")
    assert done.returncode == 0, done.stderr
    ood = json.loads(done.stdout)["ood"]
    assert set(ood["auroc"]) == {"distance", "energy", "entropy", "gradient_norm", "max_softmax", "mutual_information", "projected_norm",
                                 "relative_residual", "residual"}
    assert ood["residual_gain"] == pytest.approx(ood["auroc"]["residual"] - ood["auroc"]["gradient_norm"])
    assert [one["layer"] for one in ood["projectors"]] == ["conv3", "linear1"]
    text = run(folder, "evaluate", "m", "test-images-idx3-ubyte", "--ood", "light-images-idx3-ubyte").stdout
    assert "residual beside gradient_norm, which needs no inducing weights: AUROC" in text
    assert "residual at conv3: the projector has rank" in text and "of 5" in text


def test_the_scores_are_drawn_as_histograms_of_every_row(folder):
    words = ["evaluate", "m", "test-images-idx3-ubyte", "--ood", "light-images-idx3-ubyte", "--json"]
    plain, plotted = (run(folder, *words, *more).stdout for more in ([], ["--plots", "plots"]))
    ood = json.loads(plain)["ood"]
    assert plain == plotted and set(ood["histogram"]) == set(ood["auroc"])
    for bins in ood["histogram"].values():
        assert (sum(bins["inside"]), sum(bins["outside"])) == (40, 30) and bins["low"] < bins["high"]
    picture = (folder / "plots" / "scores.svg").read_text()
    best = sorted(ood["auroc"], key=lambda score: (-ood["auroc"][score], score))[:3]
    assert all(score in picture for score in best) and f"AUROC {ood['auroc'][best[0]]:.3f}" in picture and "nan" not in picture


@pytest.mark.parametrize("words, said", [
    (["--bayesian-layers", "layer2.1.conv2"], "received 'layer2.1.conv2'; its layers are conv1, conv2, conv3, conv4, linear1, output"),
    (["--ood-layers", "conv9"], "received 'conv9'; they are conv1"),
    (["--start-noise", "0.5"], "below most_noise"),
    (["--inducing-rows", "5000"], "--inducing-rows"),
])
def test_options_that_do_not_fit_say_what_does(folder, words, said):
    assert said in refused(folder, *FIT, "--method", "fid-gp", *words, "--epochs", 1)


def test_only_the_layers_that_are_named_are_random(folder):
    done = run(folder, *FIT[:2], *FIT[4:], "--model", "some", "--method", "ffg-u", "--bayesian-layers", "conv4,linear1", "--epochs", 2)
    assert done.returncode == 0, done.stderr
    layers = json.loads(run(folder, "describe", "some", "--json").stdout)["layers"]
    assert [one["layer"] for one in layers] == ["conv4", "linear1"]


def test_a_bound_of_independent_weights_is_refused(folder):
    assert "inducing weights" in refused(folder, "bounds", "m", "test-images-idx3-ubyte")


@pytest.mark.parametrize("method", ["fid-gp", "fid-gp-reparam", "ffg-u"])
def test_a_table_is_fitted_and_answered(tmp_path, method):
    write_csv(tmp_path / "toy.csv", header(3), toy_rows(200, inputs=3))
    done = run(tmp_path, "fit", "toy.csv", "--target", "y", "--method", method, "--network", "mlp", "--hidden", 12, "--batch-norm",
               "true", "--steps", 300, "--noise-folds", 0, "--threads", 1, "--model", "m")
    assert done.returncode == 0, done.stderr
    answer = run(tmp_path, "predict", "m", "toy.csv")
    assert answer.returncode == 0 and "sd_epistemic" in answer.stdout.splitlines()[0], answer.stderr
