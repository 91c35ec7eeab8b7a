"""The rules of the house, read off the sources: who may include whom, sizes, and what the library must not do.

Each rule is a function from a checkout's files to sentences `path:line: what is wrong`. Run as a program it checks the
checkout that it lies in.
"""

import pathlib
import re
import sys
from typing import NamedTuple

from cpp import code_lines, functions, literals
from exports import FIRST, GENERATED, TOKEN, public_headers, unexported

# room: the rooms whose headers it may include. After ARCHITECTURE's `storage, catalog <- core <- ...`.
_BASE = {"storage", "catalog"}
_CORE = _BASE | {"density", "core"}
_ANSWERS = _CORE | {"answers"}
_ENCODING = _BASE | {"table", "encoding"}
_DATA = _ANSWERS | _ENCODING | {"data"}
_ENGINE = _BASE | {"density", "kernels", "engine"}
_NN = _CORE | _ENGINE | {"nn"}
ENTRY = {
    "storage": {"storage"},
    "catalog": _BASE,
    "density": _BASE | {"density"},
    "core": _CORE | {"kernels"},
    "answers": _ANSWERS,
    "table": {"storage", "catalog", "table"},
    "encoding": _ENCODING,
    "kernels": _BASE | {"kernels"},
    "engine": _ENGINE,
    "data": _DATA,
    "nn": _NN,
    "basis": _NN | {"basis"},
    "objectives": _ANSWERS | {"objectives"},
    "bayes": _NN | {"bayes"},
    "ntk": _NN | {"ntk"},
    "train": _DATA | _ENGINE | {"train"},
    "facts": _BASE | {"facts"},
}
ENTRY["method"] = _DATA | _NN | {"train", "method"}
ENTRY["methods"] = set(ENTRY) | {"methods"}
ENTRY["serve"] = _ENCODING | _ENGINE | {"root", "serve"}
ENTRY["model"] = ENTRY["methods"] | {"serve", "model"}
for _room in "fit", "theory", "explain":
    ENTRY[_room] = ENTRY["model"] | {_room}
ENTRY["report"] = ENTRY["explain"] | {"report"}
ENTRY["root"] = set(ENTRY) | {"root"}  # slimbayes/*.h: version
TOOL_ENTRY = {"storage", "catalog", "facts", "root"}  # of the executable, which opens the engine only when it must

TORCH_FREE = {"storage", "catalog", "table", "encoding", "density", "kernels", "engine", "serve", "facts"}
TORCH = re.compile(r"^(ATen|torch|c10|caffe2)/")
# What a family says of its methods before a tensor exists: their options and facts. CMake knows these files by the same names.
FACTS = re.compile(r"slimbayes/methods/.*(/facts|_options)\.(h|cpp)$")
MOST_UNITS = 25  # of a folder: a header with its source is one
MAX_LINES = 400
MAX_FUNCTION = 60
SOURCES = {".h", ".cpp", ".py", ".sh", ".cmake", ".txt"}
NOT_SOURCES = {"requirements.txt"}
# A fit of networks on every core is many times slower beside other work, so the library chooses the number of threads of
# a call and gives the old one back at its end; nothing else sets it.
SCOPED_THREADS = "slimbayes/core/threads.cpp"
SCOPED_DENORMALS = "slimbayes/core/denormals.cpp"  # likewise, whether denormal numbers count as zero

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
PRINTS = re.compile(
    r"std::(cout|cerr|clog)\b|\b(?:std::)?(?:printf|fprintf|puts|putchar|fputs|fwrite)\s*\(|\b(?:stdout|stderr)\b|\bfmt::print\s*\(|\bstd::print")
