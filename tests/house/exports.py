"""What an installed header declares, and what a library exports: lists of names that tests compare."""

import functools
import re
import subprocess
from typing import NamedTuple

from cpp import PREPROCESSOR, code_lines, name_of, opened_by, without_template

TOKEN = "SLIMBAYES_EXPORT"
FIRST = "slimbayes/slimbayes.h"  # the installed headers are those that it reaches
GENERATED = "slimbayes/export.h"  # the header with the token: CMake makes it, the checkout has none
INCLUDED = re.compile(r'^#include "(slimbayes/[^"]+)"', re.M)

VIRTUAL = re.compile(r"\bvirtual\b|\boverride\b")
ERROR = re.compile(r":\s*public\s+std::\w*(?:error|exception|argument)\b")
CLASS = re.compile(rf"^(?:class|struct)\s+(?P<token>{TOKEN}\s+)?(?P<name>\w+)")
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\s+([\w:]+)")
# Statements that declare no function which is compiled into the library.
OTHER = re.compile(r"^(?:using|friend|typedef|static_assert|enum|inline|constexpr|extern)\b")
INLINE = re.compile(r"=\s*(?:0|default|delete)\s*$|\b(?:inline|constexpr)\b")
OPERATOR = re.compile(r"operator\s*[^\s(\w]+")


class Declared(NamedTuple):
    kind: str  # "function": defined in a source file; "virtual": any virtual function; "class": with its body; "error": thrown
    name: str  # such as slimbayes::Model::predict
    exported: bool  # it or a class around it carries the token
    at: int  # where it stands in the header

    @property
    def scope(self):
        return self.name.rpartition("::")[0]


def public_headers(text_of):
    """The paths of the installed headers, as cmake/PublicHeaders.cmake finds them. `text_of` maps paths to texts."""
    found, todo = [], [FIRST]
    while todo:
        header = todo.pop()
        if header not in found and header != GENERATED:
            found.append(header)
            todo += INCLUDED.findall(text_of[header])
    return found


def declarations(source):
    """Every function and class that a header declares at the level of a namespace or a class, except templates, which are
    compiled where they are used."""
    text = "\n".join(line for _, line in code_lines(source))
    text = PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return list(_in_scope(text, 0, len(text), "", False))


@functools.cache
def unexported(source):
    """Those declarations of an installed header that lack the token: a program that uses them could not be linked, or could
    not catch or cast them."""
    found = declarations(source)
    polymorphic = {d.scope for d in found if d.kind == "virtual"}
    return [d for d in found if not d.exported
            and (d.kind in ("function", "error") or d.kind == "class" and d.name in polymorphic)]


def _in_scope(text, at, end, scope, exported):
    """The declarations in text[at:end], the inside of the scope with this name (such as "slimbayes::Model::")."""
    start, depth = at, 0  # of the statement; depth within parentheses
    while at < end:
        c = text[at]
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == ";":
            yield from _of_statement(text, start, at, scope, exported)
            start = at + 1
        elif depth == 0 and c == "{":
            head, close = text[start:at], _behind_brace(text, at)
            kind = opened_by(head)
            if not _is_template(head):
                yield from _of_block(text, start, at, close, scope, exported)
            at = close
            if kind != "initialiser":  # of a member in the list of a constructor, whose body follows
                start = at
            continue
        at += 1


def _of_block(text, start, brace, close, scope, exported):
    head = text[start:brace]
    bare = without_template(head)
    at = start + head.index(bare)
    kind = opened_by(head)
    if kind == "function" and VIRTUAL.search(bare):
        yield Declared("virtual", scope + name_of(head), exported, at)
    elif kind == "scope":
        if match := CLASS.match(bare):
            exported = exported or match["token"] is not None
            yield Declared("error" if ERROR.search(bare) else "class", scope + match["name"], exported, at)
            yield from _in_scope(text, brace + 1, close - 1, f"{scope}{match['name']}::", exported)
        elif match := NAMESPACE.match(bare):
            yield from _in_scope(text, brace + 1, close - 1, f"{scope}{match[1]}::", False)


def _of_statement(text, start, end, scope, exported):
    head = text[start:end]
    bare = without_template(head)
    if _is_template(head) or OTHER.match(bare):
        return
    plain = _without_arguments(bare)
    before = re.match(r"[^(=]*", OPERATOR.sub("operator", plain)).group()  # the type and the name
    rest = OPERATOR.sub("operator", plain)[len(before):]
    if not rest.startswith("(") or re.match(r"\(\s*\*", rest):
        return  # a variable, or a pointer to a function
    at = start + head.index(bare)
    if VIRTUAL.search(bare):
        yield Declared("virtual", scope + name_of(plain), exported, at)
    if not INLINE.search(bare):
        yield Declared("function", scope + name_of(plain), exported or TOKEN in bare, at)


def _is_template(head):
    return re.match(r"\s*(?:(?:public|private|protected)\s*:\s*)*template\b", head) is not None


def _without_arguments(head):
    """The head without the arguments of its templates: `std::function<int(int)> f` becomes `std::function f`."""
    before = None
    while before != head:
        before, head = head, re.sub(r"(?<!operator)(?<=\w)<[^<>]*>", "", head)
    return head


def _behind_brace(text, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def exported_symbols(library):
    """The symbols that a library exports and defines, as (letter of nm, demangled name)."""
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return [tuple(line.split(" ", 2)[1:]) for line in lines.splitlines()]


def exported_functions(symbols):
    """The functions of slimbayes among the symbols that only one library may define (no instances of templates, no inline
    functions), as {name: number of overloads}. The two symbols of a constructor count once."""
    overloads = {name for letter, name in symbols if letter == "T" and name.startswith("slimbayes::")}
    counts = {}
    for name in overloads:
        plain = re.sub(r"\[abi:\w+\]", "", name)
        plain = plain[:plain.index("(", plain.find("operator()") + 10 if "operator()" in plain else 0)]
        counts[plain] = counts.get(plain, 0) + 1
    return counts
