"""bounds: numbers against numpy, and what the output says of its assumptions."""

import json
import math

import numpy
import pytest
from conftest import header, refused, run, toy_rows, write_csv
from inputs import reviews, series
from safetensors.numpy import load_file

SMALL = ["--hidden", "12", "--blocks", "2", "--threads", "1", "--network", "mlp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bounds")
    rows = toy_rows(400, inputs=3)
    write_csv(folder / "t.csv", header(3), rows)
    write_csv(folder / "c.csv", header(3), [[*row[:-1], "ab"[row[-1] > 0]] for row in rows])
    split = ["--test-fraction", "0.5"]
    for model, words in {
        "dnn": ["t.csv", "--method", "dnn", "--steps", "100"],
        "rank": ["t.csv", "--method", "low-rank", "--steps", "100", "--rank", "3", "--factored", "all"],
        "class": ["c.csv", "--method", "low-rank", "--steps", "600", "--rank", "3", "--prior", "mixture", "--beta", "0.01"],
        "one": ["c.csv", "--method", "rank-1", "--steps", "100"],
    }.items():
        done = run(folder, "fit", words[0], "--target", "y", "--model", f"{model}.safetensors", *SMALL, *words[1:], *split)
        assert done.returncode == 0, done.stderr
    return folder


def bounds(folder, model, data, *words):
    done = run(folder, "bounds", f"{model}.safetensors", data, "--json", *words)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return report, {one["name"]: one for one in report["bounds"]}


def test_truncation_has_the_norms_of_the_weights(folder):
    weights = load_file(folder / "dnn.safetensors")
    w = [weights[f"network.{i}.weight"].astype(numpy.float64) for i in (0, 2, 4)]
    norms = [numpy.linalg.norm(one, 2) for one in w]
    report, found = bounds(folder, "dnn", "t.csv", "--ranks", "1,2", "--split", "test")
    assert report["split"] == "test" and report["rows"] == 200
    matrices = found["truncation"]["matrices"]
    silu = 1.09984
    for one, downstream, matrix in zip(matrices, [silu * norms[1] * silu * norms[2], silu * norms[2], 1], w):
        assert math.isclose(one["downstream"], downstream, rel_tol=1e-9)
        s = numpy.linalg.svd(matrix, compute_uv=False)
        for rank in one["ranks"]:
            rest = s[rank["rank"]:]
            assert math.isclose(rank["sigma"], rest[0] if len(rest) else 0, rel_tol=1e-9)
            assert math.isclose(rank["tail"], math.sqrt((rest**2).sum()), rel_tol=1e-9)
            assert math.isclose(rank["outputs"], one["input_norm"] * downstream * rank["sigma"], rel_tol=1e-9)
            assert rank["outputs"] <= rank["outputs_by_tail"] * (1 + 1e-12)
    assert [loss["name"] for loss in found["truncation"]["losses"]] == ["absolute error", "half squared error"]
    assert not found["truncation"]["certificate"] and status(found["truncation"], "come from one network") == []
    assert found["pac_bayes"]["no_bound"].startswith("dnn has no distribution of the weights")


def test_the_certificate_has_the_numbers_of_its_formula(folder):
    # A network of eleven weights, whose KL is small for 200 rows, so that the bound is clearly below 1.
    done = run(folder, "fit", "c.csv", "--target", "y", "--method", "low-rank", "--steps", "600", "--rank", "1", "--network", "mlp",
               "--hidden", "2", "--blocks", "1", "--beta", "1", "--threads", "1", "--test-fraction", "0.5", "--model", "little.safetensors")
    assert done.returncode == 0, done.stderr
    _, found = bounds(folder, "little", "c.csv", "--split", "test", "--draws", "400", "--delta", "0.1", "--ranks-tried", "3")
    one = found["pac_bayes"]
    assert one["rows"] == 200 and one["draws"] == 400 and one["tried"] == 3 and 0 <= one["risk"] < 0.6
    assert math.isclose(one["complexity"], (one["kl"] + math.log(4 * 3 * math.sqrt(200) / 0.1)) / 200, rel_tol=1e-12)

    def kl(q, p):
        return sum(a * math.log(a / b) for a, b in [(q, p), (1 - q, 1 - p)] if a > 0)

    assert math.isclose(kl(one["risk"], one["sampled_risk"]), math.log(2 * 3 / 0.1) / 400, rel_tol=1e-6)
    assert not one["vacuous"] and one["bound"] < 0.95
    assert math.isclose(kl(one["sampled_risk"], one["bound"]), one["complexity"], rel_tol=1e-6)
    assert one["risk"] <= one["sampled_risk"] <= one["bound"] <= one["mcallester"] + 1e-12


