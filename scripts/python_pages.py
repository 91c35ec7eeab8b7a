#!/usr/bin/env python3
"""Writes a page for each class of the Python package, docs/python/CLASS.md, from its docstrings. A test compares.

    PYTHONPATH=build/python .venv/bin/python scripts/python_pages.py
"""

import inspect
import pathlib
import re
import sys

import slimbayes as sb

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "python"
CLASSES = [sb.Regressor, sb.Classifier, sb.CountRegressor, sb.Forecaster, sb.Posterior, sb.Distribution, sb.Report]


def paragraphs(doc):
    """A docstring as Markdown: examples become blocks of code, "name : text" a list."""
    out, code = [], []
    for line in inspect.cleandoc(doc).splitlines():
        if line.startswith(">>>"):
            code.append(line.removeprefix(">>>").strip())
            continue
        if code:
            out += ["```python", *code, "```"]
            code = []
        found = re.match(r"(\w+(?: : \w+)?) : (.*)", line)
        out.append(f"- `{found[1]}`: {found[2]}" if found else line)
    out += ["```python", *code, "```"] if code else []
    return "\n".join(out).strip()


def head_and_parameters(cls):
    """The docstring before "Parameters", and (name, default, text) of each parameter."""
    head, _, tail = inspect.cleandoc(cls.__doc__).partition("Parameters\n----------\n")
    found = re.findall(r"^(\w+) : default=(.*)\n((?:    .*\n?)*)", tail, flags=re.M)
    return head, [(name, default, " ".join(text.split())) for name, default, text in found]


def methods(cls):
    """The public methods of the package itself, in the order of their definition, with their docstrings."""
    for base in cls.__mro__:
        if not base.__module__.startswith("slimbayes"):
            continue
        for name, value in vars(base).items():
            value = inspect.unwrap(value)
            if inspect.isfunction(value) and not name.startswith("_") and getattr(cls, name) is value:
                yield name, value, value.__doc__ or next((vars(b)[name].__doc__ for b in cls.__mro__ if name in vars(b) and vars(b)[name].__doc__), "")


def page(cls):
    head, parameters = head_and_parameters(cls)
    lines = [f"# {cls.__name__}", "", paragraphs(head), ""]
    for name, function, doc in methods(cls):
        signature = re.sub(r"\(self(, )?", "(", str(inspect.signature(function)))
        lines += [f"## {name}", "", f"`{name}{signature}`", "", paragraphs(doc), ""]
    if parameters:
        lines += ["## Keywords", "", "| keyword | default | what it does |", "|---|---|---|"]
        lines += [f"| `{name}` | `{default}` | {text.replace('|', chr(92) + '|')} |" for name, default, text in parameters]
        lines.append("")
    return "\n".join(lines)


def main(check=False):
    FOLDER.mkdir(exist_ok=True)
    for cls in CLASSES:
        path = FOLDER / f"{cls.__name__}.md"
        if check and (not path.exists() or path.read_text() != page(cls)):
            raise SystemExit(f"{path.name} is not what the docstrings say: run scripts/python_pages.py")
        path.write_text(page(cls))


if __name__ == "__main__":
    main("--check" in sys.argv)
