"""What the library has to say about data and models, as warnings of one class."""

import os
import sys
import warnings

from slimbayes._library import core

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Note(UserWarning):
    """A sentence on the data, the fit or the answers that a user should read. Silence all of them by
    ``warnings.simplefilter("ignore", slimbayes.Note)``."""


def level_of_caller():
    """The `stacklevel` of the first frame outside this package, for a warning of the function that asks."""
    frame, level = sys._getframe(1), 1
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame, level = frame.f_back, level + 1
    return level


def warn(sentences):
    """Warns of each sentence, at the line of the user's that called the package."""
    for sentence in sentences:
        if sentence:
            warnings.warn(core.in_python(sentence), Note, stacklevel=level_of_caller())


def warn_as(text, category):
    """A warning of another class, such as scikit-learn's, at the same line."""
    warnings.warn(text, category, stacklevel=level_of_caller())
