"""The rules of the house, read off the sources: who may include whom, sizes, and what the library must not do.

Each rule is a function from a checkout's files to sentences `path:line: what is wrong`. Run as a program it checks the
checkout that it lies in.
"""

import pathlib
import re
import sys
from typing import NamedTuple

from cpp import code_lines, functions

# room: the rooms whose headers it may include. After ARCHITECTURE's `storage, catalog <- core <- ...`.
_BASE = {"storage", "catalog"}
_CORE = _BASE | {"core"}
_DATA = _CORE | {"data"}
_NN = _CORE | {"nn"}
ENTRY = {
    "storage": {"storage"},
    "catalog": _BASE,
    "core": _CORE,
    "table": {"storage", "catalog", "table"},
    "data": _DATA | {"table"},
    "nn": _NN,
    "basis": _NN | {"basis"},
    "objectives": _CORE | {"objectives"},
    "bayes": _NN | {"bayes"},
    "ntk": _NN | {"ntk"},
    "train": _DATA | {"table", "train"},
    "runtime": {"storage", "runtime"},
}
ENTRY["method"] = _DATA | _NN | {"table", "train", "method"}
ENTRY["families"] = set(ENTRY) - {"runtime"} | {"families"}
ENTRY["methods"] = ENTRY["families"] | {"methods"}
ENTRY["workflow"] = ENTRY["methods"] | {"workflow"}
ENTRY["report"] = ENTRY["workflow"] | {"report"}
ENTRY["root"] = set(ENTRY) | {"root"}  # slimbayes/*.h: version
TOOL_ENTRY = {"storage", "catalog", "root"}  # of the executable, which opens the engine only when it must

TORCH_FREE = {"storage", "catalog", "table", "runtime"}
TORCH = re.compile(r"^(ATen|torch|c10|caffe2)/")
# A method has options in the folder of its family in the catalogue; the other files of methods/ are shared by several.
METHOD_OF_CATALOG = re.compile(r"(\w+)_options\.h$")
MAX_LINES = 400
# Files that are mainly a table of data may be longer: it is looked up, not read, and is easier to search in one place.
TABLES: dict[str, str] = {}
MAX_FUNCTION = 60
# Temporary: longer functions that their owners have not cut yet, "path:name".
LONG_FUNCTIONS: set[str] = set()
SOURCES = {".h", ".cpp", ".py", ".sh", ".cmake", ".txt"}
NOT_SOURCES = {"requirements.txt"}
# A fit of networks on every core is many times slower beside other work, so the library chooses the number of threads of
# a call and gives the old one back at its end; nothing else sets it.
SCOPED_THREADS = "slimbayes/core/threads.cpp"
SCOPED_DENORMALS = "slimbayes/core/denormals.cpp"  # likewise, whether denormal numbers count as zero

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
PRINTS = re.compile(
    r"std::(cout|cerr|clog)\b|\b(?:std::)?(?:printf|fprintf|puts|putchar|fputs|fwrite)\s*\(|\b(?:stdout|stderr)\b|\bfmt::print\s*\(|\bstd::print")
THREADS = re.compile(r"\bset_num_threads\s*\(")
DENORMALS = re.compile(r"\bsetFlushDenormal\s*\(")
EXITS = re.compile(r"(?<![\w.>])(?:std::|::)?(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(|\bassert\s*\(")
# A message that names its function: CONTRIBUTING.md has its form, and the tool leaves the name out of what it prints.
MESSAGE = re.compile(r'"\[[A-Za-z_:-]+(?: [a-z]+)*\] (?!expected |internal error|tensor )')
SEEDS = re.compile(r"(?<![\w.>])(?:torch::|at::)?manual_seed\s*\(|\bsrand\s*\(|\bset_default_dtype")


class Source(NamedTuple):
    path: str  # relative to the checkout, with /
    text: str


def read(root):
    """Everything that is written by hand and compiled or run."""
    folders = ["slimbayes", "cli", "tests", "python", "examples", "benchmarks", "experiments", "scripts", "cmake"]
    paths = [p for f in folders for p in sorted((root / f).rglob("*")) if p.suffix in SOURCES and p.name not in NOT_SOURCES]
    return [Source(p.relative_to(root).as_posix(), p.read_text(encoding="utf-8")) for p in paths]


def room(path):
    """The room of a file, or None where no rule holds. data/table is a room of its own: it knows no tensors."""
    parts = path.split("/")
    if parts[0] != "slimbayes":
        return None
    if len(parts) == 2:
        return "root"
    if parts[1] == "data" and parts[2] == "table":
        return "table"
    return parts[1]


def tool_files(sources):
    """The sources of the executable slimbayes_tool, read off cli/CMakeLists.txt; the plug-in's are not among them."""
    build = "".join(s.text for s in sources if s.path == "cli/CMakeLists.txt")
    listed = re.search(r"add_executable\(slimbayes_tool\s+([^)]*)\)", build)
    return [f"cli/{name}" for name in listed.group(1).split()] if listed else []


def includes(source):
    for number, line in code_lines(source.text):
        if match := INCLUDE.match(line):
            yield number, match.group(1)


