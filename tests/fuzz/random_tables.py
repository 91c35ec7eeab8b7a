"""Random tables: training rows with a target that the columns partly explain, and new rows to predict.

Both are Arrow tables; random_files writes them. `Table.fit` has the options without which the table cannot be fitted, such as the
window of a series.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

import random_columns as columns

TASKS = {"regression": 10, "classification": 7, "counts": 3, "windows": 3, "text": 2, "events": 1}


class Table(NamedTuple):
    data: pa.Table  # the training rows, with the target
    target: str  # "" for events
    new: pa.Table  # rows to predict, as a user may have them: with other columns, types or values than `data`
    task: str  # regression, classification, counts, events
    kind: str  # table, windows, text
    fit: dict  # options of the fit
    exact: bool  # whether a CSV file of `data` has the same meaning
    wild: bool  # whether some cells, or the targets, may have no finite answer
    usual: bool  # whether `new` has the columns and types of `data`


NAMES = ["a,b", 'say "x"', "Größe", "温度", "x;y", "tab\tin", " blank ", "line\nbreak", "mean", "sd", "\u202egnp\u202c", "e\u0301", "1", "true",
         "p_1", "-", "=cmd", "a.b", "A", "a", "x" * 90, "target", "<script>", "it's", "y_1", "#"]


def names(draw, count):
    """Different names of columns: mostly plain ones, in one table of six also odd ones."""
    plain = [f"x{i}" for i in range(count)]
    if draw.random() > 0.17:
        return plain
    odd = draw.permutation(NAMES)[: draw.integers(1, 5)]
    return [str(odd[i]) if i < len(odd) else name for i, name in enumerate(plain)]


def row_count(draw):
    size = draw.choice(5, p=[0.08, 0.72, 0.185, 0.0125, 0.0025])
    return int(draw.integers(*[(1, 13), (13, 151), (150, 401), (2000, 3001), (8001, 10001)][size]))


def column_count(draw):
    return int(draw.integers(*[(1, 9), (9, 41), (300, 501)][draw.choice(3, p=[0.87, 0.12, 0.01])]))


def numbers(draw, signal):
    """Targets that are numbers, with a signal and noise: [n] and whether they are wild."""
    noise = draw.choice([0.0, 0.1, 1.0], p=[0.1, 0.5, 0.4])
    y = signal + noise * draw.normal(size=len(signal))
    kind = draw.choice(["plain", "scaled", "positive", "offset", "huge", "tiny", "ulps", "constant", "whole", "heavy", "one wild", "atoms"],
                       p=[0.5, 0.1, 0.08, 0.05, 0.02, 0.02, 0.03, 0.03, 0.06, 0.04, 0.04, 0.03])
    wild = kind in ("huge", "tiny", "heavy", "one wild")
    if kind == "scaled":
        y = y * 10.0 ** draw.integers(-9, 10)
    elif kind == "positive":
        y = np.exp(y * draw.choice([0.3, 1.0, 3.0]))
    elif kind == "offset":
        y = draw.choice([1e16, -1e9, 1e5]) + y
    elif kind in ("huge", "tiny"):
        y = y * 10.0 ** (draw.integers(100, 300) * (1 if kind == "huge" else -1))
    elif kind == "ulps":
        y = 0.3 + np.floor(2 * y) * np.spacing(0.3)
    elif kind == "constant":
        y = np.full(len(y), draw.choice([0.0, 3.0, 1e12]))
    elif kind == "whole":
        y = np.round(draw.choice([2.0, 50.0]) * y)
    elif kind == "heavy":
        y = signal + draw.standard_t(1, len(y))
    elif kind == "one wild":
        y[draw.integers(len(y))] = draw.choice([-1, 1]) * 10.0 ** draw.choice([3, 6, 12, 100])
    elif kind == "atoms":
        y = np.where(draw.random(len(y)) < 0.6, 0.0, y)
    return pa.array(y), bool(wild)


def classes(draw, signal):
    """Targets that are classes: two to ten, at times rare ones, of texts, numbers or booleans."""
    count = int(draw.choice([2, 3, 4, 10], p=[0.55, 0.25, 0.12, 0.08]))
    shares = draw.dirichlet(np.full(count, draw.choice([0.3, 5.0])))
    score = signal + draw.choice([0.1, 1.0]) * draw.normal(size=len(signal))
    edges = np.quantile(score, np.cumsum(shares)[:-1])
    number = np.searchsorted(edges, score)
    kind = draw.choice(["text", "whole", "boolean", "yes", "odd"])
    if kind == "boolean" and count == 2:
        return pa.array(number == 1), True
    if kind == "yes" and count == 2:
        return pa.array(np.array(["no", "yes"])[number]), False
    if kind == "whole":
        return pa.array(number + draw.choice([0, 1, -3])), True
    if kind == "odd":
        return pa.array([str(columns.LEVELS[v]) for v in number]), False
    return pa.array([f"class {v}" for v in number]), True


def counts(draw, signal):
    rate = np.exp(np.clip(draw.choice([0.5, 1.5]) * signal + draw.choice([-2.0, 0.5, 3.0, 12.0]), -20, 20))
    return pa.array(draw.poisson(rate))


def signal_of(draw, drawn):
    if not drawn:
        return np.zeros(0)
    first = drawn[draw.integers(len(drawn))].signal
    second = drawn[draw.integers(len(drawn))].signal
    return first + draw.choice([0.0, 1.0]) * np.sin(2 * second)


def of_rows(draw, task):
    """A table of independent rows for regression, classification or counts."""
    n, extra = row_count(draw), int(draw.integers(1, 30))
    drawn, total = [], n + extra
    width = column_count(draw) if n < 1000 else int(draw.integers(1, 5))
    for _ in range(width):
        drawn.append(columns.random_column(draw, total, drawn))
    signal, wild, exact = signal_of(draw, drawn), any(c.wild for c in drawn), all(c.exact for c in drawn)
    if task == "regression":
        cells, far = numbers(draw, signal)
        wild = wild or far
    elif task == "classification":
        cells, plain = classes(draw, signal)
        exact = exact and plain
    else:
        cells = counts(draw, signal)
    if draw.random() < 0.06:
        cells = pa.array(cells.to_pylist()[:-1] + [None], cells.type).take(draw.permutation(total))
    known = names(draw, width)
    target = "y" if draw.random() < 0.9 or "price, net" in known else "price, net"
    both = pa.table([c.cells for c in drawn] + [cells], names=[*known, target])
    if draw.random() < 0.1:  # repeated rows
        both = both.take(np.concatenate([draw.integers(0, max(1, n // 2), n), np.arange(n, total)]))
    new, usual = changed(draw, both.slice(n).drop_columns([target]))
    return Table(both.slice(0, n), target, new, task, "table", {}, exact, wild, usual)


def of_windows(draw):
    """A series with the target's own past, perhaps in groups, with gaps and other inputs."""
    groups = int(draw.choice([1, 1, 2, 3]))
    n = int(draw.integers(8, 120))
    parts = []
    for g in range(groups):
        noise = draw.normal(size=n)
        y = np.zeros(n)
        for i in range(1, n):
            y[i] = 0.8 * y[i - 1] + noise[i]
        hours = np.arange(n) + np.cumsum(draw.random(n) < draw.choice([0, 0.05])) * draw.integers(1, 5)
        times = pa.array((1_600_000_000 + 3600 * hours) * 10**6).cast(pa.timestamp("us"))
        other = columns.random_column(draw, n, []) if draw.random() < 0.5 else columns.plain(draw, n, [])
        parts.append((times, [f"station {g}"] * n, y, other))
    fit = {"window": int(draw.integers(1, 9)), "horizon": int(draw.integers(1, 4))}
    series = {"y": pa.array(np.concatenate([p[2] for p in parts]))}
    if draw.random() < 0.7:
        series["time"] = pa.chunked_array([p[0] for p in parts]).combine_chunks()
        fit["time"] = ["time"]
        if draw.random() < 0.3:
            fit["fill_gaps"] = True
    if groups > 1:
        series["station"] = pa.array([name for p in parts for name in p[1]])
        fit["group"] = ["station"]
    exact, wild = True, False
    if groups == 1 and draw.random() < 0.6:
        series["x"] = parts[0][3].cells
        exact, wild = parts[0][3].exact, parts[0][3].wild
    data = pa.table(series)
    new = data.slice(int(draw.integers(0, data.num_rows // 2))) if groups == 1 else data
    return Table(data, "y", new, "regression", "windows", fit, exact, wild, True)


def of_text(draw):
    n = int(draw.integers(5, 120))
    texts = columns.words(draw, n + 10, [])
    task = draw.choice(["regression", "classification"])
    cells = numbers(draw, texts.signal) if task == "regression" else classes(draw, texts.signal)
    both = pa.table({"text": texts.cells, "y": cells[0]})
    exact = bool(cells[1]) if task == "classification" else True
    wild = bool(cells[1]) if task == "regression" else False
    return Table(both.slice(0, n), "y", both.slice(n).drop_columns(["y"]), str(task), "text", {"text": "text"}, exact, wild, True)


def of_events(draw):
    n = int(draw.integers(5, 150))
    both = pa.table({"u": draw.beta(2, 3, n + 10), "v": draw.uniform(0, 2, n + 10)})
    return Table(both.slice(0, n), "", both.slice(n), "events", "table", {"likelihood": "cox", "domain": "0:1,0:2"}, True, False, True)


def changed(draw, new):
    """(the new rows, perhaps with what a user's new file may have; whether they are as the training rows)."""
    kind = draw.choice(["as trained", "far", "unseen", "missing", "narrow", "texts", "fewer columns", "shuffled"],
                       p=[0.6, 0.08, 0.08, 0.05, 0.05, 0.03, 0.04, 0.07])
    if kind == "as trained":
        return new, True
    if kind == "shuffled":
        order = [new.column_names[i] for i in draw.permutation(new.num_columns)]
        return new.select(order).append_column("another", pa.nulls(new.num_rows, pa.string())), True
    if kind == "fewer columns":
        return new.drop_columns([new.column_names[draw.integers(new.num_columns)]]), False
    out = []
    for field, cells in zip(new.schema, new.columns, strict=True):
        floating, text = pa.types.is_floating(field.type), pa.types.is_string(field.type)
        if kind == "far" and floating:
            cells = pa.array(draw.choice([-1, 1], new.num_rows) * 10.0 ** draw.uniform(0, 308, new.num_rows)).cast(field.type, safe=False)
            cells = pa.array(np.nan_to_num(cells.to_numpy(zero_copy_only=False), posinf=1e30, neginf=-1e30), field.type)
        elif kind == "unseen" and text:
            cells = pa.array(["never seen"] * new.num_rows)
        elif kind == "missing":
            cells = pa.nulls(new.num_rows, field.type)
        elif kind == "narrow" and pa.types.is_float64(field.type):
            cells = cells.cast(pa.float32(), safe=False)
        elif kind == "texts" and (floating or pa.types.is_integer(field.type)):
            cells = cells.cast(pa.string())
        out.append(cells)
    return pa.table(out, names=new.column_names), False


def random_table(draw):
    tasks = list(TASKS)
    weights = np.array([TASKS[task] for task in tasks], dtype=float)
    task = tasks[draw.choice(len(tasks), p=weights / weights.sum())]
    maker = {"windows": of_windows, "text": of_text, "events": of_events}.get(task)
    return maker(draw) if maker else of_rows(draw, task)
