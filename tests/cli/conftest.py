"""Drives the built tool: SLIMBAYES_TOOL, else build/slimbayes."""

import fcntl
import math
import os
import pathlib
import pty
import random
import signal
import struct
import subprocess
import termios
import threading

import pyarrow.parquet as parquet
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes")).resolve()
FEW = ["--steps", "50"]
for _number in signal.SIGHUP, signal.SIGINT:  # nohup and `&` of a script ignore them, and what we start would inherit that
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL if _number is signal.SIGHUP else signal.default_int_handler)


def run(folder, *words, **options):
    """The tool in a folder of its own, one thread: its process with text streams."""
    assert TOOL.exists(), f"build the tool first: {TOOL} is missing"
    return subprocess.run([TOOL, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120, **options)


def raw_on_terminal(folder, words, code=0, columns=0, variables=None):
    """The text that a terminal of so many columns gets from the tool, escape codes and all; 0: one that does not say its size."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | (variables or {})
    process = subprocess.Popen([TOOL, *map(str, words)], cwd=folder, stdin=its, stdout=its, stderr=its, env=environment)
    # A terminal that its last writer closes may lose what was not read yet. So our side keeps it open, and a byte that
    # the tool never writes follows the tool's last one.
    ended = threading.Thread(target=lambda: (process.wait(), os.write(its, b"\0")))
    ended.start()
    text = b""
    while not text.endswith(b"\0"):
        text += os.read(ours, 1 << 16)
    ended.join()
    os.close(its)
    os.close(ours)
    assert process.returncode == code, text
    text = text[:-1]
    return text.decode()  # UTF-8 throughout


def predicted(folder, *words):
    """What predict answers, columns by name, with every digit: text has nine."""
    done = run(folder, "predict", *words, "--out", "every_digit.parquet")
    assert done.returncode == 0, done.stderr
    answers = parquet.read_table(folder / "every_digit.parquet").to_pydict()
    (folder / "every_digit.parquet").unlink()
    return answers


def refused(folder, *words, code=2):
    """Asserts one `error:` line, nothing on stdout, nothing left behind; returns the line."""
    before = {p.name for p in folder.iterdir()}
    done = run(folder, *words)
    assert done.returncode == code, (done.returncode, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), done.stderr
    assert done.stdout == ""
    after = {p.name for p in folder.iterdir()}
    assert after <= before and all(name.endswith(".lock") for name in before - after)  # that of a killed process goes
    return lines[0]


def write_csv(path, header, rows):
    path.write_text("\n".join([",".join(header), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def toy_rows(count, inputs=2, seed=1):
    """y = sin 3 x1 + x2 + noise."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        x = [draw.uniform(-1, 1) for _ in range(inputs)]
        rows.append([*x, math.sin(3 * x[0]) + sum(x[1:]) + draw.gauss(0, 0.1)])
    return rows


def header(inputs):
    return [f"x{i}" for i in range(inputs)] + ["y"]


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A folder with toy.csv (300 rows) and fitted.safetensors; tests only read it."""
    folder = tmp_path_factory.mktemp("toy")
    write_csv(folder / "toy.csv", header(2), toy_rows(300))
    done = run(folder, "fit", "toy.csv", "--target", "y", "--method", "dbk", "--model", "fitted.safetensors", "--test-fraction", "0.2",
               "--threads", 1, "--json", *FEW)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    return folder