def check_rooms(sources):
    for source in sources:
        here = room(source.path)
        for number, target in includes(source):
            there = room(target)
            place = f"{source.path}:{number}"
            if here in TORCH_FREE and TORCH.match(target):
                yield f"{place}: {here} is free of tensors but includes {target}"
            elif here is not None and here not in ENTRY:
                yield f"{place}: the room {here} is not in the list of tests/house/house.py"
            elif here is not None and there is not None and there not in ENTRY[here]:
                yield f"{place}: {here} may not include {there} ({target})"
            elif here is not None and target.startswith("../"):
                yield f"{place}: include from the checkout's root, not {target}"


def reach(path, files, seen):
    """Every file that `path` includes, however far, with the way to it; system headers end a way."""
    for _, target in includes(files[path]):
        if target not in seen:
            seen[target] = f"{seen[path]} -> {target}"
            if target in files:
                reach(target, files, seen)
    return seen


def check_torch_reach(sources):
    """No torch-free file reaches torch through what it includes, and the tool's executable neither."""
    files = {s.path: s for s in sources}
    tool = [path for path in tool_files(sources) if path in files]
    for path in [*tool, *(p for p in files if room(p) in TORCH_FREE)]:
        way = next((w for target, w in reach(path, files, {path: path}).items() if TORCH.match(target)), None)
        if way:
            yield f"{path}:1: reaches torch through {way}"


def check_tool(sources):
    """The tool's executable knows storage and catalog alone."""
    files = {s.path: s for s in sources}
    for path in (p for p in tool_files(sources) if p in files):
        for target, way in reach(path, files, {path: path}).items():
            if room(target) not in TOOL_ENTRY | {None}:
                yield f"{path}:1: the tool may not include {room(target)} ({way})"


def check_methods_apart(sources):
    """A method never includes another; the registry includes all of them."""
    names = {m.group(1) for s in sources
             if s.path.startswith("slimbayes/catalog/") and (m := METHOD_OF_CATALOG.search(s.path))}
    for source in sources:
        if not source.path.startswith("slimbayes/methods/"):
            continue
        stem = pathlib.PurePosixPath(source.path).stem
        if stem not in names:
            continue
        for number, target in includes(source):
            other = pathlib.PurePosixPath(target)
            if str(other.parent) == "slimbayes/methods" and other.stem in names - {stem}:
                yield f"{source.path}:{number}: the method {stem} includes the method {other.stem}"


def check_shape(sources):
    for source in sources:
        lines = source.text.count("\n")
        if lines > MAX_LINES and source.path not in TABLES:
            yield f"{source.path}:{lines}: {lines} lines, at most {MAX_LINES}"
        if source.path.endswith(".h") and not source.text.startswith("#pragma once\n"):
            yield f"{source.path}:1: a header begins with #pragma once"


def check_exceptions(sources):
    """A file or function that is short enough stands on no list of longer ones."""
    for source in sources:
        if source.text.count("\n") <= MAX_LINES and source.path in TABLES:
            yield f"{source.path}:1: not longer than {MAX_LINES} lines: take it off the lists of tests/house/house.py"
        listed = {entry.split(":")[1] for entry in LONG_FUNCTIONS if entry.startswith(source.path + ":")}
        long = {name for name, first, last in functions(source.text) if last - first >= MAX_FUNCTION} if listed else set()
        for name in listed - long:
            yield f"{source.path}:1: {name} is not longer than {MAX_FUNCTION} lines: take it off the list of tests/house/house.py"


def check_functions(sources):
    """A function of the library and the tool can be read at once."""
    for source in sources:
        if not source.path.startswith(("slimbayes/", "cli/")) or not source.path.endswith((".h", ".cpp")):
            continue
        for name, first, last in functions(source.text):
            lines = last - first + 1
            if lines > MAX_FUNCTION and f"{source.path}:{name}" not in LONG_FUNCTIONS:
                yield f"{source.path}:{first}: {name} has {lines} lines, at most {MAX_FUNCTION}"


def check_manners(sources):
    """The library never prints, exits, asserts, seeds globally or changes the threads and their arithmetic."""
    rules = [(PRINTS, "the library never prints"), (EXITS, "the library never exits"),
             (SEEDS, "no global state is set: seed, dtype"),
             (THREADS, f"no global state is set: threads are those of {SCOPED_THREADS}"),
             (DENORMALS, f"no global state is set: denormal numbers are those of {SCOPED_DENORMALS}")]
    scoped = {THREADS: SCOPED_THREADS, DENORMALS: SCOPED_DENORMALS}
    for source in sources:
        if not source.path.startswith("slimbayes/"):
            continue
        for number, line in code_lines(source.text):
            for pattern, rule in rules:
                if source.path == scoped.get(pattern):
                    continue
                if match := pattern.search(line):
                    yield f"{source.path}:{number}: {rule} ({match.group().strip()})"


def check_messages(sources):
    """A message that names its function goes on with what was expected: a user is shown it without the name."""
    for source in sources:
        if not source.path.startswith(("slimbayes/", "cli/")):
            continue
        for number, line in enumerate(source.text.split("\n"), 1):
            if match := MESSAGE.search(line):
                yield f"{source.path}:{number}: after {match.group().strip()[1:]} a message says what was expected"


RULES = [check_rooms, check_torch_reach, check_tool, check_methods_apart, check_shape, check_functions, check_exceptions,
         check_manners, check_messages]


def violations(sources):
    return [sentence for rule in RULES for sentence in rule(sources)]


if __name__ == "__main__":
    found = violations(read(pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join(found) or "the house is in order")
    sys.exit(bool(found))
