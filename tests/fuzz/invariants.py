"""What must hold of every answer, message and run. A function returns a sentence for each fault that it sees, none if all is well."""

import json
import math
import re
import unicodedata

import numpy as np

CODES = (0, 1, 2, 130)
# What only a programmer understands, or a terminal obeys.
RAW = re.compile(
    r"std::|c10::|at::|Traceback|json\.exception|terminate called|basic_string|bad_alloc"
    r"|vector::|_M_|0x[0-9a-fA-F]{6,}|Exception raised|object at |nullptr|ssertion|mistake in slimbayes|unknown failure|codec can't"
    r"|\bNoneType\b|unsupported operand|internal error|Invalid:|incompatible function arguments")
FUNCTION = re.compile(r"\[[A-Za-z_]+::[A-Za-z_:]+\]|\[[A-Za-z_ -]+\] expected ")
STEERING = ("Cc", "Cf", "Cs")  # categories of characters that steer a terminal or turn text round
SCALES = ("mean", "median", "lower", "upper", "sd", "sd_aleatoric", "sd_epistemic", "sd_noise", "sd_function")


def plain_sentence(message):
    """A message is one line of words that its reader understands."""
    if "\n" in message.strip("\n"):
        return [f"expected one line; received {message!r}"]
    if match := RAW.search(message):
        return [f"expected a plain sentence; {match.group(0)!r} is none: {message!r}"]
    if odd := [c for c in message if unicodedata.category(c) in STEERING and c not in "\t\n\u200d\u200c"]:
        return [f"expected no control characters in a message; received {odd[0]!r}: {message!r}"]
    if len(message.split()) < 3:
        return [f"expected a sentence; received {message!r}"]
    return []


def without_function_names(message):
    """A message names no function of the library."""
    match = FUNCTION.search(message)
    return [f"expected no name of a function; received {match.group(0)!r}: {message!r}"] if match else []


def ended_well(code, stdout, stderr):
    """The exit code is one of the four, and a failure has one `error:` line and nothing on standard output."""
    if code not in CODES:
        return [f"expected one of the exit codes {CODES}; received {code}: {stderr[-300:]!r}"]
    errors = [line for line in stderr.splitlines() if line.startswith("error:")]
    if code == 0:
        return [f"expected no error of a command that succeeds; received {errors[0]!r}"] if errors else []
    if len(errors) != 1:
        return [f"expected one error: line with exit code {code}; received {len(errors)}: {stderr[-300:]!r}"]
    if code == 2 and stdout:
        return [f"expected nothing on standard output of a refusal; received {stdout[:100]!r}"]
    return plain_sentence(errors[0].removeprefix("error: "))


def raised_well(error):
    """An exception of the package is one that a program can catch, with a plain sentence."""
    if not isinstance(error, (ValueError, ArithmeticError, TypeError)) or isinstance(error, (UnicodeError, OverflowError, ZeroDivisionError)):
        return [f"expected a ValueError or an ArithmeticError; received {type(error).__name__}: {error}"]
    return plain_sentence(str(error))


def numbers_of(answers):
    """{name: [n] doubles} of the columns of answers that hold numbers."""
    return {name: values for name, values in answers.items() if values.dtype.kind == "f"}


def without_answer(answers):
    """[n] whether a row has no answer: all its numbers are missing."""
    values = list(numbers_of({k: v for k, v in answers.items() if k in SCALES or k.startswith("p_") or k == "entropy"}).values())
    return np.all(np.isnan(np.stack(values)), axis=0) if values else np.zeros(0, bool)


def finite(answers):
    """Every number of a row that has an answer is finite."""
    blank = without_answer(answers)
    out = []
    for name, values in numbers_of(answers).items():
        wrong = ~np.isfinite(values) & ~blank if name in SCALES or name.startswith("p_") else np.isinf(values)
        if wrong.any():
            out.append(f"expected finite numbers; received {values[wrong][0]} as {name} in row {np.argmax(wrong) + 1}")
    return out


def positive_sd(answers):
    """sd > 0, and sd^2 is the sum of the squares of its two parts."""
    if "sd" not in answers:
        return []
    sd = answers["sd"]
    answered = np.isfinite(sd)
    if (wrong := answered & ~(sd > 0)).any():
        return [f"expected a positive sd; received {sd[wrong][0]} in row {np.argmax(wrong) + 1}"]
    for a, b in (("sd_aleatoric", "sd_epistemic"), ("sd_noise", "sd_function")):
        if a in answers and b in answers:
            gap = np.abs(np.hypot(answers[a], answers[b]) / sd - 1)
            if (wrong := answered & ~(gap <= 1e-6)).any():
                row = np.argmax(wrong)
                return [f"expected sd^2 = {a}^2 + {b}^2; received {sd[row]}, {answers[a][row]}, {answers[b][row]} in row {row + 1}"]
    return []


def ordered(answers, median=None):
    """lower <= median <= upper at every level. `median`: [n], of answers that have no column of it."""
    median = answers.get("median") if median is None else median
    lows, highs = ([n for n in answers if n == side or n.startswith(f"{side}_")] for side in ("lower", "upper"))
    for low, high in zip(lows, highs, strict=True):
        middle = answers[low] if median is None else median
        wrong = (answers[low] > middle) | (middle > answers[high]) | (answers[low] > answers[high])
        if wrong.any():
            row = np.argmax(wrong)
            return [f"expected {low} <= median <= {high}; received {answers[low][row]}, {middle[row]}, {answers[high][row]} in row {row + 1}"]
    return []


