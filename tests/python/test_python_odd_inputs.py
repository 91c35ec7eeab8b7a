"""Whatever a caller gives, the answer is a result or a plain sentence: no exception of numpy, Arrow, JSON or the binding."""

import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import slimbayes as sb
import toys

pytestmark = pytest.mark.filterwarnings("ignore")
HALF, HUGE, N = "\udc80", 10**400, 60
X, Y = toys.matrix(N)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
FOREIGN = ("json.exception", "codec", "incompatible", "Arrow", "could not convert", "too large", "int()", "float()", "object has no", "iterable",
           "inhomogeneous", "not supported between", "numpy type", "numpy()", "len()", "did not recognize", "extension<")


def ridge(**options):
    return sb.Regressor("ridge", **options)


def fitted():
    return ridge().fit(FRAME, Y)


def with_column(values):
    return FRAME.assign(k=pd.Series(values, dtype=object) if isinstance(values, list) else values)


REFUSED = {
    # half a character
    "half na": lambda: ridge(na=[HALF]).fit(FRAME, Y),
    "half ignore": lambda: ridge(ignore=[HALF]).fit(FRAME, Y),
    "half tune": lambda: sb.Regressor("dbk", tune=[HALF]).fit(FRAME, Y),
    "half method": lambda: sb.Regressor(HALF).fit(FRAME, Y),
    "half name": lambda: ridge().fit(pd.DataFrame(X, columns=pd.Index([HALF, "b", "c"], dtype=object)), Y),
    "half cell": lambda: ridge().fit(with_column(["x", HALF] * 30), Y),
    "half category": lambda: ridge().fit(with_column(pd.Categorical.from_codes([0, 1] * 30, pd.Index(["x", HALF], dtype=object))), Y),
    "half in an array": lambda: ridge().fit(np.array([["x", HALF]] * N, dtype=object), Y),
    "half target": lambda: ridge().fit(FRAME, HALF),
    "half name of a target": lambda: ridge().fit(FRAME, pd.Series(Y, name=HALF)),
    "half class": lambda: sb.Classifier("logistic").fit(FRAME, ["x", HALF] * 30),
    "half class of images": lambda: sb.Classifier("dnn").fit(np.zeros((N, 4, 4), np.uint8), ["x", HALF] * 30),
    "half keep": lambda: fitted().predict_frame(FRAME, keep=[HALF]),
    "half part": lambda: fitted().report(FRAME, Y, part=HALF),
    "half network": lambda: sb.Regressor("bll").fit(FRAME, Y, network_from=HALF),
    "half in compare": lambda: sb.compare(FRAME, pd.Series(Y, name=HALF), ["ridge"]),
    # nothing, and what is no table
    "no X, no y": lambda: ridge().fit(None, None),
    "no X": lambda: ridge().fit(None, Y),
    "a generator": lambda: ridge().fit((row for row in X), Y),
    "a set": lambda: ridge().fit({1, 2}, Y),
    "a dict": lambda: ridge().fit({"a": X[:, 0]}, Y),
    "a number": lambda: ridge().fit(5, Y),
    "rows of different lengths": lambda: ridge().fit([[1, 2], [3]] * 30, Y),
    "targets of different lengths": lambda: ridge().fit(X, [[1], [1, 2]] * 30),
    "an Arrow column": lambda: ridge().fit(pa.array(X[:, 0]), Y),
    "no images": lambda: sb.Classifier("dnn").fit(np.zeros((0, 4, 4), np.uint8), []),
    # numbers beyond a double or 64 bits
    "huge cell": lambda: ridge().fit(with_column([1, HUGE] * 30), Y),
    "huge in an array": lambda: ridge().fit(np.array([[1, HUGE]] * N, dtype=object), Y),
    "beyond 64 bits": lambda: ridge().fit(with_column([1, 2**64] * 30), Y),
    "huge target": lambda: ridge().fit(FRAME, [1, HUGE] * 30),
    "huge count": lambda: sb.CountRegressor("constant").fit(FRAME, [1, HUGE] * 30),
    "huge level": lambda: ridge(level=HUGE).fit(FRAME, Y),
    "huge level of an interval": lambda: fitted().predict_interval(FRAME, level=HUGE),
    "huge quantile": lambda: fitted().predict_quantiles(FRAME, HUGE),
    "huge seeds": lambda: sb.compare(FRAME, Y, ["ridge"], seeds=HUGE),
    "huge fraction": lambda: sb.compare(FRAME, Y, ["ridge"], test_fraction=HUGE),
    **{f"huge {name}": lambda name=name: sb.Regressor("dbk", **{name: sign}).fit(FRAME, Y)
       for name in ("seed", "threads", "steps", "ridge", "valid_fraction", "rank") for sign in (HUGE, -(10**5000))},
    # cells and targets of other types
    "complex cells": lambda: ridge().fit(with_column(X[:, 0] + 1j), Y),
    "complex objects": lambda: ridge().fit(np.array([[1j, 2]] * N, dtype=object), Y),
    "objects": lambda: ridge().fit(with_column([object()] * N), Y),
    "dicts": lambda: ridge().fit(with_column([{"a": 1}] * N), Y),
    "fractions": lambda: ridge().fit(with_column([fractions.Fraction(i, 3) for i in range(N)]), Y),
    "huge decimals": lambda: ridge().fit(with_column([decimal.Decimal("1e9999")] * N), Y),
    "periods": lambda: ridge().fit(with_column(pd.period_range("2020", periods=N)), Y),
    "intervals": lambda: ridge().fit(with_column(pd.cut(X[:, 0], 3)), Y),
    "records": lambda: ridge().fit(np.zeros((N, 2), dtype=[("a", "f8"), ("b", "i4")]), Y),
    "records as y": lambda: ridge().fit(X, np.zeros(N, dtype=[("a", "f8"), ("b", "i4")])),
    "bytes": lambda: ridge().fit(np.array([[b"a", b"\xff"]] * N), Y),
    "days as classes": lambda: sb.Classifier("logistic").fit(FRAME, np.array(["2020-01-01", "2021-01-01"] * 30, dtype="datetime64[D]")),
    "classes of two types": lambda: sb.Classifier("logistic").fit(X, ["a", 1] * 30),
    # options and arguments of other types
    "a list of steps": lambda: sb.Regressor("dbk", steps=np.arange(3)).fit(FRAME, Y),
    "a level of text": lambda: fitted().predict_interval(FRAME, level="a"),
    "a level of evaluate": lambda: fitted().evaluate(FRAME, Y, level=[0.5]),
    "a quantile of text": lambda: fitted().predict_quantiles(FRAME, "a"),
    "no quantile": lambda: fitted().predict_quantiles(FRAME, None),
    "keep no column": lambda: fitted().predict_frame(FRAME, keep=["zz"]),
    "keep a number": lambda: fitted().predict_frame(FRAME, keep=5),
    "part a number": lambda: fitted().report(FRAME, Y, part=5),
    "methods a number": lambda: sb.compare(FRAME, Y, 5),
    "merge with nothing": lambda: fitted().merge(None),
    "load nothing": lambda: sb.load(None),
    "a zero byte in a path": lambda: fitted().save("x\0.safetensors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_odd_inputs_are_refused_in_a_sentence(name):
    with pytest.raises((ValueError, TypeError)) as caught:
        REFUSED[name]()
    text = str(caught.value)
    assert type(caught.value) in (ValueError, TypeError, sb.DataError) and not any(word in text for word in FOREIGN), repr(caught.value)
    assert len(text) < 500 and text.encode()


@pytest.mark.parametrize("kind", ["meta", "sparse", "nested"])
def test_tensors_without_plain_numbers_are_refused_in_a_sentence(kind):
    import torch

    given = {"meta": torch.zeros(N, 3, device="meta"), "sparse": torch.tensor(X).to_sparse(),
             "nested": torch.nested.nested_tensor([torch.zeros(3)] * N)}[kind]
    with pytest.raises(ValueError, match="expected a dense tensor of numbers, with values"):
        ridge().fit(given, Y)


def test_the_message_of_a_target_quotes_what_is_no_number():
    with pytest.raises(ValueError, match="expected numbers as y; received others, such as 'oops'"):
        ridge().fit(X, [*map(float, Y[:-1]), "oops"])


def same(model, given):
    return (model.predict(given) == ridge().fit(X, Y).predict(X)).all()


def test_extended_floats_are_doubles():
    wide = X.astype(np.longdouble)
    assert same(ridge().fit(wide, Y.astype(np.longdouble)), wide)
    assert same(ridge().fit(X, Y), wide) and ridge(level=np.longdouble(0.9)).fit(FRAME.astype(np.longdouble), Y)
    assert sb.Classifier("logistic").fit(X, (Y > 0).astype(np.longdouble)).classes_.tolist() == [0, 1]


def test_sparse_columns_of_pandas_are_their_values():
    kinds = pd.Series(["p", "q", "r"] * 20)
    dense, sparse = (pd.get_dummies(kinds, sparse=sparse).assign(a=X[:, 0]) for sparse in (False, True))
    model = ridge().fit(dense, Y)
    assert (ridge().fit(sparse, Y).predict(sparse) == model.predict(dense)).all() and (model.predict(sparse) == model.predict(dense)).all()
    texts = FRAME.assign(k=pd.arrays.SparseArray(kinds.to_numpy(object), dtype=pd.SparseDtype(object, "p")))
    assert (ridge().fit(texts, Y).predict(texts) == ridge().fit(FRAME.assign(k=kinds), Y).predict(FRAME.assign(k=kinds))).all()
    classes = FRAME.assign(y=pd.arrays.SparseArray([0, 1] * 30))
    assert sb.Classifier("logistic").fit(classes, "y").classes_.tolist() == [0, 1]


def test_tensors_of_every_float_are_taken():
    import torch

    rounded = torch.tensor(X).bfloat16()
    assert (ridge().fit(rounded, Y).predict(rounded) == ridge().fit(rounded.double().numpy(), Y).predict(rounded.double().numpy())).all()
    assert same(ridge().fit(torch._neg_view(torch.tensor(-X)), torch.tensor(Y, requires_grad=True)), X)


def test_masked_texts_are_missing_cells():
    texts = np.ma.array([["p", "q"], ["q", "p"]] * 30)
    ridge().fit(texts, Y)
    texts[0, 0] = np.ma.masked
    assert np.isfinite(ridge().fit(texts, Y).predict(texts)).all()


def test_a_path_need_not_be_utf8(tmp_path):
    name = tmp_path / f"m{HALF}.safetensors"
    fitted().save(name)
    assert name.exists() and (sb.load(name).predict(FRAME) == fitted().predict(FRAME)).all()
    fitted().report(FRAME, Y).save(tmp_path / f"r{HALF}.html")
    assert (tmp_path / f"r{HALF}.html").stat().st_size > 1000


def test_names_may_be_an_index_or_an_array():
    assert ridge(ignore=FRAME.columns[:1]).fit(FRAME, Y).predict_frame(FRAME, keep=np.array(["b"])).columns[0] == "b"


def test_messages_cards_and_pages_hold_no_change_of_direction():
    evil = "a\u202e\u2066\u200e\u200f\u061c\x1b[2J"
    frame = FRAME.rename(columns={"a": evil})
    model = ridge().fit(frame, Y)
    texts = [model._repr_html_(), model.report(frame, Y).html, *model.notes_]
    with pytest.raises(ValueError) as refused:
        model.fit(frame, "zz")
    with pytest.raises(ValueError) as missing:
        model.predict(FRAME)
    for text in [*texts, str(refused.value), str(missing.value)]:
        assert not set(evil[1:6] + "\x1b") & set(text), text
    assert model.feature_names_in_[0] == evil
