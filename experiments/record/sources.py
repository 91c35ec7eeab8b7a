"""Where the data of the studies of low-rank networks (S) lie, and what fit and evaluate must be told of them.

A cell names its source in the column `data`. A source that no file of the data folder holds as it is (a group taken out of
training, every eighth row, the toy curve) is written into the folder of the cell, with the same bytes each time.
"""

import collections
import csv
import gzip
import math
import random
from typing import Callable, NamedTuple


class Files(NamedTuple):
    """Tables or images: to fit on; to test on and to validate on, None where a part of the first is held out; foreign ones, None without."""
    train: object
    test: object = None
    foreign: object = None
    valid: object = None


class Source(NamedTuple):
    files: Callable  # (data folder, folder of the cell) to Files
    fit: tuple = ()
    evaluate: tuple = ()
    predicted: Callable | None = None  # (predict(table, draw of the weights = all), folder of the cell) to further scores


def table(path):
    """The header and the rows of a .csv.gz."""
    with gzip.open(path, "rt", newline="") as file:
        reader = csv.reader(file)
        return next(reader), list(reader)


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def without(header, rows, column):
    at = header.index(column)
    return [*header[:at], *header[at + 1:]], [[*row[:at], *row[at + 1:]] for row in rows]


def support2(data, folder):
    """Patients in coma are foreign: neither their rows nor the column that names them are seen in training."""
    header, rows = table(data / "support2.csv.gz")
    at = header.index("dz_coma")
    own = [row for row in rows if row[at] != "1"]
    foreign = [row for row in rows if row[at] == "1"]
    return Files(write(folder / "support2.csv", *without(header, own, "dz_coma")), None,
                 write(folder / "coma.csv", *without(header, foreign, "dz_coma")))


def beijing(data, folder):
    """Foreign: the year 2014 of Guangzhou, in whose windows of 24 hours the draws of an LSTM take minutes."""
    header, rows = table(data / "guangzhou_pm25.csv.gz")
    at = header.index("year")
    return Files(data / "beijing_pm25.csv.gz", None,
                 write(folder / "guangzhou_2014.csv", header, [row for row in rows if row[at] == "2014"]))


def every(step, rows):
    return rows[::step]


def sst2(step):
    """Every `step`-th phrase and the whole development set. Foreign: every text beside all phrases, else every 16th, in which
    the draws of a transformer take a minute."""
    def files(data, folder):
        header, rows = table(data / "sst2_train.csv.gz")
        foreign_header, foreign = table(data / "agnews_test.csv.gz")
        return Files(write(folder / "sst2.csv", header, every(step, rows)), data / "sst2_dev.csv.gz",
                     write(folder / "agnews.csv", foreign_header, every(1 if step == 1 else 16, foreign)))
    return files


def images(own, foreign):
    def files(data, folder):
        name = "-images-idx3-ubyte.gz"
        return Files(data / own / f"train{name}", data / own / f"t10k{name}", data / foreign / f"t10k{name}")
    return files


TOY_NOISE = 0.02


def toy_curve(x, noise):
    """S eq. 35: the same noise inside the sines and added."""
    return x + 0.3 * math.sin(2 * math.pi * (x + noise)) + 0.3 * math.sin(4 * math.pi * (x + noise)) + noise


def toy_rows(n, low, high, seed):
    draw = random.Random(seed)
    xs = [draw.uniform(low, high) for _ in range(n)]
    return [[x, toy_curve(x, draw.gauss(0, TOY_NOISE))] for x in xs]


def toy(data, folder):
    """S appendix I.3.1: 1,024 rows in [-.1, .6], 2,048 test rows in [-.25, .85]; a quarter as many rows to validate."""
    return Files(write(folder / "toy.csv", ["x", "y"], toy_rows(1024, -0.1, 0.6, 1)),
                 write(folder / "test.csv", ["x", "y"], toy_rows(2048, -0.25, 0.85, 3)), None,
                 write(folder / "valid.csv", ["x", "y"], toy_rows(256, -0.1, 0.6, 2)))


DRAWS, LOW, HIGH = 100, 0.05, 0.95  # S I.3.2: draws of the weights, and the range of them


def quantile(values, share):
    """With linear interpolation, as numpy's."""
    values, at = sorted(values), share * (len(values) - 1)
    below = int(at)
    return values[below] + (at - below) * (values[min(below + 1, len(values) - 1)] - values[below])


def toy_widths(predict, folder):
    """The median width of the 5-95 % range of the draws' functions in S's two regions, and its ratio (S Table 20)."""
    regions = {name: [low + (high - low) * i / 200 for i in range(201)] for name, low, high in (("in", 0.0, 0.5), ("out", 0.5, 1.5))}
    grid = write(folder / "grid.csv", ["x"], [[x] for xs in regions.values() for x in xs])
    draws = [[float(row["mean"]) for row in predict(grid, draw)] for draw in range(1, DRAWS + 1)]
    widths = [quantile(at, HIGH) - quantile(at, LOW) for at in zip(*draws)]
    medians = dict(zip(regions, (sorted(widths[:201])[100], sorted(widths[201:])[100])))
    ratio = {"width_ratio": medians["out"] / medians["in"]} if medians["in"] > 0 else {}
    return {"width_in": medians["in"], "width_out": medians["out"], **ratio}


