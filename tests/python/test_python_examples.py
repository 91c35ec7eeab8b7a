"""The examples of the Python package run as a user would run them."""

import os
import subprocess
import sys

import pytest
import toys

FOLDER = toys.ROOT / "examples" / "python"
SAYS = {"table": "the same bits: True", "series": "repeating the last value", "images": "on noise", "own_network": "the module's mean: True"}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(toys.ROOT / "build" / "python"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout and "nan" not in done.stdout.lower().replace("predominant", ""), done.stdout


def test_there_is_a_test_for_each():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SAYS)
