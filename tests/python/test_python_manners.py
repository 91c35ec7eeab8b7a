"""Warnings, exceptions, pickles, threads, forks, Ctrl-C: a fit behaves as a library of Python should."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import toys
from joblib import Parallel, delayed

import slimbayes as sb

quiet = pytest.mark.filterwarnings("ignore::slimbayes.Note")


@pytest.fixture(scope="module")
def model():
    X, y = toys.matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sb.Regressor("dbk", steps=40).fit(X, y)


def test_the_same_seed_gives_the_same_bits(model):
    X, y = toys.matrix()
    again = sb.Regressor("dbk", steps=40).fit(X, y)
    assert (again.predict(X) == model.predict(X)).all()
    assert (sb.Regressor("dbk", steps=40, seed=1).fit(X, y).predict(X) != model.predict(X)).any()


def test_notes_are_warnings_of_one_class():
    X, y = toys.matrix(60)
    with pytest.warns(sb.Note) as caught:
        fitted = sb.Regressor("ridge").fit(X, np.random.default_rng(0).normal(size=60))
    assert {str(w.message) for w in caught if w.category is sb.Note} == {n for n in fitted.notes_}
    assert all(w.filename == __file__ for w in caught if w.category is sb.Note)


def test_exceptions_have_the_kinds_that_python_expects(tmp_path):
    assert issubclass(sb.DataError, ValueError) and issubclass(sb.NumericalError, ArithmeticError)
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(sb.DataError, match="bad.safetensors"):
        sb.load(tmp_path / "bad.safetensors")
    with pytest.raises(sb.DataError, match="absent"):
        sb.load(tmp_path / "absent.safetensors")


def test_models_are_pickled_and_copied_with_the_same_bits(model):
    X, _ = toys.matrix()
    for twin in pickle.loads(pickle.dumps(model)), copy.deepcopy(model):
        assert (twin.predict(X) == model.predict(X)).all() and twin.get_params() == model.get_params()


def test_threads_share_a_model(model):
    X, _ = toys.matrix()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: model.predict(X), range(40)))
    assert all((a == answers[0]).all() for a in answers)


def test_a_fit_lets_other_threads_run():
    X, y = toys.matrix(500)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sb.Regressor("dbk", steps=1500).fit(X, y)
    gained = counted[0] - before
    ended.set()
    thread.join()
    assert gained > 20


@quiet
def test_joblib_and_fork_do_not_hang(model):
    X, _ = toys.matrix()
    expected = model.predict(X)
    for answer in Parallel(n_jobs=2)(delayed(model.predict)(X) for _ in range(2)):
        assert (answer == expected).all()
    pipe, child = multiprocessing.get_context("fork").Pipe()
    forked = multiprocessing.get_context("fork").Process(target=lambda: child.send(np.abs(model.predict(X) - expected).max()))
    forked.start()
    assert pipe.poll(60) and pipe.recv() < 1e-6
    forked.join(60)
    assert forked.exitcode == 0


SLOW = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = {paths!r}
import contextlib, json
import slimbayes as sb, toys
from slimbayes import _estimators
X, y = toys.matrix(2000)
told = []
def show(text):
    if not told and ({when!r} == "at once" or json.loads(text).get("best") is not None):
        told.append(print("now", flush=True))
_estimators.shown = lambda *_: contextlib.nullcontext(show)
try:
    model = sb.Regressor({method!r}, epochs=10**6, patience=0).fit(X, y)
    print("model", model.interrupted_, model.predict(X).shape[0], flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print("alive", 1 + 1, flush=True)
"""


def interrupted(method, when):
    """What a fit prints that gets Ctrl-C at its beginning ("at once") or when a validation has chosen parameters ("validated")."""
    paths = [str(toys.ROOT / "build" / "python"), str(toys.ROOT / "tests" / "python")]
    process = subprocess.Popen([sys.executable, "-c", SLOW.format(paths=paths, method=method, when=when)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=100)[0].splitlines()
    assert process.returncode == 0
    return out


def test_ctrl_c_ends_a_fit_with_the_best_model_so_far():
    assert interrupted("dbk", "validated") == ["model True 2000", "alive 2"]


def test_ctrl_c_before_there_is_a_model_is_keyboard_interrupt():
    assert interrupted("ensemble", "at once") in (["interrupted", "alive 2"], ["model True 2000", "alive 2"])


def test_progress_goes_to_stderr_when_asked(capfd):
    X, y = toys.matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sb.Regressor("dbk", steps=200, progress=True).fit(X, y)
    assert "dbk" in capfd.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sb.Regressor("dbk", steps=40).fit(X, y)
    assert capfd.readouterr().err == ""


def test_a_fitted_models_card_is_html(model):
    card = model._repr_html_()
    assert card.startswith("<table>") and "dbk" in card and "x0, x1, x2" in card
    frame, y = toys.table(60)
    evil = sb.Regressor("ridge").fit(frame.rename(columns={"a": "<script>"}), y)
    assert "<script>" not in evil._repr_html_()


def test_the_import_loads_no_torch_and_no_scikit_learn():
    code = "import sys; import slimbayes; print(sorted({'torch', 'sklearn', 'pandas', 'pyarrow', 'slimbayes._core'} & set(sys.modules)))"
    env = {**os.environ, "PYTHONPATH": str(toys.ROOT / "build" / "python")}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("first", ["torch", "slimbayes._core"])
def test_torch_may_be_imported_before_or_after(first):
    second = {"torch": "slimbayes._core", "slimbayes._core": "torch"}[first]
    code = f"import {first}, {second}, torch; print(torch.linalg.cholesky(torch.eye(3)).sum().item())"
    env = {**os.environ, "PYTHONPATH": str(toys.ROOT / "build" / "python")}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout == "3.0\n"


def test_another_torch_is_refused_with_a_sentence():
    from slimbayes import _library

    with pytest.raises(ImportError, match="was built with torch 1.13.0 and found torch 2"):
        _library._check_torch("1.13.0")


@quiet
def test_a_report_is_the_page_of_the_tool(tmp_path):
    frame, y = toys.table(200)
    whole = frame.assign(price=y)
    fitted = sb.Regressor("ridge", test_fraction=0.2).fit(whole, "price")
    report = fitted.report(*toys.table(100, seed=7))
    assert report.html.startswith("<!DOCTYPE html>") and "<script" not in report.html and "srcdoc" in report._repr_html_()
    assert report.facts["headline"] in repr(report)
    report.save(tmp_path / "ours.html")
    fitted.save(tmp_path / "m.safetensors")
    new, target = toys.table(100, seed=7)
    new.assign(price=target).to_parquet(tmp_path / "new.parquet", index=False)
    toys.tool(tmp_path, "report", "m.safetensors", "new.parquet", "--out", "tool.html")
    ours, tools = ((tmp_path / f"{name}.html").read_text() for name in ("ours", "tool"))
    assert ours.replace("the frame", "") == tools.replace("new.parquet", "")
