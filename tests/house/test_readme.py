"""What the pages show is what is tested."""

import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes")).resolve()


def methods_named(table):
    """The names in backticks of the first column of a page's tables."""
    return [name for row in re.findall(r"^\| (`[^|]*)\|", table, re.MULTILINE) for name in re.findall(r"`([\w-]+)`", row)]


def test_the_page_of_methods_lists_each_method_once():
    methods = [method["name"] for method in json.loads(subprocess.check_output([TOOL, "methods", "--json"]))]
    page = methods_named((ROOT / "docs" / "methods.md").read_text().partition("## The table\n")[2])
    assert sorted(page) == sorted(methods)
    assert set(methods_named((ROOT / "README.md").read_text().partition("## Which method?\n")[2])) <= set(methods)


def test_its_build_file_is_the_one_that_the_consumer_builds():
    shown = re.search(r"```cmake\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)[1]
    consumer = (ROOT / "tests" / "consumer" / "CMakeLists.txt").read_text().splitlines()
    assert shown.replace("my_fit", "consumer").replace("fit.cpp", "main.cpp").splitlines() == [line for line in consumer if not line.startswith("#")]