def test_the_kl_is_that_of_the_stored_factors(folder):
    weights = {name: value.astype(numpy.float64) for name, value in load_file(folder / "class.safetensors").items()}
    _, found = bounds(folder, "class", "c.csv", "--split", "test", "--draws", "2")
    plan = json.loads(plan_of(folder / "class.safetensors"))
    total = 0
    for site, law in plan["sites"].items() if "sites" in plan else plan.items():
        prior = law["prior"]
        names = [f"{site}.a", f"{site}.b"] if law["structure"] == "low_rank" else [site]
        for name in names:
            mean, sd = weights[name], numpy.logaddexp(0, weights[f"{name}.spread"])
            parts = [0.5 * ((sd / own)**2 + (mean / own)**2 - 1) - numpy.log(sd / own) - math.log(share)
                     for share, own in [(prior["share"], prior["wide"]), (1 - prior["share"], prior["narrow"])]]
            total += numpy.minimum(*parts).sum()
    assert math.isclose(found["pac_bayes"]["kl"], total, rel_tol=1e-9)


def plan_of(path):
    raw = path.read_bytes()
    return json.loads(raw[8: 8 + int.from_bytes(raw[:8], "little")])["__metadata__"]["weight_plan"]


def status(one, words):
    return [a["status"] for a in one["assumptions"] if words in a["text"]]


def test_only_rows_that_the_encoder_has_not_seen_give_a_certificate(folder):
    report_of_train, train = bounds(folder, "class", "c.csv")
    assert "held_out" not in train["pac_bayes"]
    assert not train["pac_bayes"]["certificate"] and status(train["pac_bayes"], "the encoder") == ["violated"]
    _, test = bounds(folder, "class", "c.csv", "--split", "test")
    assert test["pac_bayes"]["sampled_risk"] < test["pac_bayes"]["held_out"] < test["pac_bayes"]["bound"]
    assert test["pac_bayes"]["certificate"] and status(test["pac_bayes"], "the encoder") == ["holds"]
    assert status(test["pac_bayes"], "independent draws of one distribution") == ["not verifiable"]
    write_csv(folder / "new.csv", header(3), [[*row[:-1], "ab"[row[-1] > 0]] for row in toy_rows(50, inputs=3, seed=9)])
    report, new = bounds(folder, "class", "new.csv")
    assert "split" not in report and status(new["pac_bayes"], "the encoder") == ["not verifiable"]
    text = run(folder, "bounds", "class.safetensors", "c.csv").stdout
    assert text.splitlines()[0] == f"{report_of_train['rows']} train rows"
    assert "not a certificate: an assumption is violated" in text and "assumes (violated): " in text
    assert "source: " in text and "assumes (not verifiable): " in text
    assert "a certificate if the assumptions" in run(folder, "bounds", "class.safetensors", "c.csv", "--split", "test").stdout


def test_an_encoder_that_saw_every_row_gives_no_certificate(folder):
    words = ["--target", "y", "--method", "low-rank", "--steps", "20", "--rank", "3", "--scale-on", "all", "--test-fraction", "0.5"]
    done = run(folder, "fit", "c.csv", "--model", "all.safetensors", *words, *SMALL)
    assert done.returncode == 0, done.stderr
    for part in ["train", "valid", "test"]:
        one = bounds(folder, "all", "c.csv", "--split", part, "--draws", "2")[1]["pac_bayes"]
        assert status(one, "the encoder") == ["violated"] and not one["certificate"] and "held_out" not in one
    assert "--scale-on all" in run(folder, "bounds", "all.safetensors", "c.csv", "--split", "test").stdout