def records(**parts):
    """Files of CIFAR or CamVid records."""
    def files(data, folder):
        return Files(**{part: data / f"{name}.bin.gz" for part, name in parts.items()})
    return files


def every_class(data, folder):
    """The first three records of each class of CIFAR-100's test images: a fit that is there to be counted need not see more."""
    size = 1 + 3 * 32 * 32  # the fine label, then the pixels
    with gzip.open(data / "cifar100_test.bin.gz") as file:
        read = file.read()
    chosen = collections.defaultdict(list)
    for record in (read[at:at + size] for at in range(0, len(read), size)):
        if len(chosen[record[0]]) < 3:
            chosen[record[0]].append(record)
    path = folder / "cifar100.bin"
    path.write_bytes(b"".join(record for label in sorted(chosen) for record in chosen[label]))
    return Files(path)


COSINE_NOISE = 0.1  # F prints N(cos(4 x + 0.8), .01): a variance, as in its source (Ritter et al. 2021)
CLUSTERS = (0.5, 0.8), (1.2, 1.6)


def cosine_rows(n, seed):
    """n rows of each of F's two clusters (section 5.1)."""
    draw = random.Random(seed)
    xs = [draw.uniform(*ends) for ends in CLUSTERS for _ in range(n)]
    return [[x, draw.gauss(math.cos(4 * x + 0.8), COSINE_NOISE)] for x in xs]


def cosine(data, folder):
    """F does not print how many rows: 100 of each cluster to train, 25 to validate, 500 to test."""
    return Files(write(folder / "cosine.csv", ["x", "y"], cosine_rows(100, 1)), write(folder / "test.csv", ["x", "y"], cosine_rows(500, 3)), None,
                 write(folder / "valid.csv", ["x", "y"], cosine_rows(25, 2)))


def cosine_bands(predict, folder):
    """The share of test rows within 3 sds; the median epistemic sd in the gap and in the clusters, and its ratio, and that of the whole sd."""
    rows = cosine_rows(500, 3)
    answers = predict(folder / "test.csv")
    inside = [abs(float(one["mean"]) - y) <= 3 * float(one["sd"]) for one, (_, y) in zip(answers, rows)]
    medians, whole = {}, {}
    for name, (low, high) in {"gap": (CLUSTERS[0][1], CLUSTERS[1][0]), "first": CLUSTERS[0], "second": CLUSTERS[1]}.items():
        grid = predict(write(folder / f"grid_{name}.csv", ["x"], [[low + (high - low) * i / 200] for i in range(201)]))
        medians[name], whole[name] = (sorted(float(row[sd]) for row in grid)[100] for sd in ("sd_epistemic", "sd"))
    clusters = (medians["first"] + medians["second"]) / 2
    return {"within_3_sd": sum(inside) / len(inside), "sd_gap": medians["gap"], "sd_clusters": clusters,
            "band_ratio": 2 * whole["gap"] / (whole["first"] + whole["second"]),
            **({"gap_ratio": medians["gap"] / clusters} if clusters > 0 else {})}


SOURCES = {
    "support2": Source(support2, ("--target", "label", "--likelihood", "bernoulli", "--test-fraction", "0.1"), ("--split", "test")),
    "beijing": Source(beijing, ("--target", "pm2.5", "--window", "24", "--time", "year,month,day,hour", "--ignore", "No", "--scale", "standard",
                                "--na=-9999", "--valid-fraction", "0.15", "--test-fraction", "0.15"),
                      ("--split", "test", "--rename", "PM_US Post=pm2.5,Iprec=Ir", "--fill", "Is=0")),
    **{f"sst2-{step}": Source(sst2(step), ("--target", "label", "--text", "text", "--longest", "64", "--vocabulary", "30522",
                                           "--valid-fraction", "0.05")) for step in (1, 2, 4, 8)},
    "mnist": Source(images("mnist", "fashion-mnist"), ("--valid-fraction", "0.16667")),
    "fashion": Source(images("fashion-mnist", "mnist"), ("--valid-fraction", "0.16667")),
    "cifar10": Source(records(train="cifar10_train", test="cifar10_test", foreign="cifar100_test"), ("--format", "cifar10", "--valid-fraction", "0.1")),
    # Of CIFAR-100 only test images are at hand: they give a network with 100 classes, whose numbers are counted.
    "cifar100": Source(every_class, ("--format", "cifar100", "--valid-fraction", "0.01", "--test-fraction", "0.01"), ("--split", "test")),
    "camvid": Source(records(train="camvid_train", test="camvid_test", valid="camvid_val")),
    "cosine": Source(cosine, ("--target", "y"), (), cosine_bands),
    "toy": Source(toy, ("--target", "y", "--target-scale", "centred"), (), toy_widths),
}
