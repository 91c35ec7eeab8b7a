"""What the studies of the default method share: the tables of numbers of the data folder with at least 300 rows, what auto would try
on each, and its NLL beside another's."""

from judge import Case
from paired import difference
from scores import label

# In the order of their rows. A candidate is measured where auto would try it.
ROWS = {"yacht": 308, "boston": 506, "energy": 768, "concrete": 1030, "song_head1176": 1176, "wine_red": 1599, "wine_white": 4898,
        "3droad_head5000": 5000, "kin8nm": 8192, "power_plant": 9568, "naval": 11934, "pol": 15000, "elevators": 16599, "kin40k": 40000,
        "protein": 45730, "keggdirected": 48827, "keggundirected": 63608}
CANDIDATES = {"constant": (0, 10**9), "ridge": (0, 10**9), "gp-exact": (0, 2500), "dbk-exact": (0, 12000), "dnn": (0, 10**9), "dbk": (1000, 10**9)}
SPLITS = 5
MARGIN = 0.02  # nats a row
SCALES = "auto, ridge and the exact GP standardise, the networks take -1 to 1: each its default"


def candidates(data):
    """What auto would try on a table, whole or cut to a size (`pol@2000`)."""
    table, _, rows = data.partition("@")
    return [name for name, (least, most) in CANDIDATES.items() if least <= int(rows or ROWS[table]) <= most]


def name_of(method):
    """The papers' name of a method, under which its scores stand."""
    return label(method, "")


def leads(scores, study, data, rival):
    """The NLL of auto minus the rival's, of the common splits; None without one."""
    return difference(scores.by_seed(study, data, "auto", "raw NLL"), scores.by_seed(study, data, name_of(rival), "raw NLL"))


def best_candidate(scores, study, data):
    """The candidate with the least mean NLL, and auto's lead over it; None as long as one is not measured."""
    found = [(scores.get(study, data, name_of(name), "raw NLL"), name) for name in candidates(data)]
    if any(score is None for score, _ in found):
        return None
    best = min(found, key=lambda each: each[0].mean)[1]
    lead = leads(scores, study, data, best)
    return lead and (best, lead)


def case(name, lead, margin=0.0, before=""):
    """Case: auto's NLL is below the other's plus the margin, decided by their difference; a single split decides nothing."""
    won = {-1: True, 0: None, 1: False}[lead.less(margin).sign] if lead else None
    return Case(name, won, f"{before}{lead}" if lead else "")


def beside_the_best(scores, study, tables):
    """The cases of auto's NLL beside the best candidate's plus MARGIN."""
    best = {data: best_candidate(scores, study, data) for data in tables}
    return [case(data, found and found[1], MARGIN, f"{found[0]} " if found else "") for data, found in best.items()]