def test_an_encoder_of_another_model_is_not_verifiable(folder):
    split = ["--test-fraction", "0.5", "--steps", "20", "--model"]
    done = run(folder, "fit", "c.csv", "--target", "y", "--method", "dnn", *SMALL, *split, "source.safetensors")
    assert done.returncode == 0, done.stderr
    done = run(folder, "fit", "c.csv", "--network-from", "source.safetensors", "--method", "low-rank-svd", "--rank", "3", "--threads",
               "1", "--steps", "20", "--model", "around.safetensors")
    assert done.returncode == 0, done.stderr
    one = bounds(folder, "around", "c.csv", "--split", "test", "--draws", "2")[1]["pac_bayes"]
    assert status(one, "the encoder") == ["not verifiable"] and "held_out" not in one
    assert status(bounds(folder, "around", "c.csv", "--draws", "2")[1]["pac_bayes"], "the encoder") == ["violated"]


def test_tuning_of_the_posterior_alone_costs_nothing(folder):
    done = run(folder, "fit", "c.csv", "--target", "y", "--method", "low-rank", "--steps", "10", "--rank", "3", "--tune", "--model",
               "tuned.safetensors", "--test-fraction", "0.5", *SMALL)
    assert done.returncode == 0, done.stderr
    one = bounds(folder, "tuned", "c.csv", "--draws", "2")[1]["pac_bayes"]
    assert status(one, "--tune chose no option of the prior") == ["holds"]


def test_a_posterior_mean_is_not_the_networks_answer(folder):
    for model, data, words in [("mean", "t.csv", ["--method", "rich-bll", "--mean", "posterior"]),
                               ("laplace", "c.csv", ["--method", "last-layer-laplace"])]:
        done = run(folder, "fit", data, "--target", "y", "--steps", "40", "--model", f"{model}.safetensors", *words, *SMALL)
        assert done.returncode == 0, done.stderr
    _, found = bounds(folder, "mean", "t.csv")
    assert found["truncation"]["losses"] == [] and "not the answers" in found["truncation"]["no_loss"]
    assert status(found["truncation"], "the answers are the outputs of the network") == ["violated"]
    _, found = bounds(folder, "laplace", "c.csv")
    assert [loss["name"] for loss in found["truncation"]["losses"]] == ["cross entropy"]
    assert status(found["truncation"], "come from one network") == ["violated"]
    assert status(found["truncation"], "the answers are the outputs of the network") == []


def test_trained_weights_that_are_not_random_are_no_certificate(folder):
    _, found = bounds(folder, "one", "c.csv", "--split", "test")
    assert status(found["pac_bayes"], "every trained weight is random") == ["violated"]
    assert not found["pac_bayes"]["certificate"]


def test_numbers_need_a_clip_and_a_vacuous_bound_says_so(folder):
    _, found = bounds(folder, "rank", "t.csv", "--split", "test")
    assert "--clip" in found["pac_bayes"]["no_bound"]
    _, found = bounds(folder, "rank", "t.csv", "--split", "test", "--clip", "2")
    one = found["pac_bayes"]
    assert "in the target's units" in one["loss"] and 0 < one["risk"] < 1
    assert not one["vacuous"]
    words = ["--split", "test", "--clip", "1e-9"]  # every error is a full failure
    one = bounds(folder, "rank", "t.csv", *words)[1]["pac_bayes"]
    assert one["risk"] == 1 and one["bound"] == 1 and one["vacuous"]
    assert "; vacuous: " in run(folder, "bounds", "rank.safetensors", "t.csv", *words).stdout
    assert "vacuous" not in run(folder, "bounds", "class.safetensors", "c.csv", "--split", "test").stdout


