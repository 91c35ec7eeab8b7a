#!/usr/bin/env python3
"""Disturbs fits and predictions at random moments and looks at what is left.

  scripts/stress.py [--rounds 200] [--seed 0] [--seconds 600] [--jobs 1] [--only ROUND]

A round starts a fit (plain, ensemble, tuned, with few rows) or a prediction beside an older result, in a folder or on a file
system of 2 MB that other files fill, and sends SIGINT, SIGTERM, SIGHUP, SIGKILL or SIGSTOP and SIGCONT at a random moment.
Then it asserts:
- the model (or the table of answers) is the old one, byte for byte, or a complete new one;
- a second process was never let in, and nothing but the checkpoint (and, of a killed process, its lock and temporary file) stays;
- `fit --resume` ends in the bytes of an undisturbed fit, and leaves the model alone.
The file system is a tmpfs in a mount namespace of our own (unshare); where that is not allowed, a limit on the size of files
(ulimit -f) takes its place, and the first line says so. The tool is build/slimbayes (SLIMBAYES_TOOL).
"""

import argparse
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes")).resolve()
SMALL = ["--hidden", "16", "--rank", "16", "--threads", "1", "--checkpoint-every", "0.02"]
FITS = {
    "fit": ["--method", "dbk", "--steps", "1500", "--patience", "0"],
    "auto": ["--candidates", "ridge,dbk", "--folds", "2", "--steps", "300", "--patience", "0", "--time-limit", "300"],
    "ensemble": ["--method", "ensemble", "--of", "dbk", "--members", "3", "--steps", "500", "--patience", "0"],
    "tune": ["--method", "dbk", "--tune", "--steps", "100", "--patience", "0"],
    "few rows": ["--method", "dbk", "--steps", "250", "--patience", "0"],
}
SIGNALS = ["INT", "TERM", "HUP", "KILL", "STOP"]
DISK = 2 << 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="start no round after so many")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="this round alone")
    return parser.parse_args()


def tool(folder, words, **options):
    return subprocess.run([TOOL, *words], cwd=folder, capture_output=True, text=True, timeout=300, **options)


def write_table(path, rows, seed):
    draw = random.Random(seed)
    lines = ["a,b,y"]
    for _ in range(rows):
        a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
        lines.append(f"{a},{b},{math.sin(3 * a) + b + draw.gauss(0, 0.1)}")
    path.write_text("\n".join(lines) + "\n")


class Bench:
    """What every round starts from: tables, older results, and what undisturbed runs give with their seconds."""

    def __init__(self, home):
        self.home, self.undisturbed, self.seconds = home, {}, {}
        write_table(home / "t.csv", 400, 1)
        write_table(home / "few.csv", 100, 2)
        write_table(home / "new.csv", 20000, 3)
        self.done(["fit", "t.csv", "--target", "y", "--method", "dbk", "--model", "old", "--steps", "50", *SMALL])
        self.done(["predict", "old", "t.csv", "--out", "old.csv"])
        for kind in [*FITS, "predict"]:
            began = time.monotonic()
            self.done(self.words(kind))
            self.seconds[kind] = time.monotonic() - began
            self.undisturbed[kind] = (home / self.result(kind)).read_bytes()

    def words(self, kind):
        if kind == "predict":
            return ["predict", "old", "new.csv", "--out", "m.csv"]
        table = "few.csv" if kind == "few rows" else "t.csv"
        return ["fit", table, "--target", "y", "--model", "m", *FITS[kind], *SMALL]

    def result(self, kind):
        return "m.csv" if kind == "predict" else "m"

    def done(self, words):
        answer = tool(self.home, words)
        assert answer.returncode == 0, answer.stderr


def is_complete(folder, kind, bench):
    """A new result that can be used: of a prediction the whole of it."""
    path = folder / bench.result(kind)
    if kind == "predict":
        return path.read_bytes() == bench.undisturbed[kind]
    answer = tool(folder, ["predict", "m", bench.home / "few.csv"])
    return answer.returncode == 0 and answer.stdout.count("\n") == 101


def disturb(process, name, seconds, draw):
    time.sleep(seconds)
    if process.poll() is not None:
        return
    process.send_signal(getattr(signal, f"SIG{name}"))
    if name == "STOP":
        time.sleep(draw.uniform(0, 0.3))
        process.send_signal(signal.SIGCONT)


def fill(folder, draw):
    free = shutil.disk_usage(folder).free
    (folder / "filler").write_bytes(b"x" * int(draw.uniform(0.3, 1) * free))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))


