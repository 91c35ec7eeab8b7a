"""Ctrl-C ends a fit of every estimator with the best model so far, and no fit of a process whose parent ignores it."""

import contextlib
import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
import toys
from slimbayes import _estimators

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def interrupted_at(monkeypatch, stage, fit):
    """The result of a fit that gets Ctrl-C when its stage with this name begins."""
    begun = []

    def show(text):
        facts = json.loads(text)
        if facts.get("stage", "").startswith(stage) and not begun:
            begun.append(facts["stage"])
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_estimators, "shown", lambda *_: contextlib.nullcontext(show))
    try:
        return fit()
    finally:
        assert begun, f"no stage {stage}"


def series():
    X, y = toys.matrix(200)
    times = pd.date_range("2020-01-01", periods=len(y), freq="h")
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.cumsum(y), time=times)


def counts():
    X, y = toys.matrix(200)
    return X, np.random.default_rng(0).poisson(np.exp(y / 2))


# The stage is that of the first network, which comes after what is solved without steps.
FITS = {
    "Regressor": ("gp-exact 1/", lambda: sb.Regressor(time_limit=60).fit(*toys.matrix(200))),
    "Classifier": ("dnn 1/", lambda: sb.Classifier(time_limit=60).fit(toys.matrix(200)[0], toys.matrix(200)[1] > 0)),
    "CountRegressor": ("vbll 1/", lambda: sb.CountRegressor(time_limit=60).fit(*counts())),
    "Forecaster": ("dbk-exact 1/", lambda: sb.Forecaster(time_limit=60, time="time", window=6).fit(series(), "y")),
}


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_in_auto_keeps_the_candidates_that_ended(monkeypatch, name):
    stage, fit = FITS[name]
    model = interrupted_at(monkeypatch, stage, fit)
    assert type(model).__name__ == name and model.interrupted_
    assert any(note.startswith("interrupted") for note in model.notes_)
    facts = model._facts["summary"]["facts"]
    assert any("held-out NLL" in fact for fact in facts) and any("(interrupted)" in fact for fact in facts), facts
    assert not any("nan" in fact for fact in facts), facts


# With one thread, so that nothing has ended where this stage begins.
@pytest.mark.parametrize("name", ["Regressor", "Classifier", "CountRegressor"])
def test_ctrl_c_before_a_candidate_ended_raises(monkeypatch, name):
    fits = {"Regressor": lambda: sb.Regressor(time_limit=60, threads=1).fit(*toys.matrix(200)),
            "Classifier": lambda: sb.Classifier(time_limit=60, threads=1).fit(toys.matrix(200)[0], toys.matrix(200)[1] > 0),
            "CountRegressor": lambda: sb.CountRegressor(time_limit=60, threads=1).fit(*counts())}
    with pytest.raises(KeyboardInterrupt):
        interrupted_at(monkeypatch, "constant 1/", fits[name])


IGNORING = """
import signal, sys, warnings
sys.path[:0] = {paths!r}
import slimbayes as sb, toys
warnings.simplefilter("ignore")
X, y = toys.matrix(500)
print("started", flush=True)
model = sb.Regressor("dbk", steps=1000, patience=0).fit(X, y)
print(model.interrupted_, signal.getsignal(signal.SIGINT) == signal.SIG_IGN, flush=True)
"""


def test_a_ctrl_c_that_the_parent_ignores_stays_ignored():
    paths = [str(toys.ROOT / "build" / "python"), str(toys.ROOT / "tests" / "python")]
    process = subprocess.Popen([sys.executable, "-c", IGNORING.format(paths=paths)], stdout=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=100)[0] == "False True\n" and process.returncode == 0


def test_ctrl_c_ends_the_posterior_of_a_module():
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(*[layer for _ in range(3) for layer in (torch.nn.LazyLinear(64), torch.nn.Tanh())], torch.nn.LazyLinear(1))
    X = torch.randn(60_000, 8)
    net(X[:2])
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    with pytest.raises(KeyboardInterrupt):
        sb.posterior(net, (X, X[:, 0]))
