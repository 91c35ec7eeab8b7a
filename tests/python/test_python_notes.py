"""Notes are said once: not by every fold of a cross-validation and every call of predict."""

import subprocess
import sys
import warnings

import pytest
import slimbayes as sb
import toys
from sklearn.model_selection import GridSearchCV, cross_val_score
from slimbayes import _notes


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(_notes, "_said", {})


def said(action, work):
    """The notes that a program shows with this filter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action, sb.Note)
        work()
    return [str(w.message) for w in caught if w.category is sb.Note]


ODD = [f"{i} of 80 rows {'lies' if i == 1 else 'lie'} outside the range: row {3 * i} of 'x{i}'" for i in range(1, 6)]


def test_a_sentence_is_said_once():
    def at_two_lines():
        _notes.warn(["twice"])
        _notes.warn(["twice"])

    assert said("always", at_two_lines) == ["twice", "twice"] and said("ignore", at_two_lines) == []
    assert said("default", at_two_lines) == ["twice"] and said("default", at_two_lines) == []


def test_other_numbers_at_one_line_are_the_same_cause():
    def folds():
        for sentence in ODD:
            _notes.warn([sentence])

    assert said("default", folds) == ODD[:1] and said("always", folds) == ODD


def test_other_lines_and_other_sentences_of_a_call_are_other_causes():
    def two_lines():
        _notes.warn(ODD[:1])
        _notes.warn(ODD[1:3])

    assert said("default", two_lines) == ODD[:3]
    other = [f"dbk: {word} is odd" for word in ("rank", "noise")]
    assert said("default", lambda: [_notes.warn([sentence]) for sentence in other]) == other


FORGED = "`.class_rows`"  # what a token of an option looks like (catalog/option_tokens.h)


def test_a_foreign_text_is_no_option_and_stays_as_it_is():
    frame, y = toys.table(120)
    frame = frame.rename(columns={"a": f"a{FORGED}"}).assign(**{f"id{FORGED}": range(120), f"z{FORGED}": [f"0{i % 7}" for i in range(120)]})
    heard, refusals = [], []

    def work():
        model = sb.Regressor("ridge").fit(frame, y)
        report = model.report(frame, y)
        heard.extend([*model.notes_, *report.facts["notes"], *report.facts["warnings"], report.html])
        for wrong in (lambda: model.predict(frame.rename(columns={f"a{FORGED}": "other"})), lambda: sb.load(f"absent{FORGED}"),
                      lambda: sb.Regressor("ridge", ignore=[f"absent{FORGED}"]).fit(frame, y)):
            with pytest.raises(ValueError) as refused:
                wrong()
            refusals.append(str(refused.value))

    heard += said("always", work)
    assert any(f"'id{FORGED}'" in text for text in heard) and all(FORGED in text for text in refusals)
    text = "\n".join([*heard, *refusals])
    assert "likelihood='gaussian'" in text and "``." not in text
    assert text.count("class_rows") == text.count(FORGED)


def test_a_filter_of_errors_raises_each_time():
    for _ in range(2):
        with pytest.raises(sb.Note):
            said("error", lambda: _notes.warn(["an error"]))


def test_a_filter_by_message_is_heard():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", sb.Note)
        warnings.filterwarnings("always", "loud", sb.Note)
        for _ in range(2):
            _notes.warn(["loud", "quiet"])
    assert [str(w.message) for w in caught] == ["loud", "quiet", "loud"]


def test_a_variable_of_the_environment_silences_notes(monkeypatch):
    X, y = toys.matrix(60)
    monkeypatch.setenv("SLIMBAYES_NOTES", "0")
    assert said("error", lambda: cross_val_score(sb.Regressor("ridge"), X, y, cv=2, error_score="raise")) == []
    assert sb.Regressor("ridge").fit(X, y).notes_
    monkeypatch.setenv("SLIMBAYES_NOTES", "1")
    assert said("default", lambda: sb.Regressor("ridge").fit(X, y))


def test_the_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(_notes, "_MOST", 100)
    said("default", lambda: [_notes.warn([f"sentence {'a' * i}"]) for i in range(100)])
    assert len(_notes._said) == 100


def caught_here(X, y, model):
    """Whether the notes of a cross-validation name a line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sb.Note)
        cross_val_score(model, X, y, cv=2)
    return {w.filename for w in caught if w.category is sb.Note} == {__file__}


def test_folds_say_a_note_once():
    X, y = toys.matrix(120)
    model = sb.Regressor("ridge")
    every, once = (said(action, lambda: cross_val_score(model, X, y, cv=4)) for action in ("always", "default"))
    assert caught_here(X, y, model)
    assert len([note for note in every if "validation rows" in note]) == 4 and len([note for note in once if "validation rows" in note]) == 1
    assert len([note for note in once if "outside the training range" in note]) <= 1 < len(once) < len(every)


def test_folds_say_a_note_on_each_column_once():
    frame, y = toys.table(200)
    frame = frame.assign(c=1.0, d=2.0)
    search = GridSearchCV(sb.Regressor("ridge"), {"valid_fraction": [0.1, 0.2]}, cv=3)
    once, again, every = (said(action, lambda: search.fit(frame, y)) for action in ("default", "default", "always"))
    for name in "c", "d":
        sentence = f"column '{name}' is constant on the training rows: dropped"
        assert (once.count(sentence), again.count(sentence), every.count(sentence)) == (1, 0, 7)


def test_predictions_say_a_note_once():
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame, y)
    far = frame.assign(a=frame["a"] + 100)

    def calls():
        for i in range(3):
            model.predict(far[i:])
        model.predict_interval(far)

    assert len(said("default", calls)) == 1 and len(said("always", calls)) == 4


SILENT = """
import sys, warnings
sys.path[:0] = {paths!r}
import slimbayes as sb, toys
{change}
X, y = toys.matrix(60)
model = sb.Regressor("dbk", steps=20, progress=True).fit(X, y)
print(model.predict(X).shape[0])
"""


@pytest.mark.parametrize("change", ["sys.stderr = None", "sys.stderr.close()", "import os; os.close(2)", "sys.stderr = open('/dev/full', 'w')"])
def test_progress_needs_no_standard_error(change):
    paths = [str(toys.ROOT / "build" / "python"), str(toys.ROOT / "tests" / "python")]
    done = subprocess.run([sys.executable, "-c", SILENT.format(paths=paths, change=change)], capture_output=True, text=True, timeout=100)
    assert done.stdout == "60\n", done.stderr


def test_advice_on_texts_is_that_of_pandas():
    frame, y = toys.table(84)
    frame["day"] = [f"{1 + i % 28:02}.{1 + i % 12:02}.2020" for i in range(84)]
    frame["cost"] = ["1,5", "2,5", "3,25", "4,125"] * 21
    notes = "\n".join(sb.Regressor("ridge").fit(frame, y).notes_)
    assert "pandas.to_datetime with format names their format, such as '%d.%m.%Y'" in notes
    assert "pandas.read_csv with decimal=',' reads '1,5' as 1.5" in notes and "text file" not in notes
    model = sb.Regressor("ridge").fit(frame[["a", "b"]], y)
    with pytest.raises(ValueError, match=r"DataFrame\.rename gives a column its name"):
        model.predict(frame[["a"]])