def probabilities(answers):
    """The probabilities of the classes are in [0, 1], and their sum is 1."""
    values = [v for name, v in answers.items() if name.startswith("p_") and v.dtype.kind == "f"]
    if len(values) < 2:
        return []
    p = np.stack(values)
    answered = ~np.isnan(p).any(axis=0)
    if (wrong := answered & ((p < 0) | (p > 1)).any(axis=0)).any():
        return [f"expected probabilities in [0, 1]; received {p[:, wrong][:, 0].tolist()} in row {np.argmax(wrong) + 1}"]
    if (wrong := answered & (np.abs(p.sum(axis=0) - 1) > 1e-9)).any():
        return [f"expected probabilities with the sum 1; received {p.sum(axis=0)[wrong][0]!r} in row {np.argmax(wrong) + 1}"]
    return []


def answer(answers):
    """All that must hold of one table of answers."""
    return [*finite(answers), *positive_sd(answers), *ordered(answers), *probabilities(answers)]


def close(a, b, tolerance, what):
    """Two tables of answers are the same within `tolerance` of the scale: of numbers the sd of their row, of probabilities 1."""
    if list(a) != list(b):
        return [f"{what}: expected the same columns; received {list(a)} and {list(b)}"]
    for name in a:
        x, y = a[name], b[name]
        if len(x) != len(y):
            return [f"{what}: expected as many rows; received {len(x)} and {len(y)}"]
        if x.dtype.kind != "f" or y.dtype.kind != "f":
            wrong = np.array([spelt(p) != spelt(q) for p, q in zip(x, y, strict=True)], bool)
            wrong &= name != "label"  # two probabilities may tie
        else:
            scale = np.abs(a["sd"]) if name in SCALES and "sd" in a else 1.0
            whole = (x == np.round(x)) & (y == np.round(y))  # ends of the intervals of counts are whole numbers
            with np.errstate(invalid="ignore", over="ignore"):
                wrong = ~((np.abs(x - y) <= np.where(whole & (name[:5] in ("lower", "upper")), 1, 0) + tolerance * scale) | (x == y) | (np.isnan(x) & np.isnan(y)))
        if wrong.any():
            row = np.argmax(wrong)
            sd = f" (sd {a['sd'][row]!r})" if "sd" in a else ""
            return [f"{what}: expected the same {name}; received {x[row]!r} and {y[row]!r}{sd} in row {row + 1}"]
    return []


def spelt(label):
    """A class as text: pandas makes floats of whole numbers beside a missing one."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def same_bits(a, b, what):
    """Two tables of answers are the same to the last bit."""
    if list(a) != list(b):
        return [f"{what}: expected the same columns; received {list(a)} and {list(b)}"]
    for name in a:
        x, y = a[name], b[name]
        if x.dtype.kind == "f" and y.dtype.kind == "f" and x.shape == y.shape:
            wrong = (x.view(np.int64) != y.view(np.int64)) & ~(np.isnan(x) & np.isnan(y))
        else:
            wrong = np.array([spelt(p) != spelt(q) for p, q in zip(x, y, strict=True)], bool) if len(x) == len(y) else np.ones(1, bool)
        if wrong.any():
            row = np.argmax(wrong)
            return [f"{what}: expected the same bits; received {x[row]!r} and {y[row]!r} as {name} in row {row + 1}"]
    return []


def within(seconds, megabytes, most_seconds, most_megabytes, what):
    """The command ended within its limits."""
    out = []
    if seconds > most_seconds:
        out.append(f"expected {what} to end within {most_seconds} s; it took {seconds:.1f} s")
    if megabytes > most_megabytes:
        out.append(f"expected {what} to take at most {most_megabytes} MB; it took {megabytes:.0f} MB")
    return out


def finite_json(value, what, path=""):
    """Every number in a JSON value is finite."""
    if isinstance(value, dict):
        return [fault for key, one in value.items() for fault in finite_json(one, what, f"{path}.{key}")]
    if isinstance(value, list):
        return [fault for i, one in enumerate(value) for fault in finite_json(one, what, f"{path}[{i}]")]
    if isinstance(value, float) and not math.isfinite(value):
        return [f"expected finite numbers in {what}; received {value} as {path}"]
    return []


def json_text(text, what):
    """The text is one JSON value of finite numbers."""
    try:
        return finite_json(json.loads(text), what)
    except ValueError as error:
        return [f"expected JSON of {what}; received {text[:100]!r}: {error}"]


def gaussian_nll(y, mean, sd):
    """The mean negative log density of y; rows without a target or an answer do not count."""
    known = np.isfinite(y) & np.isfinite(mean)
    z = (y[known] - mean[known]) / sd[known]
    return float(np.mean(0.5 * z * z + np.log(sd[known]) + 0.5 * math.log(2 * math.pi)))


def same_score(reported, computed, what):
    """A score of `evaluate` is the one of the answers that `predict` gives."""
    if abs(reported - computed) <= 1e-6 * max(1.0, abs(computed)):
        return []
    return [f"{what}: expected the score of the predictions, {computed!r}; received {reported!r}"]
