"""The house is in order, and each rule finds a planted violation (so that none of them is asleep)."""

import pathlib

import house
import pytest
from house import Source

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def checkout():
    return house.read(ROOT)


def test_the_checkout_keeps_every_rule(checkout):
    assert house.violations(checkout) == []


def test_the_scan_sees_the_sources(checkout):
    paths = {source.path for source in checkout}
    assert {"slimbayes/storage/tensor_file.h", "slimbayes/core/check.h", "slimbayes/method/method.h"} <= paths
    assert len(list(house.includes(next(s for s in checkout if s.path == "slimbayes/method/method.h")))) > 5


def test_every_room_has_a_rule(checkout):
    rooms = {house.room(source.path) for source in checkout} - {None}
    assert rooms <= set(house.ENTRY)


def lines_of(head, lines=61):
    """A definition of this many lines from its last line of `head` to its brace."""
    return head + "\n" + "  g();\n" * (lines - 2) + "}\n"


# (where it is planted, its text, a part of the sentence that must come)
PLANTED = [
    ("slimbayes/storage/planted.h", '#pragma once\n#include "slimbayes/core/check.h"\n', "storage may not include core"),
    ("slimbayes/storage/planted.h", "#pragma once\n#include <ATen/ATen.h>\n", "storage is free of tensors"),
    ("slimbayes/catalog/planted.h", "#pragma once\n  #  include <c10/util/Exception.h>\n", "catalog is free of tensors"),
    ("slimbayes/data/table/planted.cpp", "#include <ATen/ATen.h>\n", "table is free of tensors"),
    ("slimbayes/data/table/planted.cpp", '#include "slimbayes/data/dataset.h"\n', "table may not include data"),
    ("slimbayes/core/planted.cpp", '#include "slimbayes/data/table/table.h"\n', "core may not include table"),
    ("slimbayes/core/planted.cpp", '#include "../nn/network.h"\n', "include from the checkout's root"),
    ("slimbayes/nn/planted.cpp", '#include "slimbayes/train/trainer.h"\n', "nn may not include train"),
    ("slimbayes/objectives/planted.cpp", '#include "slimbayes/train/problem.h"\n', "objectives may not include train"),
    ("slimbayes/train/planted.cpp", '#include "slimbayes/nn/network.h"\n', "train may not include nn"),
    ("slimbayes/basis/planted.cpp", '#include "slimbayes/objectives/elbo.h"\n', "basis may not include objectives"),
    ("slimbayes/core/planted.cpp", '#include "slimbayes/method/method.h"\n', "core may not include method"),
    ("slimbayes/runtime/planted.cpp", '#include "slimbayes/catalog/methods.h"\n', "runtime may not include catalog"),
    ("slimbayes/cellar/planted.cpp", "#include <vector>\n", "the room cellar is not in the list"),
    ("slimbayes/nn/planted.h", "#include <vector>\n", "begins with #pragma once"),
    ("slimbayes/nn/planted.cpp", "int x;\n" * 401, "401 lines, at most 400"),
    ("tests/core/planted_test.cpp", "int x;\n" * 401, "401 lines, at most 400"),
    ("slimbayes/nn/planted.cpp", lines_of("int f(int a) {"), "planted.cpp:1: f has 61 lines, at most 60"),
    ("cli/planted.cpp", "namespace {\n\n" + lines_of("int f(int a) {"), "planted.cpp:3: f has 61 lines"),
    ("slimbayes/nn/planted.h", "#pragma once\nclass A {\n public:\n" + lines_of("A::B f(A b = {}) const override {"), "planted.h:4: f has 61"),
    ("slimbayes/nn/planted.cpp", lines_of("A::A(int a) : a_{a}, b_(1), c_{\"{\"} {"), "planted.cpp:1: A has 61 lines"),
    ("slimbayes/nn/planted.cpp", lines_of("template <class V = X<int>>\nbool A<V>::operator==(const A& b) {"), "operator== has 61 lines"),
    ("slimbayes/nn/planted.cpp", lines_of("const auto f = [](int a) {"), "planted.cpp:1: f has 61 lines"),
    ("slimbayes/nn/planted.cpp", lines_of("int f() {\n  const auto g = [] {") + "}\n", "planted.cpp:1: f has 63 lines"),
    ("slimbayes/nn/planted.cpp", 'void f() { std::cout << "x"; }\n', "never prints"),
    ("slimbayes/nn/planted.cpp", 'void f() { printf("x"); }\n', "never prints"),
    ("slimbayes/nn/planted.cpp", 'void f() { fmt::print("x"); }\n', "never prints"),
    ("slimbayes/nn/planted.cpp", "void f() { std::fwrite(a, 1, 1, file); }\n", "never prints"),
    ("slimbayes/nn/planted.cpp", "void f() { std::fflush(stdout); }\n", "never prints"),
    ("slimbayes/nn/planted.cpp", "void f() { std::exit(1); }\n", "never exits"),
    ("slimbayes/nn/planted.cpp", "void f() { std::abort(); }\n", "never exits"),
    ("slimbayes/nn/planted.cpp", "void f() { assert(x); }\n", "never exits"),
    ("slimbayes/nn/planted.cpp", "void f() { at::manual_seed(1); }\n", "no global state"),
    ("slimbayes/nn/planted.cpp", 'void f() { throw NumericalError("[train] the loss is nan"); }\n', "a message says what was expected"),
    ("slimbayes/core/planted_threads.cpp", "void f() { at::set_num_threads(1); }\n", "no global state"),
    ("slimbayes/core/planted_denormals.cpp", "void f() { at::globalContext().setFlushDenormal(true); }\n", "no global state"),
    ("slimbayes/nn/planted.cpp", "/* a\n * b */ void f() { torch::manual_seed(1); }\n", "planted.cpp:2: no global state"),
]


