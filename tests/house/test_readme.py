"""What the pages show is what is tested."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_its_build_file_is_the_one_that_the_consumer_builds():
    shown = re.search(r"```cmake\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)[1]
    consumer = (ROOT / "tests" / "consumer" / "CMakeLists.txt").read_text().splitlines()
    assert shown.replace("my_fit", "consumer").replace("fit.cpp", "main.cpp").splitlines() == [line for line in consumer if not line.startswith("#")]
