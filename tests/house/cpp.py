"""Reads C++ sources for the rules of the house: the code without comments and texts, and where its functions are."""

import re

NOT_CODE = re.compile(r"""(?m)(?P<include>^[ \t]*\#[ \t]*include[^\n]*)|//[^\n]*|/\*(?s:.*?)\*/"""
                      r"""|R"(?P<tag>\w*)\((?s:.*?)\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
# What stands before the { of a function, of a scope that may hold functions, and of neither.
SCOPE = re.compile(r"^(?:inline\s+)?namespace\b|^extern\s*$|^(?:class|struct|union)\b")
NAME = re.compile(r"(operator\s*\S{1,3}|~?\w+)\s*$")


def code_lines(text):
    """Lines, numbered from 1, with comments and string literals blanked; #include lines are kept."""

    def blank(match):
        return match["include"] or re.sub(r"[^\n]", " ", match.group())

    return list(enumerate(NOT_CODE.sub(blank, text).split("\n"), 1))


def literals(text):
    """The string literals of the text with the numbers of their first lines, without their quotes."""
    for match in NOT_CODE.finditer(text):
        if match.group().startswith(('"', 'R"')):
            yield text.count("\n", 0, match.start()) + 1, match.group().removeprefix("R").strip('"')


def at_level(text):
    """`text` with blanks for what stands within parentheses and square brackets."""
    depth, kept = 0, []
    for c in text:
        depth -= c in ")]"
        kept.append(c if depth == 0 else " ")
        depth += c in "(["
    return "".join(kept)


def without_template(head):
    """The head of a definition without what may stand before it: `template <...>`, attributes, `public:`."""
    while match := re.match(r"\s*(?:\[\[[^\]]*\]\]|template\s*<|(?:public|private|protected)\s*:)", head):
        end, open_ = match.end(), match.group().endswith("<")
        while open_ and end < len(head):  # to the > that closes the list
            open_ += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:]
    return head.strip()


def opened_by(head):
    """What the { after `head` opens, at the level of a namespace or a class: "function", "scope", "initialiser" of a member
    in the list of a constructor, or "data"."""
    head = without_template(head)
    if SCOPE.match(head) and "(" not in at_level(head):
        return "scope"
    level = at_level(re.sub(r"operator\s*[^\s(\w]+", "operator", head))
    if head.count("(") > head.count(")"):  # the default of a parameter
        return "data"
    if "=" in level:  # a variable; a lambda is a function all the same
        return "function" if re.match(r"\s*\[", head[head.index("=") + 1:]) else "data"
    if "(" not in level:
        return "data"
    in_list = re.search(r"\)[^():]*(?<!:):(?!:)", level)
    return "initialiser" if in_list and re.search(r"[\w>]\s*$", level) else "function"


def name_of(head):
    """The name of the function (or of the variable that holds a lambda) with this head."""
    head = without_template(head)
    lambda_ = re.match(r"[^(=]*?(\w+)\s*=\s*\[", head)
    found = lambda_ or NAME.search(head[:head.find("(", head.find("operator()") + 10 if "operator()" in head else 0)])
    return found.group(1) if found else head[:40]


def functions(source):
    """Returns (name, first line, last line) of each function that is defined at the level of a namespace or a class. The
    source is formatted by clang-format. Lambdas and local classes are part of the function around them. A table of data is
    not a function."""
    text = "\n".join(line for _, line in code_lines(source))
    text = PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    found, inside, start, head = [], 0, 0, None  # inside: depth within braces that hold no definitions; head: of a function
    for at, c in enumerate(text):
        if c == "{":
            kind = opened_by(text[start:at]) if inside == 0 else "inner"
            if kind == "scope":
                start = at + 1
                continue
            if inside == 0:
                opened = kind
                head = text[start:at] if kind == "function" else None
            inside += 1
        elif c == "}" and inside > 0:
            inside -= 1
            if inside > 0 or opened in ("initialiser", "data"):
                continue  # the head goes on: to the body, or to the ; of a variable
            first = start + head.rindex(without_template(head))
            found.append((name_of(head), text.count("\n", 0, first) + 1, text.count("\n", 0, at) + 1))
            start = at + 1
        elif c in ";}" and inside == 0:
            start = at + 1
    return found
