"""The cells of default_tables: the default method beside its candidates and its rivals, on every table of numbers of the data folder
with at least 300 rows; of default_sizes: the same at growing sizes; and of tangent: posteriors around one trained network."""

from results import KEY
from derived import TEST

# In the order of their rows. A candidate is measured where auto would try it.
ROWS = {"yacht": 308, "boston": 506, "energy": 768, "concrete": 1030, "song_head1176": 1176, "wine_red": 1599, "wine_white": 4898,
        "3droad_head5000": 5000, "kin8nm": 8192, "power_plant": 9568, "naval": 11934, "pol": 15000, "elevators": 16599, "kin40k": 40000,
        "protein": 45730, "keggdirected": 48827, "keggundirected": 63608}
CANDIDATES = {"constant": (0, 10**9), "ridge": (0, 10**9), "gp-exact": (0, 2500), "dbk-exact": (0, 12000), "dnn": (0, 10**9), "dbk": (1000, 10**9)}
RIVALS = ["catboost", "ngboost", "pp-dkl"]
NETWORKS = ["realmlp", "tabm"]  # they predict a mean alone
SPLITS = 5


def candidates(data):
    """What auto would try on a table, whole or cut to a size (`pol@2000`)."""
    table, _, rows = data.partition("@")
    return [name for name, (least, most) in CANDIDATES.items() if least <= int(rows or ROWS[table]) <= most]


def default_tables():
    """Five random tenths to test on; the seed of the fit is that of the split."""
    for methods in ["auto"], None, RIVALS, NETWORKS:
        for table in ROWS:
            for method in candidates(table) if methods is None else methods:
                for split in range(SPLITS):
                    yield dict(zip(KEY, ("default_tables", table, method, split, f"--split-seed {split}")))


TANGENT = ["yacht", "boston", "energy", "concrete", "wine_red", "wine_white", "kin8nm"]
AROUND = [("bll", ""), ("rich-bll", ""), ("last-layer-laplace", ""), ("ntk-gp", ""), ("ntk-sketch", "--sketch 256"), ("ntk-sketch", "")]


def tangent():
    """The same network and split for all methods, by --network-from. White wine is foreign to red wine. The tangent kernel's process
    takes at most 4,000 rows, kin8nm has more."""
    for split in range(SPLITS):
        for table in TANGENT:
            for method, own in AROUND:
                if method != "ntk-gp" or ROWS[table] < 5000:
                    foreign = "--ood wine_white " if table == "wine_red" else ""
                    flags = f"{foreign}--scale standard --split-seed {split} --around dnn {own}".strip()
                    yield dict(zip(KEY, ("tangent", table, method, split, flags)))


SIZES = [200, 500, 1000, 2000, 5000, 10000]
SIZED = ["naval", "pol", "elevators", "kin40k", "protein", "keggdirected"]  # the tables of more than 10,000 rows


def sized(table, rows):
    """The name of a table cut to a size."""
    return f"{table}@{rows}"


def default_sizes():
    """The same tables at growing numbers of rows to fit on, with 4,000 rows to test on."""
    for seed in range(SPLITS):
        for rows in SIZES:
            for table in SIZED:
                if rows + TEST > ROWS[table]:
                    continue
                for method in ["auto", *candidates(sized(table, rows))]:
                    yield dict(zip(KEY, ("default_sizes", sized(table, rows), method, seed, f"--split-seed {seed}")))


FORMS = {"none": ("", ""), "robust": ("~robust", ""), "periodic": ("~periodic", ""), "dropout": ("", "--dropout 0.1"),
         "cosine": ("", "--schedule cosine")}
FORM_TABLES = [name for name, rows in ROWS.items() if rows >= 1000]


def input_forms():
    """What is said to make the mean of other networks for tables better, one change at a time of `dnn`."""
    for split in range(3):
        for table in FORM_TABLES:
            for form, (suffix, own) in FORMS.items():
                yield dict(zip(KEY, (form, table + suffix, "dnn", split, f"--split-seed {split} {own}".strip())))


MORE = {"by_size": "", "with_sketch": ",ntk-sketch"}
MORE_TABLES = [name for name, rows in ROWS.items() if rows < 3000]
MORE_LIMIT = "--time-limit 300"  # so that time leaves nothing out


def more_candidates():
    """auto with a candidate more than it has, beside itself."""
    for split in range(3):
        for table in MORE_TABLES:
            for arm, extra in MORE.items():
                own = f"--candidates {','.join(candidates(table))}{extra} {MORE_LIMIT}"
                yield dict(zip(KEY, (arm, table, "auto", split, f"--split-seed {split} {own}")))


STUDIES = (default_tables, default_sizes, input_forms, more_candidates, tangent)
