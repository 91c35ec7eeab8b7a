"""fit, predict and evaluate on files of images."""

import csv
import gzip
import json

import pytest
from conftest import refused, run
from inputs import cifar, idx, squares

FIT = ["fit", "train-images-idx3-ubyte", "--model", "m.safetensors"]
SHORT = ["--steps", "60", "--hidden", "8", "--batch", "32"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    idx(folder / "train-images-idx3-ubyte", *squares(300))
    idx(folder / "new-images-idx3-ubyte.gz", squares(40, seed=2)[0])  # without labels
    idx(folder / "test-images-idx3-ubyte.gz", *squares(40, seed=3))
    done = run(folder, *FIT, "--test-fraction", "0.2", "--calibrate", "conformal", "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    return folder


def test_images_are_classified_by_auto_unless_told(folder):
    report = json.loads((folder / "fit.json").read_text())
    assert report["method"] == "auto" and report["test"]["accuracy"] > 0.9
    assert any("--method chooses another" in note for note in report["notes"])


def test_predict_needs_no_labels_and_gives_sets(folder):
    done = run(folder, "predict", "m.safetensors", "new-images-idx3-ubyte.gz", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert len(rows) == 40 and set(rows[0]) == {"p_0", "p_1", "entropy", "mutual_information", "label", "set"}
    right = sum(row["label"] == str(i % 2) for i, row in enumerate(rows))
    assert right > 34


def test_evaluate_scores_images_and_tells_foreign_ones(folder):
    images, _ = squares(40, seed=4)
    idx(folder / "dark-images-idx3-ubyte", [[[0 for _ in row] for row in image] for image in images])
    done = run(folder, "evaluate", "m.safetensors", "test-images-idx3-ubyte.gz", "--ood", "dark-images-idx3-ubyte", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["n"] == 40 and set(report["ood"]["auroc"]) == {"distance", "entropy", "mutual_information", "max_softmax"}
    assert report["ood"]["auroc"]["distance"] < 0.5  # a black image lies near the mean, on its other side


def test_a_trained_network_gives_scores_of_its_own(folder):
    images, _ = squares(40, seed=4)
    idx(folder / "light-images-idx3-ubyte", [[[255 - p for p in row] for row in image] for image in images])
    assert run(folder, *FIT[:2], "--model", "net", "--method", "dnn", *SHORT).returncode == 0
    assert run(folder, *FIT[:2], "--model", "rich", "--network-from", "net").returncode == 0
    foreign = ["test-images-idx3-ubyte.gz", "--ood", "light-images-idx3-ubyte", "--json"]
    for model, own in (("net", {"energy"}), ("rich", {"energy", "logit_var"})):
        done = run(folder, "evaluate", model, *foreign)
        assert done.returncode == 0, done.stderr
        ood = json.loads(done.stdout)["ood"]
        for metric in ("auroc", "fpr95", "aupr"):
            assert set(ood[metric]) == {"distance", "entropy", "mutual_information", "max_softmax"} | own
        assert ood["auroc"]["distance"] == 1
    text = run(folder, "evaluate", "rich", *foreign[:-1]).stdout
    assert "logit_var" in text and "energy" in text
    line = refused(folder, "evaluate", "rich", *foreign, "--rename", "a=b")
    assert "no --rename and --fill with images" in line


def test_the_split_is_kept_and_checked(folder):
    report = json.loads((folder / "fit.json").read_text())
    done = run(folder, "evaluate", "m.safetensors", "train-images-idx3-ubyte", "--split", "test", "--json")
    assert json.loads(done.stdout)["accuracy"] == report["test"]["accuracy"]
    assert "data that the model was fitted on" in refused(folder, "evaluate", "m.safetensors", "test-images-idx3-ubyte.gz", "--split", "test")


@pytest.mark.parametrize("method", ["dnn", "sv-dkl", "sv-dbk", "ensemble"])
def test_every_method_of_classes_takes_images(folder, method):
    of = ["--of", "dnn", "--members", "2"] if method == "ensemble" else []
    done = run(folder, *FIT[:2], "--method", method, "--model", f"{method}.safetensors", "--steps", "12", "--hidden", "8", "--test-fraction", "0.1", *of)
    assert done.returncode == 0, done.stderr


def test_cifar_records_with_crop_and_flip(tmp_path):
    cifar(tmp_path / "data.bin", 60)
    done = run(tmp_path, "fit", "data.bin", "--format", "cifar10", "--network", "resnet18", "--hidden", "4", "--crop", "4", "--flip", "--steps", "8", "--batch", "16",
               "--method", "dnn", "--json")
    assert done.returncode == 0, done.stderr
    done = run(tmp_path, "predict", "model.safetensors", "data.bin")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 61
    (tmp_path / "cut.bin").write_bytes((tmp_path / "data.bin").read_bytes()[:-100])
    assert "cut short" in refused(tmp_path, "predict", "model.safetensors", "cut.bin")


def test_cifar_records_without_their_format_are_recognised(tmp_path):
    cifar(tmp_path / "data.bin", 30)
    (tmp_path / "data.bin.gz").write_bytes(gzip.compress((tmp_path / "data.bin").read_bytes()))
    for name in ("data.bin", "data.bin.gz"):
        for more in ([], ["--target", "y"]):
            line = refused(tmp_path, "fit", name, *more)
            assert "those of 30 records of CIFAR-10; fit reads them with --format cifar10" in line
    (tmp_path / "data.txt").write_text("a,b\n1,2\n")
    assert "received 'data.txt'; rename or convert it (fit reads images" in refused(tmp_path, "fit", "data.txt")


@pytest.mark.parametrize(("words", "sentence"), [
    (["--target", "label"], "--target, which belongs to"),
    (["--network", "lstm"], "convnet and resnet18 and mlp take it"),
    (["--blocks", "3"], "--blocks, which belongs to tabular_resnet, lstm, transformer, mlp, realmlp, fcn; leave it out"),
    (["--method", "gp-exact"], "expected an input that gp-exact takes, table; received images"),
    (["--method", "dbk"], "vbll, sv-dkl, sv-dbk, dnn, rich-bll, bll, last-layer-laplace, ntk-sketch, mc-dropout, swag, bbb, full-rank, low-rank, low-rank-svd, low-rank-laplace, rank-1, fid-gp, fid-gp-reparam, ffg-u, batch-ensemble, f-sgvb-lrt, ensemble, constant take it"),
    (["--crop", "8"], "a crop below the images' side of 8 pixels"),
    (["--ignore", "x"], "--ignore, which belongs to 'Target and columns'"),
    (["--window", "4"], "expected one kind of input"),
    (["--format", "cifar10"], "cut short or of another format"),
])
def test_what_does_not_fit_is_one_sentence(folder, words, sentence):
    assert sentence in refused(folder, *FIT[:2], "--model", "no.safetensors", *words)


def test_predict_and_foreign_images_need_no_readable_labels(folder):
    idx(folder / "far-images-idx3-ubyte", squares(10, seed=5)[0], [0, 1, 0])
    done = run(folder, "predict", "m.safetensors", "far-images-idx3-ubyte")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 11, done.stderr
    done = run(folder, "evaluate", "m.safetensors", "test-images-idx3-ubyte.gz", "--ood", "far-images-idx3-ubyte", "--json")
    assert done.returncode == 0, done.stderr
    assert "10 labels, one for each image" in refused(folder, "evaluate", "m.safetensors", "far-images-idx3-ubyte")


def test_data_before_the_model_are_told_to_swap(folder):
    cifar(folder / "data.bin", 4)
    (folder / "plain").write_bytes((folder / "m.safetensors").read_bytes())
    for model in ("m.safetensors", "plain"):
        for data in ("test-images-idx3-ubyte.gz", "train-images-idx3-ubyte", "data.bin"):
            for command in ("predict", "evaluate"):
                line = refused(folder, command, data, model)
                assert "the model file, then the data" in line and "swap them" in line
    assert run(folder, "predict", "plain", "train-images-idx3-ubyte").returncode == 0


def test_damaged_files_are_named(folder):
    whole = (folder / "train-images-idx3-ubyte").read_bytes()
    (folder / "cut-images-idx3-ubyte").write_bytes(whole[:-70])
    assert "cut short or damaged" in refused(folder, "predict", "m.safetensors", "cut-images-idx3-ubyte")
    idx(folder / "odd-images-idx3-ubyte", squares(10)[0], [0, 1, 0])
    assert "10 labels, one for each image" in refused(folder, "fit", "odd-images-idx3-ubyte", "--model", "no.safetensors")
    (folder / "torn-images-idx3-ubyte.gz").write_bytes(gzip.compress(whole)[:-90])
    assert "torn-images" in refused(folder, "predict", "m.safetensors", "torn-images-idx3-ubyte.gz")
    larger = [[[0] * 9 for _ in range(9)] for _ in range(4)]
    idx(folder / "large-images-idx3-ubyte", larger)
    assert "images of 1 x 8 x 8; received 1 x 9 x 9" in refused(folder, "predict", "m.safetensors", "large-images-idx3-ubyte")
    assert "a label for each image" in refused(folder, "fit", "new-images-idx3-ubyte.gz", "--model", "no.safetensors")
    assert "expected an IDX file" in refused(folder, "predict", "m.safetensors", "fit.json")


def test_idx_files_are_known_by_their_content(folder, tmp_path):
    images, labels = squares(60, seed=6)
    for name in ("images.idx", "images.gz"):
        idx(tmp_path / name, images, labels)
        done = run(tmp_path, "fit", name, "--method", "dnn", "--model", f"{name}.m", *SHORT)
        assert done.returncode == 0, done.stderr
        assert run(tmp_path, "predict", folder / "m.safetensors", name).returncode == 0
    assert "--target, which belongs to" in refused(tmp_path, "fit", "images.idx", "--target", "y")
    idx(tmp_path / "plain.gz", images)
    assert "a label for each image" in refused(tmp_path, "fit", "plain.gz")
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert "t.gz" in refused(tmp_path, "fit", "t.gz", "--target", "y")


@pytest.mark.parametrize(("images", "labels"), [("a-images-idx3-ubyte.gz", "a-labels-idx1-ubyte"), ("a-images-idx3-ubyte", "a-labels-idx1-ubyte.gz")])
def test_labels_are_found_packed_or_not(folder, tmp_path, images, labels):
    pixels, classes = squares(30, seed=7)
    idx(tmp_path / images, pixels)
    content = (0x801).to_bytes(4, "big") + len(classes).to_bytes(4, "big") + bytes(classes)
    (tmp_path / labels).write_bytes(gzip.compress(content) if labels.endswith(".gz") else content)
    done = run(tmp_path, "evaluate", folder / "m.safetensors", images, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["n"] == 30, done.stderr


def test_the_words_are_those_of_images(folder):
    done = run(folder, *FIT[:2], "--method", "vbll", "--model", "few.safetensors", "--test-fraction", "0.1", "--valid-fraction", "0.05", "--calibrate", "conformal", *SHORT)
    assert done.returncode == 0, done.stderr
    said = done.stderr + done.stdout
    assert "225 images, " in said and "only 15 validation images" in said and "test images\n30 images" in said and "from 30 images" in said
    assert "row" not in said.replace("rows apart", ""), said
    assert "sets         split conformal, calibrated on 30 images" in run(folder, "describe", "few.safetensors").stdout