@pytest.mark.parametrize("path, text, sentence", PLANTED)
def test_a_planted_violation_is_found(checkout, path, text, sentence):
    found = [v for v in house.violations([*checkout, Source(path, text)]) if "planted" in v]
    assert any(sentence in v for v in found)


def test_torch_is_found_behind_other_headers(checkout):
    far = Source("slimbayes/catalog/far.h", "#pragma once\n#include <ATen/ATen.h>\n")
    near = Source("slimbayes/storage/near.h", '#pragma once\n#include "slimbayes/catalog/far.h"\n')
    found = house.violations([*checkout, far, near])
    assert any("near.h -> slimbayes/catalog/far.h -> ATen/ATen.h" in sentence for sentence in found)


# The executable's list is read off its CMake file; what only the plug-in is made of may see tensors.
@pytest.mark.parametrize("include, sentence", [
    ("ATen/ATen.h", "cli/planted.cpp:1: reaches torch"),
    ("slimbayes/method/method.h", "the tool may not include method"),
    ("slimbayes/data/table/table.h", "the tool may not include table"),
])
def test_a_tool_that_sees_more_than_catalog_is_found(checkout, include, sentence):
    others = [s for s in checkout if s.path != "cli/CMakeLists.txt"]
    build = "add_executable(slimbayes_tool main.cpp\n  {})\nadd_library(slimbayes_commands MODULE planted.cpp)\n"
    planted = Source("cli/planted.cpp", f"#include <{include}>\n")
    in_tool = Source("cli/CMakeLists.txt", build.format("planted.cpp"))
    in_plugin = Source("cli/CMakeLists.txt", build.format("other.cpp"))
    assert any(sentence in v for v in house.violations([*others, in_tool, planted]))
    assert not any("planted" in v for v in house.violations([*others, in_plugin, planted]))


def test_the_tools_files_are_known(checkout):
    assert "cli/main.cpp" in house.tool_files(checkout)


def test_a_method_that_includes_another_is_found(checkout):
    options = [Source(f"slimbayes/catalog/family/{name}_options.h", "#pragma once\n") for name in ("one", "other")]
    method = Source("slimbayes/methods/one.cpp", '#include "slimbayes/methods/other.h"\n')
    found = house.violations([*checkout, *options, method])
    assert "slimbayes/methods/one.cpp:1: the method one includes the method other" in found


def test_a_method_may_include_the_contract_and_the_registry_its_methods(checkout):
    options = [Source(f"slimbayes/catalog/family/{name}_options.h", "#pragma once\n") for name in ("one", "other")]
    fine = [Source("slimbayes/methods/one.cpp", '#include "slimbayes/method/method.h"\n#include "slimbayes/core/check.h"\n'),
            Source("slimbayes/methods/planted.cpp", '#include "slimbayes/methods/other.h"\n')]
    assert house.violations([*checkout, *options, *fine]) == house.violations(checkout)


def test_what_is_short_stands_on_no_list_of_exceptions(checkout, monkeypatch):
    monkeypatch.setattr(house, "TABLES", {"slimbayes/core/check.h": "planted"})
    monkeypatch.setattr(house, "LONG_FUNCTIONS", {"slimbayes/core/check.h:check_shape"})
    found = list(house.check_exceptions(checkout))
    assert any("slimbayes/core/check.h:1: not longer than 400 lines" in v for v in found)
    assert any("slimbayes/core/check.h:1: check_shape is not longer than 60 lines" in v for v in found)


# What looks like a long function but is none.
@pytest.mark.parametrize("text", [
    lines_of("int f() {", 60),
    lines_of("const std::vector<int> kTable = {"),
    lines_of("const std::map<int, int> kTable{"),
    lines_of("enum class Kind {"),
    "struct A {\n" + "  int f(int a) { return a; }\n" * 61 + "};\n",
    "namespace a {\n" + lines_of("void f() {", 40) + lines_of("void g() {", 40) + "}\n",
    "// int f() {\n" + "int x;\n" * 61 + "// }\n",
    "#define BEGIN {\n" + "int x;\n" * 61,
])
def test_only_functions_are_measured(text):
    assert house.violations([Source("slimbayes/nn/innocent.cpp", text)]) == []


# What looks like a violation but is none.
@pytest.mark.parametrize("text", [
    "// printf(x) would print; exit(1) would exit\n",
    'const char* s = "call std::exit(1), printf(\\"x\\")";\n',
    "/* at::manual_seed(1)\n   std::cout */\n",
    'auto s = R"(std::cout << assert(x))";\n',
    "static_assert(sizeof(int) == 4);\n",
    "void f(at::Generator g) { g.set_current_seed(1); std::snprintf(b, 3, f); loop.exit(); }\n",
    "char c = '\"'; int exit_code = 0;  // \"\n",
])
def test_innocent_text_passes(checkout, text):
    assert house.violations([Source("slimbayes/nn/innocent.cpp", text)]) == []
