#!/usr/bin/env python3
"""Kills a random rank of a fit by several at a random moment, many times, and compares the model with that of an undisturbed fit.

    .venv/bin/python scripts/kill_ranks.py [--kills 16] [--ranks 2] [--seed 0]

Each fit runs under torchrun with restarts and --resume. It is killed once (SIGKILL of one rank), and must end in the bytes of the
undisturbed model. Some moments lie before the first checkpoint.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIT = ["--target", "y", "--method", "dbk", "--hidden", "16", "--rank", "16", "--batch", "100", "--threads", "1", "--patience", "0", "--checkpoint-every", "0.2",
       "--timeout", "30"]


def table(path):
    draw = random.Random(1)
    rows = [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(600)]
    path.write_text("a,b,y\n" + "".join(f"{a:.6f},{b:.6f},{a * b + .3 * draw.gauss(0, 1):.6f}\n" for a, b in rows))


def started(folder, ranks, steps, *more):
    return subprocess.Popen([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "--max-restarts", "3", "-m", "slimbayes",
                             "fit", "data.csv", *FIT, "--steps", str(steps), *more], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "build" / "python")})


def children(process):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended
            continue
        if int(parent) == process:
            found.append(int(stat.parent.name))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=16)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table(folder / "data.csv")
        began = time.monotonic()
        whole = started(folder, given.ranks, given.steps)
        text = whole.communicate(timeout=600)[0]
        assert whole.returncode == 0, text
        took = time.monotonic() - began
        model = folder / "model.safetensors"
        expected = model.read_bytes()
        failed = killed = 0
        for kill in range(given.kills):
            for path in folder.glob("model.safetensors*"):
                path.unlink()
            process = started(folder, given.ranks, given.steps, "--resume")
            moment = draw.uniform(0.25, 0.95) * took
            time.sleep(moment)
            ranks = children(process.pid)
            if ranks:
                os.kill(draw.choice(ranks), signal.SIGKILL)
                killed += 1
            text = process.communicate(timeout=600)[0]
            same = process.returncode == 0 and model.read_bytes() == expected
            failed += not same
            print(f"kill {kill + 1}/{given.kills} after {moment:.1f} of {took:.1f} s: {'the same bytes' if same else 'FAILED'}{'' if ranks else ' (it had ended)'}", flush=True)
            if not same:
                print(text)
    print(f"{killed} kills, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