def test_the_gaussian_complexity_is_a_value(folder):
    _, found = bounds(folder, "rank", "t.csv", "--split", "test", "--c0", "2")
    assert status(found["truncation"], "come from one network") == ["violated"]
    one = found["gaussian_complexity"]
    silu = 1.09984
    weights = load_file(folder / "rank.safetensors")
    products = [weights[f"network.{i}.weight.a"].astype(float) @ weights[f"network.{i}.weight.b"].astype(float).T for i in (0, 2, 4)]
    norms = [numpy.linalg.norm(w, 2) * c for w, c in zip(products, [silu, silu, 1])]
    ranks, widths = [3, 3, 1], [12, 12, 1]
    assert [layer["rank"] for layer in one["layers"]] == ranks
    first = min(math.sqrt(3), numpy.linalg.norm(products[0]) * silu / norms[0])
    terms = 4 * first * math.sqrt(12) + 2 * math.sqrt(3 * 12) + math.sqrt(1)
    assert math.isclose(one["value"], one["input_norm"] / 200 * numpy.prod(norms) * terms, rel_tol=1e-9)
    assert not one["certificate"] and one["first_matrix"] > 0
    assert "not a certificate" in run(folder, "bounds", "rank.safetensors", "t.csv", "--split", "test").stdout


def test_layers_without_a_constant_are_said_in_words(tmp_path):
    series(tmp_path / "s.csv", hours=200)
    done = run(tmp_path, "fit", "s.csv", "--target", "y", "--window", "6", "--time", "time", "--method", "low-rank", "--rank", "3",
               "--steps", "20", "--hidden", "8")
    assert done.returncode == 0, done.stderr
    _, found = bounds(tmp_path, "model", "s.csv", "--clip", "3", "--draws", "3")
    matrices = found["truncation"]["matrices"]
    assert [one["no_bound"] for one in matrices[:2]] == 2 * ["network.0 (lstm) has no useful Lipschitz constant"]
    assert "ranks" in matrices[-1]
    assert status(found["pac_bayes"], "windows of one series overlap") == ["violated"]
    assert status(found["pac_bayes"], "every trained weight is random") == ["violated"]  # the layer norm's
    assert "(lstm)" in found["gaussian_complexity"]["no_bound"]
    reviews(tmp_path / "r.csv", 60)
    done = run(tmp_path, "fit", "r.csv", "--target", "label", "--text", "text", "--method", "dnn", "--steps", "20", "--hidden", "8",
               "--heads", "2", "--blocks", "1", "--model", "r.safetensors")
    assert done.returncode == 0, done.stderr
    text = run(tmp_path, "bounds", "r.safetensors", "r.csv").stdout
    assert "network.0.weight: no bound: network.3 (layer_norm) has no useful Lipschitz constant" in text


def test_the_network_of_a_deep_kernel_has_no_loss(folder):
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "dbk", "--steps", "20", "--model", "dbk.safetensors", *SMALL)
    assert done.returncode == 0, done.stderr
    _, found = bounds(folder, "dbk", "t.csv")
    assert found["truncation"]["losses"] == [] and "not the answers" in found["truncation"]["no_loss"]
    assert found["truncation"]["matrices"][0]["ranks"]


def test_wrong_use_is_one_line(folder):
    assert "swap them" in refused(folder, "bounds", "t.csv", "dnn.safetensors")
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "gp-exact", "--model", "gp.safetensors", "--iterations", "3")
    assert done.returncode == 0, done.stderr
    assert "expected a model with a network" in refused(folder, "bounds", "gp.safetensors", "t.csv")
    assert "--delta" in refused(folder, "bounds", "dnn.safetensors", "t.csv", "--delta", "1")
    (folder / "cut.safetensors").write_bytes((folder / "dnn.safetensors").read_bytes()[:-9])
    assert "cut.safetensors" in refused(folder, "bounds", "cut.safetensors", "t.csv")
    assert refused(folder, "bounds", "dnn.safetensors", "c.csv")  # classes instead of numbers


def test_batch_norms_of_one_row_are_refused(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(60))
    words = ["fit", "t.csv", "--target", "y", "--network", "mlp", "--batch-norm", "--steps", "10", "--threads", "1", "--model", "m"]
    for method in "dnn", "dbk":
        done = run(tmp_path, *words, "--method", method, "--batch", "1")
        assert done.returncode == 2 and "at least two rows a batch for batch norms" in done.stderr, done.stderr
        assert run(tmp_path, *words, "--method", method, "--batch", "2").returncode == 0
