"""What the library has to say about data and models, as warnings of one class."""

import os
import re
import sys
import warnings

from slimbayes._library import core

_INNER = ("slimbayes", "sklearn", "joblib")  # packages whose lines say nothing to a user
_MOST = 10_000  # notes that are remembered


class Note(UserWarning):
    """A sentence on the data, the fit or the answers that a user should read. A process says a sentence once, and at one line of a program
    once whatever its numbers are, so that the folds of a cross-validation do not repeat it. `model.notes_` keeps those of a fit.
    ``warnings.simplefilter("always", slimbayes.Note)`` says all, ``warnings.simplefilter("ignore", slimbayes.Note)`` none; the variable
    SLIMBAYES_NOTES=0 of the environment silences them in the processes of a program that it starts, too."""


def _caller():
    """The frame of the user's line: the first one outside this package and those that fit its estimators."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals.get("__name__") or "").partition(".")[0] in _INNER:
        frame = frame.f_back
    return frame


_said = {}  # the keys of _marks, in the order in which they were said


def _marks(text, place):
    """What is remembered of a sentence: itself, and at its place in the program its beginning without numbers, plurals and what follows
    a colon, in which the folds of a cross-validation differ."""
    head = text.partition(": ")[0]
    cause = head if len(head.split()) > 3 else text
    return text, (re.sub(r"\d[\d.,e+-]*|s\b", "", cause), *place)


def _is_said_once(text, frame):
    """Whether the filters of the warnings module leave it to us to say a sentence once: "always" says all, "error" raises each time.
    The module's own memory is lost whenever a filter changes, which scikit-learn does for each fold."""
    for action, message, category, module, line in getattr(warnings, "_get_filters", lambda: warnings.filters)():
        if (issubclass(Note, category) and (message is None or message.match(text)) and line in (0, frame.f_lineno)
                and (module is None or module.match(frame.f_globals.get("__name__") or "<unknown>"))):
            return action in ("default", "module", "once")
    return True


def warn(sentences):
    """Warns of each sentence that was not said before, at the line of the user's that called the package."""
    if not sentences or os.environ.get("SLIMBAYES_NOTES") == "0":
        return
    frame = _caller()
    place, new = (frame.f_code.co_filename, frame.f_lineno), {}
    for text in dict.fromkeys(core.printable(sentence) for sentence in sentences if sentence):
        if _is_said_once(text, frame):
            marks = _marks(text, place)
            if any(mark in _said for mark in marks):
                continue
            new.update(dict.fromkeys(marks))
        try:
            warnings.warn_explicit(text, Note, *place, frame.f_globals.get("__name__"), {})
        except ValueError:
            if not getattr(sys.stderr, "closed", False):  # warnings writes to a closed one
                raise
    _said.update(new)
    while len(_said) > _MOST:
        del _said[next(iter(_said))]


def warn_as(text, category):
    """A warning of another class, such as scikit-learn's, at the same line."""
    frame = _caller()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__"), registry)