# parallel_for is inlined, and without OpenMP, as our files are compiled, it runs in one thread.
THREADS = re.compile(r"\b(?:set_num_threads|parallel_for)\s*\(")
DENORMALS = re.compile(r"\bsetFlushDenormal\s*\(")
EXITS = re.compile(r"(?<![\w.>])(?:std::|::)?(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(|\bassert\s*\(")
# A message that names its function: CONTRIBUTING.md has its form, and the tool leaves the name out of what it prints.
MESSAGE = re.compile(r'"\[[A-Za-z_:-]+(?: [a-z]+)*\] (?!expected |internal error|tensor )')
# At the level of the namespace, on one line or several.
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
TYPE = re.compile(r"^(?:template *<[^{;]*>\s*)?(?:struct|class|enum(?: class)?) (?:SLIMBAYES_EXPORT )?(?P<name>\w+)(?: final)?\s*"
                  r"(?::[^;{]*)?\{|"
                  r"^using (?P<alias>\w+) *=", re.M)
# A flag of the command line in a text, or its dashes alone. Names of CSS, `var(--a)` and `--a:{`, are none.
FLAG = re.compile(r"(?<![\w-])(?<!var\()--[a-z{](?![\w-]*:\{)[\w-]*|^--$")
SPELLS_FLAGS = "slimbayes/catalog/option_tokens.cpp"
MADE_TEXT = re.compile(r"\b(?:fmt::format|std::to_string|in_quotes|nearest_hint|text_of|counted|described)\s*\(|\.(?:dump|substr|str)\(|"
                       r"\"\s*\+|\+\s*\"")
CHECK = re.compile(r"\b(?<!bound\.)(?<!pool\.)(?<!bound_\.)(?:internal_)?check\(")  # those two check bytes and a status
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
    """The room of a file, or None where no rule holds. data/table and the facts of methods/ know no tensors: rooms of their own."""
    parts = path.split("/")
    if parts[0] != "slimbayes":
        return None
    if len(parts) == 2:
        return "root" if path != GENERATED else None
    if parts[1] == "data" and parts[2] == "table":
        return "table"
    return "facts" if FACTS.match(path) else parts[1]


def family(path):
    """The family of a file of methods/, or None."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["slimbayes", "methods"] and len(parts) > 3 else None


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
    """The tool's executable knows storage, the catalogue and the facts of methods alone."""
    files = {s.path: s for s in sources}
    for path in (p for p in tool_files(sources) if p in files):
        for target, way in reach(path, files, {path: path}).items():
            if room(target) not in TOOL_ENTRY | {None}:
                yield f"{path}:1: the tool may not include {room(target)} ({way})"


def check_families_apart(sources):
    """A family never includes another; what two of them share lies in a lower room. A method has no header, so that no other
    method includes it; the header rows.h of its family declares its row, so that a row of another type does not compile."""
    for source in sources:
        own = family(source.path)
        for number, target in includes(source):
            if own is not None and family(target) not in (own, None):
                yield f"{source.path}:{number}: the family {own} includes the family {family(target)} ({target})"
    rows = re.compile(r"\bRegistryRow (\w+)_row\(\) *\{")
    headers = {s.path for s in sources if s.path.endswith(".h")}
    for source in sources:
        if not (family(source.path) and source.path.endswith(".cpp") and rows.search(source.text)):
            continue
        header = re.sub(r"\.cpp$", ".h", source.path)
        if header in headers:
            yield f"{header}:1: a method has no header: what others need of it lies in a file of its own"
        declared = f"slimbayes/methods/{family(source.path)}/rows.h"
        if declared not in [target for _, target in includes(source)]:
            yield f"{source.path}:1: a method includes {declared}, which declares its row"


def check_folders(sources):
    """A folder of the library is read at once."""
    units = {}
    for source in sources:
        if source.path.startswith("slimbayes/"):
            path = pathlib.PurePosixPath(source.path)
            units.setdefault(str(path.parent), set()).add(path.stem)
    for folder, names in units.items():
        if len(names) > MOST_UNITS:
            yield f"{folder}/:1: {len(names)} units, at most {MOST_UNITS}"