def one_round(number, seed, bench, has_disk):
    draw = random.Random(f"{seed} {number}")
    kind, name = draw.choice([*FITS, "predict"]), draw.choice(SIGNALS)
    tight, follow, second = draw.random() < 0.4, draw.random() < 0.7, draw.random() < 0.3
    moment = draw.uniform(0, 1.1)
    story = f"round {number}: {kind}, SIG{name} after {moment:.2f} of its time" + (", little space" if tight else "")
    with tempfile.TemporaryDirectory() as home:
        folder, plain = pathlib.Path(home, "run"), pathlib.Path(home, "plain")
        for path in (folder, plain):
            path.mkdir()
        if tight and has_disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True)
        try:
            result = folder / bench.result(kind)
            for table in ("t.csv", "few.csv", "new.csv", "old"):
                (folder / table).symlink_to(bench.home / table)
            shutil.copy(bench.home / ("old.csv" if kind == "predict" else "old"), result)
            old = result.read_bytes()
            if tight and has_disk:
                fill(folder, draw)
            process = subprocess.Popen([TOOL, *bench.words(kind)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       text=True, preexec_fn=small_files if tight and not has_disk else None)
            with ThreadPoolExecutor(1) as pool:
                log = pool.submit(process.communicate)
                disturb(process, name, moment * bench.seconds[kind], draw)
                log = log.result(timeout=300)[1]
            now = result.read_bytes()
            assert now == old or is_complete(folder, kind, bench), f"{story}: the result is neither old nor whole\n{log}"
            expected = {0, 1, 2, 130, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP}
            assert process.returncode in expected, f"{story}: exit {process.returncode}\n{log}"
            assert process.returncode != 1 or "mistake in slimbayes" not in log, f"{story}:\n{log}"
            left = {p.name for p in folder.iterdir()} - {"t.csv", "few.csv", "new.csv", "old", "filler", result.name}
            killed = process.returncode < 0
            strange = {n for n in left if not n.startswith("m.ckpt") and not (killed and (n == "m.lock" or n.startswith(".slimbayes-")))}
            assert not strange, f"{story}: {strange} stay\n{log}"
            for path in folder.iterdir():
                if path.name != "filler":
                    shutil.copy(path, plain / path.name)
        finally:
            if tight and has_disk:
                subprocess.run(["umount", folder], check=True)
        if kind == "predict":
            again = tool(plain, bench.words(kind))
        else:
            if follow and second:  # a second disturbance, of the resumed fit
                process = subprocess.Popen([TOOL, *bench.words(kind), "--resume"], cwd=plain, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                disturb(process, "KILL", draw.uniform(0, 1) * bench.seconds[kind], draw)
                process.wait(timeout=300)
            again = tool(plain, [*bench.words(kind), *(["--resume"] if follow else [])])
            if follow and "one of another" in again.stderr:  # the older model, of another fit, is all that is left
                again = tool(plain, bench.words(kind))
        assert again.returncode == 0, f"{story}: {again.stderr}"
        assert (plain / bench.result(kind)).read_bytes() == bench.undisturbed[kind], f"{story}: other bits"
        left = {p.name for p in plain.iterdir()} - {"t.csv", "few.csv", "new.csv", "old", bench.result(kind)}
        assert not left, f"{story}: {left} stay at the end"
        return story


def own_namespace():
    """Starts again in a mount namespace of its own; false where that is not allowed."""
    if os.environ.get("SLIMBAYES_STRESS") == "1":
        return True
    words = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        return False
    os.execvpe("unshare", [*words, sys.executable, *sys.argv], {**os.environ, "SLIMBAYES_STRESS": "1"})


def main():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and every fit would inherit that
    options = parse()
    has_disk = own_namespace()
    print("little space: a file system of 2 MB" if has_disk else "little space: a limit on file sizes, as no file system can be mounted",
          flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(options.jobs) as pool:
        bench = Bench(pathlib.Path(home))
        numbers = range(options.rounds) if options.only is None else [options.only]

        def work(number):
            if time.monotonic() - began > options.seconds:
                return None
            if number % 20 == 0 and options.only is None:
                print(f"round {number} of {options.rounds}, {time.monotonic() - began:.0f} s", flush=True)
            try:
                return one_round(number, options.seed, bench, has_disk)
            except Exception as error:  # noqa: BLE001 a round that cannot be run has failed too
                print(f"FAILED round {number}: {error}", flush=True)
                return False

        results = list(pool.map(work, numbers))
    run = [r for r in results if r is not None]
    failed = run.count(False)
    print(f"{len(run)} rounds in {time.monotonic() - began:.0f} s, {failed} failed" +
          (f", {len(results) - len(run)} not begun: the time was up" if len(run) < len(results) else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
