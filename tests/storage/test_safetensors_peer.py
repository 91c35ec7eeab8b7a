"""Python's safetensors opens what slimbayes writes, and slimbayes refuses what it did not write itself.

SLIMBAYES_TEST_STORAGE names the program test_storage (default: build/checks/test_storage of this checkout).
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLIMBAYES_TEST_STORAGE", str(ROOT / "build" / "checks" / "test_storage"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("peer")
    arrays = {"w": np.array([1.5, -2.0]), "half": np.zeros(3, np.float16)}
    safetensors.numpy.save_file(arrays, path / "foreign.safetensors", {"made": "by python"})
    subprocess.run(
        [PROGRAM, "--gtest_filter=Peer.*"],
        env={**os.environ, "SLIMBAYES_PEER_FOLDER": str(path)},
        check=True,
        capture_output=True,
    )
    return path


EXPECTED = {
    "flags": np.array([True, False, True]),
    "bytes": np.array([0, 1, 2, 254, 255], np.uint8),
    "half": np.array([[0.5, -1.0], [2.0, 3e30]], np.float32),
    "ints": np.array([[-7, 0, 7]], np.int32),
    "longs": np.array([-1, 1 << 60], np.int64),
    "none": np.zeros((0, 4)),
    "scalar": np.array(0.1),
    "weights": np.array([[1, 2, 3], [4, 5, 1e-300]]),
}


def test_numpy_reads_every_array(folder):
    arrays = safetensors.numpy.load_file(folder / "ours.safetensors")
    assert arrays.keys() == EXPECTED.keys()
    for name, expected in EXPECTED.items():
        assert arrays[name].dtype == expected.dtype
        np.testing.assert_array_equal(arrays[name], expected)


def test_torch_reads_every_array(folder):
    arrays = safetensors.torch.load_file(folder / "ours.safetensors")
    for name, expected in EXPECTED.items():
        assert torch.equal(arrays[name], torch.from_numpy(np.asarray(expected)))


def test_metadata_hold_version_and_checksum(folder):
    with safetensors.safe_open(folder / "ours.safetensors", "numpy") as file:
        metadata = file.metadata()
    assert metadata["method"] == "dbk"
    assert metadata["a note"] == 'line\nbreak, "quotes", caf\u00e9'
    assert metadata["format_version"] == "1"
    assert len(metadata["checksum"]) == 32


def test_arrays_are_aligned_to_their_elements(folder):
    data = (folder / "ours.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    for name, expected in EXPECTED.items():
        assert header[name]["data_offsets"][0] % expected.dtype.itemsize == 0
