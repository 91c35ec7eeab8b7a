"""The cells of the Rich-BLL paper's tables (R: docs/references.md); make_cells.py writes them.

R's protocol (section 4.1, appendix C): parts of 72, 18 and 10 %, one split a seed, row by row; inputs standardised, targets
centred and not scaled; two layers of 50 ReLU units in mu-P, Adam at 1e-3, gradients of norm 1 at most; the epoch with the
least validation error, then the network is trained again on training and validation rows for that many epochs. `--preset
paper` of the post-hoc methods holds what is theirs of it. R validates every ten epochs, ours every epoch.
"""

import itertools
import math

# Largest number of epochs, batch and seeds here. R's text gives power 3,000 epochs and energy 2,000.
TABLES = {"boston": (3000, 32, 20), "concrete": (3000, 32, 20), "energy": (2000, 32, 20), "wine_red": (1000, 32, 20),
          "power_plant": (3000, 256, 3)}
RATIOS = ("0.3", "0.5", "0.6", "0.7", "0.8", "0.9")
POSTHOC = [("rich-bll", "--preset paper"), ("rich-bll", "--preset paper --subsample 0.4"), ("bll", "--preset paper"), ("dnn", "")]
NETWORK = ("--network mlp --hidden 50 --blocks 2 --activation relu --learning-rate 1e-3 --weight-decay 0 --clip-norm 1 "
           "--schedule constant --patience 0")
MU_P = f"{NETWORK} --parametrisation mup"
# vbll has neither mu-P nor a hidden layer of its own for the last layer's features: a linear basis of 50 on the network. bbb's
# prior sd of .3 is meant for weights of the standard parametrisation; it stands also with a tenth of the KL term, a middle value of
# what --tune tries.
RIVALS = [("vbll", f"--basis linear --rank 50 {NETWORK}"), ("mc-dropout", MU_P), ("swag", MU_P), ("bbb", NETWORK),
          ("bbb", f"--beta 0.1 {NETWORK}"), ("ensemble", f"--of dnn --members 5 {MU_P}")]
NO_ROW_OF_R = "--beta"  # a comparison of our own: 5 seeds


def split(seed):
    return f"--target-scale centred --split random --split-seed {seed} --valid-fraction 0.18"


def budget(data):
    epochs, batch, _ = TABLES[data]
    return f"--epochs {epochs} --batch {batch}"


def cell(study, data, method, seed, flags):
    return {"study": study, "data": data, "method": method, "seed": seed, "flags": " ".join(flags.split())}


def around(study, data, method, seed, own, refit=True):
    """A cell around the network that bll trains; with `refit` on training and validation rows."""
    again = "" if refit else "--refit false"
    own = own if refit or "--preset" not in own else f"{own} --refit false"
    return cell(study, data, method, seed, f"--preset paper {split(seed)} {budget(data)} {again} --around bll {own}")


def in_rounds():
    """(data, seed): a quarter of the seeds of every table, then half of them, then the rest."""
    for low, high in itertools.pairwise((0, 0.25, 0.5, 1)):
        for data, (_, _, seeds) in TABLES.items():
            yield from ((data, seed) for seed in range(math.ceil(low * seeds), math.ceil(high * seeds)))


def r_table2():
    """R Table 2: what stands on one network, which is trained again on all rows that are not for the test. The Gaussian
    process, without a network, takes the same rows."""
    for data, seed in in_rounds():
        for method, own in POSTHOC:
            yield around("paper", data, method, seed, own)
        if data != "power_plant":
            yield cell("paper", data, "gp-exact", seed, f"--split random --split-seed {seed} --valid-fraction 0")


def r_rivals():
    """R Table 2 without the second training, which our other methods do not have: every method on the same 72 % of the rows,
    the best epoch by the 18 % of the validation."""
    for data, seed in in_rounds():
        for method, own in POSTHOC:
            yield around("held out", data, method, seed, own, refit=False)
        for method, own in RIVALS:
            if (seed < 5 or NO_ROW_OF_R not in own) and (data != "power_plant" or method == "vbll"):
                yield cell("held out", data, method, seed, f"{own} {split(seed)} {budget(data)}")


def r_noise():
    """Where the noise variance comes from. R's two ways, on the networks of r_rivals: the validation MSE (`held out` there) and a
    grid by validation NLL (`grid`), which needs validation rows that the network has not learned. `learned`, on the networks of
    r_table2: the noise that explains best the residuals of the rows that the network was trained on."""
    for data, seed in in_rounds():
        for method, own in POSTHOC[:3]:
            yield around("grid", data, method, seed, f"{own} --noise select", refit=False)
        if seed < 10:
            for method, own in [*POSTHOC[:3], ("bll", "--preset paper --prior-sd 1e-9")]:  # without a prior bll is MAP
                yield around("learned", data, method, seed, f"{own} --select evidence --noise select")


def r_table4():
    """R Table 4: trained on red wine, the AUROC of white wine. VBLL, which has no second training, is of `held out`, and
    Rich-BLL is there too."""
    foreign, data = "--ood wine_white", "wine_red"
    for seed in range(10):
        for method, own in POSTHOC[:3]:
            found = around("paper", data, method, seed, own)
            yield found | {"flags": f"{foreign} {found['flags']}"}
        for method, own in POSTHOC[:3]:
            found = around("held out", data, method, seed, own, refit=False)
            yield found | {"flags": f"{foreign} {found['flags']}"}
        method, own = RIVALS[0]
        yield cell("held out", data, method, seed, f"{foreign} {own} {split(seed)} {budget(data)}")


def r_table6():
    """R Table 6: the share of the rows that the variance is computed from."""
    for data, seed in in_rounds():
        for ratio in RATIOS:
            yield around("paper", data, "rich-bll", seed, f"--preset paper --subsample {ratio}")


STUDIES = (r_table2, r_rivals, r_noise, r_table4, r_table6)
