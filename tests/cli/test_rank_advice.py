"""rank-advice: the singular values of a model's matrices against numpy, and models without a network."""

import json

import numpy
import pytest
from conftest import header, refused, run, toy_rows, write_csv
from inputs import reviews, series
from safetensors.numpy import load_file

SMALL = ["--steps", "60", "--hidden", "12", "--blocks", "2", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    write_csv(folder / "t.csv", header(3), toy_rows(150, inputs=3))
    for method, words in {"dnn": ["--network", "mlp"], "dbk": [], "low-rank": ["--network", "mlp", "--rank", "3", "--factored", "all"],
                          "rank-1": ["--network", "mlp"], "ensemble": ["--members", "2", "--network", "mlp"]}.items():
        done = run(folder, "fit", "t.csv", "--target", "y", "--method", method, "--model", f"{method}.safetensors", *SMALL, *words)
        assert done.returncode == 0, done.stderr
    return folder


def advice(folder, model, *words):
    done = run(folder, "rank-advice", f"{model}.safetensors", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def expect_numpy(found, matrix, energy):
    s = numpy.linalg.svd(matrix.astype(numpy.float64), compute_uv=False)
    numpy.testing.assert_allclose(found["singular_values"], s, rtol=1e-9, atol=1e-9 * s[0])
    kept = numpy.cumsum(s**2) / numpy.sum(s**2)
    for one in found["kept"]:
        assert abs(one["energy"] - kept[one["rank"] - 1]) < 1e-9
    assert [one["rank"] for one in found["kept"]] == [r for r in [1, 2, 4, 8, 16, 25, 32, 64] if r < min(matrix.shape)]
    for share, rank in [*((one["energy"], one["rank"]) for one in found["ranks"]), (energy, found["rank"])]:
        assert kept[rank - 1] >= share - 1e-9 and (rank == 1 or kept[rank - 2] < share + 1e-9)
    m, n = matrix.shape
    assert found["parameters"] == m * n and found["saved"] == m * n - found["rank"] * (m + n)
    assert found["largest_saving_rank"] == max(r for r in range(m * n) if r == 0 or r * (m + n) < m * n)


def test_a_plain_network_has_the_spectra_of_its_weights(folder):
    weights = load_file(folder / "dnn.safetensors")
    found = advice(folder, "dnn", "--energy", "0.8")
    names = [one["name"] for one in found["matrices"]]
    assert names == ["network.0.weight", "network.2.weight", "network.4.weight"]
    for one in found["matrices"]:
        expect_numpy(one, weights[one["name"]], 0.8)
    assert found["layer_ranks"] == [one["rank"] for one in found["matrices"]]
    saving = [one["rank"] for one in found["matrices"] if one["rank"] <= one["largest_saving_rank"]]
    assert found["rank"] == (max(saving) if saving else None)


def test_factors_are_read_as_the_product_of_their_means(folder):
    weights = load_file(folder / "low-rank.safetensors")
    found = advice(folder, "low-rank")["matrices"][1]
    a, b = (weights[f"network.2.weight.{side}"].astype(numpy.float64) for side in "ab")
    expect_numpy(found, a @ b.T, 0.9)
    assert found["kept"][2]["rank"] == 4 and found["kept"][2]["energy"] > 1 - 1e-12  # the rank is 3


def test_scaled_matrices_are_read_with_their_mean_scales(folder):
    weights = load_file(folder / "rank-1.safetensors")
    name = "network.2.weight"
    s, r = (1 + weights[f"{name}.{side}"].astype(numpy.float64) for side in "sr")
    expect_numpy(advice(folder, "rank-1")["matrices"][1], s[:, None] * weights[name] * r, 0.9)


def test_an_ensemble_needs_the_largest_rank_of_its_members(folder):
    found = advice(folder, "ensemble")
    assert [one["name"] for one in found["matrices"][::3]] == ["member 1: network.0.weight", "member 2: network.0.weight"]
    ranks = numpy.array([one["rank"] for one in found["matrices"]]).reshape(2, 3)
    assert found["layer_ranks"] == ranks.max(0).tolist()


def test_a_deep_kernel_has_a_network_too(folder):
    found = advice(folder, "dbk")
    weights = load_file(folder / "dbk.safetensors")
    for one in found["matrices"]:
        expect_numpy(one, weights[one["name"]], 0.9)


def test_the_text_ends_in_what_can_be_pasted(folder):
    found = advice(folder, "dnn")
    text = run(folder, "rank-advice", "dnn.safetensors").stdout
    assert text.splitlines()[-1] == "--method low-rank --layer-ranks " + ",".join(map(str, found["layer_ranks"]))
    rank = "saves nothing here" if found["rank"] is None else f"--method low-rank --rank {found['rank']}"
    assert text.splitlines()[-2].endswith(rank)
    assert "12 x 12" in text and "network.2.weight" in text


def test_plots_draw_the_spectra(folder):
    done = run(folder, "rank-advice", "dnn.safetensors", "--plots", "shown")
    assert done.returncode == 0, done.stderr
    image = (folder / "shown" / "spectra.svg").read_text()
    assert image.startswith("<svg") and "network.0.weight" in image


def test_the_matrices_of_an_lstm_and_of_attention_share_a_layer_rank(tmp_path):
    series(tmp_path / "s.csv", hours=200)
    words = ["fit", "s.csv", "--target", "y", "--window", "6", "--time", "time", "--method", "dnn", "--steps", "20", "--hidden", "8"]
    done = run(tmp_path, *words, "--model", "s.safetensors")
    assert done.returncode == 0, done.stderr
    found = advice(tmp_path, "s")
    inside = [one["rank"] for one in found["matrices"] if one["layer"] == "network.0"]
    assert len(inside) == 2 and found["layer_ranks"][0] == max(inside)
    reviews(tmp_path / "r.csv", 60)
    done = run(tmp_path, "fit", "r.csv", "--target", "label", "--text", "text", "--method", "dnn", "--steps", "20", "--hidden", "8",
               "--heads", "2", "--blocks", "1", "--model", "r.safetensors")
    assert done.returncode == 0, done.stderr
    found = advice(tmp_path, "r")
    weights = load_file(tmp_path / "r.safetensors")
    heads = [one for one in found["matrices"] if one["name"].endswith((".q", ".k", ".v"))]
    assert len(heads) == 3
    joint = weights[heads[0]["name"][:-2] + ".in_weight"]
    for i, one in enumerate(heads):
        expect_numpy(one, joint[8 * i: 8 * (i + 1)], 0.9)


def test_a_model_without_a_network_and_foreign_files_are_one_line(folder):
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "gp-exact", "--model", "gp.safetensors", "--iterations", "3")
    assert done.returncode == 0, done.stderr
    assert "expected a model with a network; received gp-exact" in refused(folder, "rank-advice", "gp.safetensors")
    assert "t.csv" in refused(folder, "rank-advice", "t.csv")
    whole = (folder / "dnn.safetensors").read_bytes()
    (folder / "cut.safetensors").write_bytes(whole[:-9])
    assert "cut.safetensors" in refused(folder, "rank-advice", "cut.safetensors")
    assert "a share above 0 and below 1" in refused(folder, "rank-advice", "dnn.safetensors", "--energy", "1.5")
