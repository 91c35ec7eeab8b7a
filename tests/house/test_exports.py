"""The libraries export what the installed headers declare, and nothing else: a program that uses any of it can be linked, and
no symbol of an inner part meets one of another library."""

import pathlib
import re

import exports
import house
import pytest
from house import Source

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
TORCH_FREE = re.compile(r"slimbayes/(?:storage|catalog)/|slimbayes/version\.h$")


@pytest.fixture(scope="module")
def declared():
    """The functions that the installed headers declare and do not define: {header: names, one for each overload}."""
    texts = {s.path: s.text for s in house.read(ROOT)}
    return {path: [d.name for d in exports.declarations(texts[path]) if d.kind == "function"]
            for path in exports.public_headers(texts)}


def counted(names):
    return {name: names.count(name) for name in names}


def test_the_library_exports_the_functions_of_the_installed_headers(declared):
    names = [name for those in declared.values() for name in those]
    assert len(names) > 300
    assert exports.exported_functions(exports.exported_symbols(BUILD / "rooms/libslimbayes.so")) == counted(names)


def test_the_torch_free_library_exports_those_without_tensors(declared):
    names = [name for path, those in declared.items() if TORCH_FREE.match(path) or house.FACTS.match(path) for name in those]
    assert len(names) > 80
    assert exports.exported_functions(exports.exported_symbols(BUILD / "rooms/libslimbayes_base.so")) == counted(names)


@pytest.mark.parametrize("library", ["libslimbayes.so", "libslimbayes_base.so"])
def test_the_rest_of_what_a_library_exports_belongs_to_its_classes_or_to_templates(library):
    for letter, name in exports.exported_symbols(BUILD / "rooms" / library):
        own = letter == "T" and name.startswith("slimbayes::")
        of_class = re.fullmatch(r"(?:vtable|typeinfo|typeinfo name|VTT) for slimbayes::\w+", name)
        assert own or of_class or letter in "VWu", (letter, name)


def test_what_is_thrown_or_cast_has_its_type_exported():
    names = {name for _, name in exports.exported_symbols(BUILD / "rooms/libslimbayes.so")}
    for type_ in "DataError", "Interrupted", "NumericalError", "OutOfMemory", "Callback", "Method", "Fitted", "ExactPosterior", "Source":
        assert f"typeinfo for slimbayes::{type_}" in names


@pytest.mark.parametrize("module, entry", [("lib/slimbayes_commands.so", "slimbayes_run"), ("lib/slimbayes_rows.so", "slimbayes_predict_rows"), ("python/slimbayes/_core.*.so", "PyInit__core")])
def test_a_module_exports_its_entry_alone(module, entry):
    (path,) = BUILD.glob(module)
    symbols = exports.exported_symbols(path)
    assert [name for letter, name in symbols if letter not in "VWu"] == [entry]
    assert not [name for _, name in symbols if name.startswith("slimbayes::")]


def test_a_function_that_is_not_exported_is_found(tmp_path):
    sources = [s._replace(text=s.text.replace("SLIMBAYES_EXPORT const char*", "const char*")) if s.path == "slimbayes/version.h" else s
               for s in house.read(ROOT)]
    assert house.violations(sources) == ["slimbayes/version.h:8: slimbayes::version is in an installed header and lacks SLIMBAYES_EXPORT"]


# (a header, the names of what is not exported in it)
HEADERS = [
    ("namespace a {\nvoid f(int x = g(1), std::map<int, int> y = {});\n}", ["a::f"]),
    ("namespace a::b {\n[[noreturn]] void f();\n}", ["a::b::f"]),
    ("namespace a {\n[[noreturn]] SLIMBAYES_EXPORT void f();\nSLIMBAYES_EXPORT A operator+(A a, A b);\n}", []),
    ("namespace a {\nA operator==(A a, A b);\n}", ["a::operator=="]),
    ("struct A {\n  A(int x) : x_{x}, y_(2) {}\n  int f() const { return 1; }\n  A(const A&) = delete;\n  int x_, y_;\n};", []),
    ("struct A {\n  explicit A(int x);\n  void f();\n};", ["A::A", "A::f"]),
    ("class SLIMBAYES_EXPORT A {\n  struct B {\n    void f();\n  };\n  void f() const;\n  static A of();\n};", []),
    ("struct A {\n  virtual ~A() = default;\n  virtual void f() = 0;\n};", ["A"]),
    ("struct A {\n  virtual ~A() {}\n};", ["A"]),
    ("struct A : B {\n  void f() const override { g(); }\n};", ["A"]),
    ("class A : public std::runtime_error {\n public:\n  using runtime_error::runtime_error;\n};", ["A"]),
    ("template <class T>\nvoid f(T t);\ntemplate <class T>\nstruct A {\n  virtual void f();\n};\ninline int g() { return 1; }", []),
    ("struct A {\n  std::function<int(int)> f;\n  int (*g)(int) = nullptr;\n  int h = k(1);\n  std::vector<int> x = {1};\n};", []),
    ("enum class A { b };\nusing B = int(int);\ninline constexpr int c = f(1);\nstatic_assert(f(1));\n#define F(x) f(x);\n// void f();", []),
]


@pytest.mark.parametrize("text, names", HEADERS)
def test_what_a_header_must_export(text, names):
    assert [d.name for d in exports.unexported(text)] == names


def test_symbols_are_counted_by_function():
    symbols = [("T", "slimbayes::A::A(int)"), ("T", "slimbayes::A::A(double)"), ("T", "slimbayes::A::A(int)"), ("W", "slimbayes::g()"),
               ("T", "slimbayes::A::operator()(int) const"), ("T", "slimbayes::f[abi:cxx11](int (*)(int))"), ("D", "slimbayes::x")]
    assert exports.exported_functions(symbols) == {"slimbayes::A::A": 2, "slimbayes::A::operator()": 1, "slimbayes::f": 1}


def test_a_header_of_the_source_is_found_by_its_place():
    text = "#pragma once\nnamespace a {\n\n/// Says f.\nvoid f();\n}\n"
    assert [text.count("\n", 0, d.at) + 1 for d in exports.unexported(text)] == [5]
