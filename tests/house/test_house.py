"""The house is in order, and each rule finds a planted violation (so that none of them is asleep)."""

import pathlib
import re

import house
import pytest
from exports import public_headers
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
    ("slimbayes/encoding/planted.h", "#pragma once\n#include <ATen/core/Tensor.h>\n", "encoding is free of tensors"),
    ("slimbayes/encoding/planted.cpp", '#include "slimbayes/core/check.h"\n', "encoding may not include core"),
    ("slimbayes/encoding/planted.cpp", '#include "slimbayes/data/dataset.h"\n', "encoding may not include data"),
    ("slimbayes/core/planted.cpp", '#include "../nn/network.h"\n', "include from the checkout's root"),
    ("slimbayes/nn/planted.cpp", '#include "slimbayes/train/trainer.h"\n', "nn may not include train"),
    ("slimbayes/objectives/planted.cpp", '#include "slimbayes/train/problem.h"\n', "objectives may not include train"),
    ("slimbayes/train/planted.cpp", '#include "slimbayes/nn/network.h"\n', "train may not include nn"),
    ("slimbayes/basis/planted.cpp", '#include "slimbayes/objectives/elbo.h"\n', "basis may not include objectives"),
    ("slimbayes/core/planted.cpp", '#include "slimbayes/method/method.h"\n', "core may not include method"),
    ("slimbayes/core/planted.cpp", '#include "slimbayes/answers/predictive.h"\n', "core may not include answers"),
    ("slimbayes/model/planted.cpp", '#include "slimbayes/fit/tuning.h"\n', "model may not include fit"),
    ("slimbayes/fit/planted.cpp", '#include "slimbayes/theory/rank_advice.h"\n', "fit may not include theory"),
    ("slimbayes/methods/plain/planted_options.h", "#pragma once\n#include <ATen/ATen.h>\n", "facts is free of tensors"),
    ("slimbayes/methods/planted/facts.cpp", '#include "slimbayes/method/method.h"\n', "facts may not include method"),
    ("slimbayes/methods/plain/planted.cpp", '#include "slimbayes/methods/last_layer/last_layer.h"\n',
     "the family plain includes the family last_layer"),
    ("slimbayes/methods/plain/planted.cpp", "RegistryRow planted_row() { return {}; }\n",
     "a method includes slimbayes/methods/plain/rows.h, which declares its row"),
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
    ("slimbayes/nn/planted.cpp", 'void f() { check(a > 0, "f", "a above 0",\n std::to_string(a)); }\n', "planted.cpp:1: this check makes"),
    ("slimbayes/nn/planted.cpp", 'void f() { place.check(a > 0, "f", "a" + name); }\n', "planted.cpp:1: this check makes"),
    ("slimbayes/nn/planted.cpp", 'void f() { internal_check(a > 0, "f", json.dump()); }\n', "planted.cpp:1: this check makes"),
    ("slimbayes/nn/planted.cpp", 'void f() {\n  refuse("f", "rows", "none", "raise --valid-fraction"); }\n',
     "planted.cpp:2: the library knows no flags (--valid-fraction)"),
    ("slimbayes/nn/planted.cpp", 'auto s = fmt::format("take it (--{})", name);\n', "the library knows no flags"),
    ("slimbayes/nn/planted.h", '#pragma once\ninline auto s = "--" + name;\n', "planted.h:2: the library knows no flags"),
    ("slimbayes/nn/planted.h", "#pragma once\nstruct Regression : Base {\n};\n", "planted.h:2: Regression is defined in slimbayes/answers/"),
    ("slimbayes/nn/planted.h", "#pragma once\ntemplate <class T>\nstruct Regression\n    : Base {\n};\n", "planted.h:2: Regression is defined"),
    ("slimbayes/nn/planted.h", "#pragma once\nusing Regression = int;\n", "planted.h:2: Regression is defined"),
    ("slimbayes/nn/planted.h", "#pragma once\nstruct SLIMBAYES_EXPORT Regression {\n};\n", "planted.h:2: Regression is defined in"),
    ("slimbayes/nn/planted.h", "#pragma once\nSLIMBAYES_EXPORT void f();\n", "planted.h:2: SLIMBAYES_EXPORT stands in installed"),
    ("slimbayes/core/planted_threads.cpp", "void f() { at::set_num_threads(1); }\n", "no global state"),
    ("slimbayes/core/planted_parallel.cpp", "void f() { at::parallel_for(0, 1, 1, f); }\n", "runs in one thread"),
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


def test_a_method_with_a_header_is_found(checkout):
    method = Source("slimbayes/methods/plain/planted.cpp",
                    '#include "slimbayes/methods/plain/rows.h"\n\nRegistryRow planted_row() { return {}; }\n')
    header = Source("slimbayes/methods/plain/planted.h", "#pragma once\n")
    assert "slimbayes/methods/plain/planted.h:1: a method has no header" in " ".join(house.violations([*checkout, method, header]))
    assert house.violations([*checkout, method]) == []


def test_a_family_may_include_its_own_files_and_lower_rooms(checkout):
    fine = Source("slimbayes/methods/last_layer/planted.cpp",
                  '#include "slimbayes/methods/last_layer/last_layer.h"\n#include "slimbayes/method/registry.h"\n')
    assert house.violations([*checkout, fine]) == []


def test_a_folder_with_too_many_units_is_found(checkout):
    many = [Source(f"slimbayes/basis/planted_{i}{ending}", "#pragma once\n" if ending == ".h" else "")
            for i in range(house.MOST_UNITS) for ending in (".h", ".cpp")]
    assert any(v.startswith("slimbayes/basis/:1: ") for v in house.violations([*checkout, *many]))


def test_the_facts_of_methods_are_those_of_the_build():
    build = (ROOT / "CMakeLists.txt").read_text()
    pattern = re.search(r'set\(SLIMBAYES_FACTS "([^"]+)"\)', build)[1]
    assert pattern.replace("[.]", r"\.").removeprefix("^") == house.FACTS.pattern


def test_the_headers_that_pages_name_are_installed():
    public = set(public_headers({s.path: s.text for s in house.read(ROOT)}))
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.cpp")]
    for page in pages:
        named = set(re.findall(r"slimbayes/[\w/]+\.h", page.read_text()))
        assert named <= public, page.name
    assert 60 <= len(public) <= 95  # a header more is a decision


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
    'auto css = "fill:var(--text);--a:{:.2f}"; i--; auto s = "a--b `.seed` `.noise=mse`";  // --valid-fraction\n',
])
def test_innocent_text_passes(checkout, text):
    assert house.violations([Source("slimbayes/nn/innocent.cpp", text)]) == []
