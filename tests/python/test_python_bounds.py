"""Every keyword takes the extremes of its type or refuses them in a sentence: no crash, no exception of another kind."""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import slimbayes as sb
import toys
from slimbayes import _options
from slimbayes._library import core

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

EXTREMES = [-2**63, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -1, 0, 1, 4097, 100_000, True, 1e308, -1e308, 5e-324, 1.0, 0.5, 1 - 2**-53,
            float("nan"), float("inf"), -float("inf"), "", "x" * 65536, "," * 65536, "-1", "nan", "\0", [], ["x"], [1], {}, {"a": 1},
            np.int64(2**63 - 1), np.float32("inf"), np.bool_(True), np.array(3), None]


def taken(what, do):
    """Whether the library takes a value; fails unless it refuses by a ValueError, which DataError is too, of one sentence."""
    try:
        do()
    except (ValueError, TypeError) as error:
        said = str(error)
        assert "expected" in said and "received" in said, (what, said)
        assert not re.search(r"json\.exception|\[[A-Za-z_:]+\] ", said) and len(said) < 5000, (what, said)
        return False
    return True


def test_every_option_of_a_fit_and_of_its_run():
    X, y = toys.matrix(30)
    described = _options.description()
    for option in [*described["fit"], *described["run"]]:
        name = option["name"]
        if name in (*_options.OWN, "checkpoint_every"):
            continue
        for value in EXTREMES:
            if name == "threads" and value in (1.0, 4096):
                continue
            given = {"method": "ridge", name: value}
            if taken((name, value), lambda given=given: sb.Regressor(**given).fit(X, y)) and "range" in option and value is not None:
                low, high = option["range"]
                assert low <= float(value) <= high or value == option["default"], (name, value)


def test_every_option_of_every_method():
    for method in _options.description()["methods"]:
        for option in method["options"]:
            for value in EXTREMES:
                given = {"method": method["name"], option["name"]: value}
                taken((method["name"], option["name"], value), lambda given=given: json.loads(core.resolved(_options.request(given, "auto", "y"))))


@pytest.mark.parametrize("name", ["seeds", "repeats", "folds"])
def test_every_number_of_a_comparison(name):
    X, y = toys.matrix(30)
    for value in EXTREMES:
        if value is None or isinstance(value, np.ndarray) or (type(value) in (int, float) and 1 <= value < 100) or value is True:
            continue  # fitted
        assert not taken((name, value), lambda value=value: sb.compare(X, y, ["ridge"], **{name: value})) or value == 0


@pytest.mark.parametrize("call", ["predict_interval", "evaluate", "report", "predict_frame"])
def test_every_level_of_an_answer(call):
    X, y = toys.matrix(30)
    model = sb.Regressor("ridge").fit(X, y)
    data = (X, y) if call in ("evaluate", "report") else (X,)
    for value in [*EXTREMES, 1 - 1e-12, 1e-300, 10**400]:
        if taken((call, value), lambda value=value: getattr(model, call)(*data, level=value)) and value is not None:
            assert 0 < value < 1
    with pytest.raises(ValueError, match="above 0 and at most 0.999999999999"):
        getattr(model, call)(*data, level=1.0)


def test_the_numbers_of_a_posterior():
    torch = pytest.importorskip("torch")
    x, y = (np.float32(part) for part in toys.matrix(40))
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    for name in ("seed", "classes", "valid_fraction", "ridge"):
        for value in EXTREMES:
            taken((name, value), lambda name=name, value=value: sb.posterior(net, (x, y), method="bll", **{name: value}))
    fitted = sb.posterior(net, (x, y), method="bll")
    for value in [*EXTREMES[:-1], 10**400]:
        if taken(("level", value), lambda value=value: fitted.predict_interval(x, level=value)):
            assert 0 < value < 1


# A number of threads that the system refuses would end the process: so in one of its own.
def test_numbers_of_threads_beyond_the_bounds():
    code = """
import numpy, slimbayes, warnings
warnings.simplefilter("ignore")
X = numpy.random.default_rng(0).normal(size=(50, 2))
for threads in (4097, 20_000, 100_000, 2**31, 2**63 - 1, -1, -2):
    try:
        slimbayes.Regressor("ridge", threads=threads).fit(X, X[:, 0])
    except ValueError as error:
        assert "expected threads to be an integer from 0 to 4096" in str(error), error
    else:
        raise AssertionError(threads)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          env={"PYTHONPATH": str(pathlib.Path(sb.__file__).parents[1]), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
