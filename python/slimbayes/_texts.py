"""Texts and paths on their way into the library, which holds UTF-8."""

import os

from slimbayes._library import DataError, core


def checked(text, what):
    """The text. Raises DataError if UTF-8 cannot hold it. `what`: what the text is, for the message."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"expected {what} in UTF-8; received {text!r}, which holds half of a character (a lone surrogate); read the file in "
                        "its own encoding, or replace it: text.encode('utf-8', 'replace').decode()") from error
    return text


def listed(names):
    """The first names of a list for a message, without characters that control a terminal."""
    return core.printable(", ".join(map(str, names[:20])).encode("utf-8", "replace"))


def path(given):
    """A path as the bytes that the system knows it by: a name of a file need not be UTF-8."""
    try:
        name = os.fsencode(given)
    except TypeError as error:
        raise TypeError(f"expected a path as a text or a pathlib.Path; received {type(given).__name__}") from error
    except UnicodeEncodeError as error:
        raise ValueError(f"expected a path that the system can hold; received {given!r}") from error
    if b"\0" in name:
        raise ValueError(f"expected a path; received {given!r}, which holds a zero byte")
    return name
