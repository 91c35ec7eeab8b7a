"""The studies' programs are scripts beside each other, not a package."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments"))
