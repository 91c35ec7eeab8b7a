"""The scripts say what they lack."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_tidy_names_the_package_that_is_missing(tmp_path):
    for name in ("bash", "dirname"):
        os.symlink(shutil.which(name), tmp_path / name)
    done = subprocess.run(["bash", ROOT / "scripts" / "tidy.sh"], capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "[tidy] clang-tidy is missing; as root: apt-get install -y --no-install-recommends clang-tidy\n"
