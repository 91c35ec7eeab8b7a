"""The cells beside F's tables and figures (F: FiD-GP). Networks and budgets are what two cores reach; the pages say what was cut.

A study's rows are in the order in which they should run: every method at one seed before the next seed.
"""

import itertools

from cells_s import cell

KEY_LAYERS = "--bayesian-layers layer2.1.conv1,layer2.1.conv2,layer4.1.conv1,layer4.1.conv2"
PLAIN = [("dnn", ""), ("batch-ensemble", "")]
INDUCING = [("ffg-u", ""), ("fid-gp-reparam", ""), ("fid-gp", "")]
SHARP = [("f-sgvb-lrt", "")]


def in_order(study, data, seeds, methods, budget):
    for seed, (method, own) in itertools.product(range(seeds), methods):
        yield cell(study, data, method, seed, own, budget)


CURVE = "--network mlp --activation tanh --hidden 100 --blocks 3 --batch-norm true --batch 50 --epochs 400 --learning-rate 1e-3 --schedule constant --patience 0"
PANELS = {"left": "--inducing-rows 64 --inducing-columns 64 --most-noise 0.08 --prior-scale 0.5",
          "right": "--inducing-rows 32 --inducing-columns 32 --most-noise 0.05 --prior-scale 0.3"}


def f_curve():
    """F Figure 3, both panels, and the two relatives of fid-gp; 3 seeds."""
    for seed, (panel, flags), (method, own) in itertools.product(range(3), PANELS.items(), INDUCING):
        yield cell(panel, "cosine", method, seed, own, flags, CURVE)


FASHION = "--network convnet --hidden 32 --batch 100 --epochs 2 --learning-rate 1e-3 --label-smoothing 0.05"


def f_fashion():
    """Fashion-MNIST, MNIST foreign: every baseline of F and of ours, 2 epochs, 3 seeds."""
    others = [("ensemble", "--of dnn --members 5"), ("mc-dropout", "--dropout 0.1"), ("low-rank", ""), ("full-rank", "")]
    yield from in_order("main", "fashion", 3, [*PLAIN, *INDUCING, *SHARP, *others], FASHION)


CIFAR = "--network resnet18 --hidden 8 --batch 100 --epochs 6 --learning-rate 1e-3 --label-smoothing 0.05 --crop 4 --flip true"


def f_table3():
    """F Table 3 in its columns: CIFAR-10 (10,000 images), CIFAR-100 foreign, ResNet-18 of an eighth of the width, 6 epochs."""
    few = [(method, KEY_LAYERS) for method, _ in INDUCING[1:]]
    yield from in_order("main", "cifar10", 1, [*PLAIN, *INDUCING, *few, *SHARP], CIFAR)


def f_table6():
    """F Table 6: the counts of ResNet-18 with 100 classes in full, from fits of one step; accuracies at an eighth of the width, and
    of the inducing sizes."""
    for size in (32, 64, 128, 256):
        yield cell("counts", "cifar100", "fid-gp", 0, "--preset paper --network resnet18 --hidden 64", f"--inducing-rows {size} --inducing-columns {size}",
                   "--batch 8 --epochs 0 --steps 1")
    for size in (4, 8, 16, 32):
        yield cell("sizes", "cifar10", "fid-gp", 0, CIFAR, f"--inducing-rows {size} --inducing-columns {size}")


CAMVID = "--network fcn --blocks 4 --batch 8 --epochs 12 --crop 8 --flip true"


def f_table4():
    """F Table 4 in its columns: CamVid at 96 x 128, a small FCN, 12 epochs; no foreign scenes at hand."""
    yield from in_order("main", "camvid", 1, [*PLAIN, *INDUCING, ("mc-dropout", "--dropout 0.1"), *SHARP], CAMVID)


STUDIES = [f_curve, f_fashion, f_table3, f_table4, f_table6]