def check_shape(sources):
    for source in sources:
        lines = source.text.count("\n")
        if lines > MAX_LINES:
            yield f"{source.path}:{lines}: {lines} lines, at most {MAX_LINES}"
        # Highway includes these once for each instruction set; the other is C, whose compilers know guards alone.
        once = not source.path.endswith(("-inl.h", "/slimbayes_serve.h"))
        if source.path.endswith(".h") and once and not source.text.startswith("#pragma once\n"):
            yield f"{source.path}:1: a header begins with #pragma once"


def check_names(sources):
    """Two types of a namespace never have one name: a user's file may include both headers."""
    places = {}
    for source in sources:
        if not source.path.startswith("slimbayes/") or not source.path.endswith(".h"):
            continue
        text = "\n".join(line for _, line in code_lines(source.text))
        for match in TYPE.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            spaces = NAMESPACE.findall(text, 0, match.start())
            at = spaces[-1] if spaces else "slimbayes", match["name"] or match["alias"]
            places.setdefault(at, []).append(f"{source.path}:{number}")
    for (_, name), where in places.items():
        for place in where[1:]:
            yield f"{place}: {name} is defined in {where[0]}, too"


def check_exports(sources):
    """An installed header exports every function that it declares, what is thrown and what has a virtual function. Nothing else
    is exported."""
    files = {s.path: s.text for s in sources}
    public = public_headers(files) if FIRST in files else []
    for path in public:
        for missing in unexported(files[path]):
            number = files[path].count("\n", 0, missing.at) + 1
            yield f"{path}:{number}: {missing.name} is in an installed header and lacks {TOKEN}"
    for source in sources:
        if TOKEN in source.text and source.path.endswith((".h", ".cpp")) and source.path not in public:
            for number, line in code_lines(source.text):
                if TOKEN in line:
                    yield f"{source.path}:{number}: {TOKEN} stands in installed headers alone"


def check_functions(sources):
    """A function of the library and the tool can be read at once."""
    for source in sources:
        if not source.path.startswith(("slimbayes/", "cli/")) or not source.path.endswith((".h", ".cpp")):
            continue
        for name, first, last in functions(source.text):
            lines = last - first + 1
            if lines > MAX_FUNCTION:
                yield f"{source.path}:{first}: {name} has {lines} lines, at most {MAX_FUNCTION}"


def check_manners(sources):
    """The library never prints, exits, asserts, seeds globally or changes the threads and their arithmetic."""
    rules = [(PRINTS, "the library never prints"), (EXITS, "the library never exits"),
             (SEEDS, "no global state is set: seed, dtype"),
             (THREADS, f"no global state is set, and at::parallel_for runs in one thread: threads are those of {SCOPED_THREADS}"),
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


def check_texts(sources):
    """`check` is called with messages that are ready: one that has to be made is made for a mistake alone (`refuse`)."""
    for source in sources:
        if not source.path.startswith(("slimbayes/", "cli/", "python/")) or not source.path.endswith((".h", ".cpp")):
            continue
        text = "\n".join(line for _, line in code_lines(source.text))
        for call in CHECK.finditer(text):
            end, depth = call.end(), 1
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            if MADE_TEXT.search(source.text[call.end():end]):
                number = text.count("\n", 0, call.start()) + 1
                yield f"{source.path}:{number}: this check makes a text each time: if (...) refuse(...)"


def check_options(sources):
    """The library knows no flags: a text names an option by a token, which each front end spells in its own way."""
    for source in sources:
        if not source.path.startswith("slimbayes/") or not source.path.endswith((".h", ".cpp")) or source.path == SPELLS_FLAGS:
            continue
        for number, literal in literals(source.text):
            if match := FLAG.search(literal):
                yield f"{source.path}:{number}: the library knows no flags ({match.group().strip()}): `.name`, catalog/option_tokens.h"


RULES = [check_rooms, check_torch_reach, check_tool, check_families_apart, check_folders, check_shape, check_functions, check_names,
          check_exports, check_manners, check_messages, check_texts, check_options]


def violations(sources):
    return [sentence for rule in RULES for sentence in rule(sources)]


if __name__ == "__main__":
    found = violations(read(pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join(found) or "the house is in order")
    sys.exit(bool(found))
