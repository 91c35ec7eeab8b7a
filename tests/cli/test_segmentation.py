"""fit, predict and evaluate by pixel, on records of label maps and images."""

import csv
import gzip
import json
import random

import pytest
from conftest import refused, run

HEIGHT, WIDTH, VOID = 96, 128, 11
SHORT = ["--hidden", "8", "--blocks", "3", "--batch", "4", "--epochs", "30", "--learning-rate", "0.02"]


def scenes(count, seed=1):
    """Records of a light sky (0) above a dark road (3); the horizon is random, and the last column is void."""
    draw = random.Random(seed)
    data = bytearray()
    for _ in range(count):
        horizon = draw.randrange(30, 66)
        labels = b"".join(bytes([0 if y < horizon else 3] * (WIDTH - 1) + [VOID]) for y in range(HEIGHT))
        light = [bytes(range(160, 200)), bytes(range(60, 100))]
        planes = [b"".join(bytes(draw.choices(light[y >= horizon], k=WIDTH)) for y in range(HEIGHT)) for _ in range(3)]
        data += labels + b"".join(planes)
    return bytes(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    (folder / "train.bin.gz").write_bytes(gzip.compress(scenes(14)))
    (folder / "new.bin").write_bytes(scenes(9, seed=2))
    done = run(folder, "fit", "train.bin.gz", "--method", "mc-dropout", "--dropout", "0.1", "--draws", "3", "--model", "m", "--json",
               "--test-fraction", "0.2", "--crop", "4", "--flip", *SHORT)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    return folder


def test_records_are_recognised_and_scored_by_pixel(folder):
    report = json.loads((folder / "fit.json").read_text())
    assert report["options"]["network"] == "auto" and report["rows"] == {"train": 9, "valid": 2, "test": 3}
    assert report["test"]["n"] == 3 and report["test"]["miou"] > 0.9
    done = run(folder, "evaluate", "m", "new.bin", "--json", "--plots", "plots")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["n"] == 9 and report["pixels"] == 9 * HEIGHT * (WIDTH - 1) and report["void"] == 9 * HEIGHT
    assert report["accuracy"] > 0.95 and set(report["iou"]) == {"Sky", "Road"}
    assert len(report["absent"]) == 9 and "Car" in report["absent"]
    assert [file.name for file in (folder / "plots").iterdir()] == ["reliability.svg"]
    text = run(folder, "evaluate", "m", "new.bin").stdout
    for part in ("9 images", "miou, mean intersection over union", "for every pixel", "no pixel has the class Building",
                 "864 without a class are left out", "finding wrong pixels by"):
        assert part in text, text
    split = run(folder, "evaluate", "m", "train.bin.gz", "--split", "test", "--json")
    assert json.loads(split.stdout)["accuracy"] == json.loads((folder / "fit.json").read_text())["test"]["accuracy"]


def test_predict_writes_a_line_and_maps_for_each_image(folder):
    done = run(folder, "predict", "m", "new.bin", "--maps", "maps")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["image"] for row in rows] == [str(i + 1) for i in range(9)]
    for row in rows:
        assert abs(sum(float(row[name]) for name in row if name.startswith("share_")) - 1) < 1e-6
        assert float(row["accuracy"]) > 0.9 and float(row["entropy"]) > float(row["mutual_information"]) > 0
    names = {file.name for file in (folder / "maps").iterdir()}
    assert names == {"classes.csv"} | {f"{i}_{what}.png" for i in range(1, 10) for what in ("classes", "entropy", "mutual_information")}
    data = (folder / "maps" / "3_classes.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[16:24] == WIDTH.to_bytes(4, "big") + HEIGHT.to_bytes(4, "big")
    assert (folder / "maps" / "3_entropy.png").read_bytes()[24] == 16  # bits of a pixel
    legend = list(csv.DictReader((folder / "maps" / "classes.csv").read_text().splitlines()))
    assert legend[3]["class"] == "3" and legend[3]["name"] == "Road"
    assert "images of 3, 96, 128 (channels, height, width), a class for each pixel" in run(folder, "describe", "m").stdout


def test_a_network_of_another_fit_is_taken(folder):
    one = ["--model", "one", *SHORT[:-4], "--epochs", "1"]
    assert run(folder, "fit", "new.bin", "--format", "camvid", "--dropout", "0.1", *one).returncode == 0
    for method, more in (("mc-dropout", ["--draws", "2"]), ("swag", ["--averaged", "2", "--draws", "2", "--batch", "4"])):
        done = run(folder, "fit", "new.bin", "--network-from", "one", "--method", method, "--model", "two", *more)
        assert done.returncode == 0, done.stderr
        assert run(folder, "predict", "two", "new.bin").returncode == 0
    assert "rich-bll" in refused(folder, "fit", "new.bin", "--network-from", "one", "--model", "three")
    names = {file.name for file in folder.iterdir()}
    assert run(folder, "predict", "one", "new.bin", "--maps", "of-one").returncode == 0
    assert not any("mutual" in file.name for file in (folder / "of-one").iterdir())  # 0 for one network
    assert "of-one" not in names


@pytest.mark.parametrize(("words", "sentence"), [
    (["--method", "vbll"], "expected an input that vbll takes, table, windows, images, text; received segmentation"),
    (["--method", "dbk"], "dnn, mc-dropout, swag, bbb, full-rank, low-rank, low-rank-svd, low-rank-laplace, rank-1, fid-gp, fid-gp-reparam, ffg-u, batch-ensemble, f-sgvb-lrt, ensemble take it"),
    (["--method", "ensemble", "--of", "vbll"], "--of dnn makes members that take it"),
    (["--method", "dnn", "--network", "resnet18"], "expected a network for segmentation; received 'resnet18'; fcn takes it"),
    (["--method", "dnn", "--calibrate", "conformal"], "a regression or classes to calibrate; received segmentation"),
    (["--method", "dnn", "--target", "y"], "--target, which belongs to"),
    (["--method", "dnn", "--crop", "96"], "a crop below the images' side of 96 pixels"),
    (["--method", "dnn", "--format", "idx"], "expected an IDX file"),
])
def test_what_does_not_fit_is_one_sentence(folder, words, sentence):
    assert sentence in refused(folder, "fit", "new.bin", "--model", "no", *words)


def test_other_data_are_refused(folder):
    whole = (folder / "new.bin").read_bytes()
    (folder / "cut.bin").write_bytes(whole[:-7])
    assert "cut short or of another format" in refused(folder, "predict", "m", "cut.bin")
    (folder / "strange.bin").write_bytes(whole[:4 * HEIGHT * WIDTH] + bytes([200]) + whole[4 * HEIGHT * WIDTH + 1:])
    assert "received 200 in image 2" in refused(folder, "evaluate", "m", "strange.bin")
    (folder / "void.bin").write_bytes(b"".join(bytes([VOID]) * HEIGHT * WIDTH + bytes([i]) * 3 * HEIGHT * WIDTH for i in range(12)))
    done = run(folder, "evaluate", "m", "void.bin")  # a slow machine prints its progress first
    assert done.returncode == 2 and "void everywhere" in done.stderr.splitlines()[-1]
    assert "received one of segmentation" in refused(folder, "bounds", "m", "new.bin")
    assert "void everywhere" in refused(folder, "fit", "void.bin", "--method", "dnn", "--model", "no")
    done = run(folder, "predict", "m", "void.bin")
    assert done.returncode == 0 and list(csv.DictReader(done.stdout.splitlines()))[0]["accuracy"] == "", done.stderr
    assert "no --ood with segmentation" in refused(folder, "evaluate", "m", "new.bin", "--ood", "cut.bin")
    assert "--keep" in refused(folder, "predict", "m", "new.bin", "--keep", "x")
