"""Tables beyond memory that several processes read: `torchrun -m slimbayes fit --cache`, each rank with its own row groups."""

import json
import pathlib
import random
import shutil

import pyarrow
import pyarrow.parquet
import pytest
from test_torchrun import DBK, answers, ended, fitted, started

NORMS = ["--target", "y", "--method", "dnn", "--hidden", "16", "--batch", "100", "--threads", "1"]
CACHE = ["--cache", "cache", "--steps", "120"]


def table(n, seed):
    draw = random.Random(seed)
    a = [draw.uniform(-2, 2) for _ in range(n)]
    k = [draw.choice(["red", "blue", "green"]) for _ in range(n)]
    return pyarrow.table({"a": a, "k": k, "y": [x * (2 if c == "red" else -1) + 0.3 * draw.gauss(0, 1) for x, c in zip(a, k, strict=True)]})


@pytest.fixture(name="folders")
def two_folders_of_files(tmp_path):
    """Two machines with a copy each of a table of two files."""
    made = [tmp_path / "first", tmp_path / "second"]
    for folder in made:
        (folder / "data.csv").mkdir(parents=True)  # the name under which test_torchrun fits
        (folder / "cache").mkdir()
        pyarrow.parquet.write_table(table(4000, 1), folder / "data.csv" / "1.parquet", row_group_size=500)
        pyarrow.parquet.write_table(table(1000, 2), folder / "data.csv" / "2.parquet")
    return made


def report(done):
    codes, said = [one[0] for one in done], "".join(one[2] for one in done)
    assert set(codes) == {0}, said
    return json.loads(done[0][1])


def held_out(folder):
    pyarrow.parquet.write_table(table(1000, 3), folder / "new.parquet")
    done = ended(started([folder], ["evaluate", "model.safetensors", "new.parquet", "--json"]))
    return json.loads(done[0][1])["nll"]


@pytest.mark.parametrize("words", [DBK, [*NORMS, "--network", "mlp", "--batch-norm"]], ids=["dbk", "batch norms"])
def test_ranks_that_keep_their_own_rows_have_the_level_and_the_bits_of_themselves(folders, words):
    one = report(fitted(folders[:1], *words, *CACHE, "--json"))
    alone = held_out(folders[0])
    texts = []
    for _ in range(2):
        two = report(fitted(folders, *words, *CACHE, "--json"))
        assert two["rows"] == one["rows"]  # the same parts, whoever reads them
        assert two["ranks"]["share"] == "rows"
        texts.append(answers(folders[0]))
    assert texts[0] == texts[1]
    assert abs(held_out(folders[0]) - alone) < 0.05


def test_members_as_jobs_have_all_rows_on_every_rank(folders):
    words = ["--target", "y", "--method", "ensemble", "--of", "dnn", "--members", "2", "--hidden", "8", "--threads", "1", *CACHE]
    one = report(fitted(folders[:1], *words, "--json"))
    expected = answers(folders[0])
    two = report(fitted(folders, *words, "--json"))
    assert (two["rows"], two["ranks"]["share"]) == (one["rows"], "jobs")
    assert answers(folders[0]) == expected


def one_error(done):
    assert all(code != 0 for code, _, _ in done)
    said = "".join(text for _, _, text in done)
    assert said.count("error:") == 1 and "error:" in done[0][2], said
    return said


def damage(file):
    """Overwrites the last row group, behind the pages' header, so that it cannot be unpacked."""
    group = pyarrow.parquet.ParquetFile(file).metadata
    column = group.row_group(group.num_row_groups - 1).column(0)
    bytes_of = bytearray(pathlib.Path(file).read_bytes())
    begin = column.dictionary_page_offset or column.data_page_offset
    bytes_of[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    file.write_bytes(bytes_of)


def test_what_one_rank_cannot_read_ends_all_with_one_sentence(folders):
    for folder in folders:
        damage(folder / "data.csv" / "1.parquet")
    said = one_error(fitted(folders, *DBK, *CACHE))
    assert "1.parquet" in said and "row group 8 of the 8" in said

    shutil.copy(folders[1] / "data.csv" / "2.parquet", folders[1] / "data.csv" / "1.parquet")
    said = one_error(fitted(folders, *DBK, *CACHE))
    assert "the files of rank 0 on every rank (1.parquet of " in said and " bytes on rank 1" in said
