"""What the library has to say about data and models, as warnings of one class."""

import re
import warnings


class Note(UserWarning):
    """A sentence on the data, the fit or the answers that a user should read. Silence all of them by
    ``warnings.simplefilter("ignore", slimbayes.Note)``."""


def in_python(text):
    """The sentence with the names of Python: "--test-fraction" becomes "test_fraction"."""
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])", lambda found: found[1].replace("-", "_"), text)


def warn(sentences, level=3):
    """Warns of each sentence, as if from the caller's caller."""
    for sentence in sentences:
        if sentence:
            warnings.warn(in_python(sentence), Note, stacklevel=level)
