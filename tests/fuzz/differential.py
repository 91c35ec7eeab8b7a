#!/usr/bin/env python3
"""Tries random tables, methods and options, and asserts what must hold of every answer, message and run.

  tests/fuzz/differential.py [--runs 5000] [--seconds 3600] [--seed 0] [--jobs 2] [--only CASE] [--keep FOLDER]

A case is a table, a method and options, drawn from the seed and its number. It is fitted and asked through the Python package, and
a part of the cases through the tool too. tests/fuzz/invariants.py has what is asserted. A fault is one line with the command that
repeats it; the table and its files stay in FOLDER/SEED-CASE. The cases run in child processes, so that a crash or an endless loop is
a fault of its case. At the end: the numbers of runs, accepted fits, refusals by reason, and faults. Exit code 1 with a fault.

It tests build/python and build/slimbayes (SLIMBAYES_TOOL).
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CPU_SECONDS = 150  # of a case in the child
WALL_FACTOR = 8  # on a machine that is busy with other work a case may last so many times longer
MEGABYTES = 6000  # that a child may allocate


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=3600, help="begin no case after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, help="this case alone")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "differential", help="folder for the tables of faults")
    parser.add_argument("--rows", help="file that gets one JSON line a case")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def child(seed, keep):
    """Runs the cases whose numbers come on standard input; answers with lines `stage NAME` and `done JSON`."""
    import faulthandler
    import resource

    from launcher import Launcher

    launch = Launcher()
    answers, errors = os.fdopen(os.dup(1), "w", buffering=1), os.fdopen(os.dup(2), "w", buffering=1)
    faulthandler.enable(errors)
    sys.excepthook = lambda kind, error, trace: traceback.print_exception(kind, error, trace, file=errors)
    printed = tempfile.TemporaryFile()
    os.dup2(printed.fileno(), 1)
    os.dup2(printed.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEGABYTES << 20, MEGABYTES << 20))
    from tool_trial import by_tool
    from trial import Trial

    for line in sys.stdin:
        number = int(line)
        folder = keep / f"{seed}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        printed.seek(0)
        printed.truncate()
        trial = Trial(seed, number, folder, launch, by_tool, lambda name: print("stage", name, file=answers))
        trial.write()
        result = trial.run()
        printed.seek(0)
        if text := printed.read().decode("utf-8", "backslashreplace").strip():
            result["faults"].append({"check": "silence", "text": f"expected nothing on the standard streams; received {text[:200]!r}"})
        if not result["faults"]:
            shutil.rmtree(folder)
        print("done", json.dumps(result), file=answers)


def cpu_seconds(pid):
    """The processor time of a process and of its children that ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Child:
    """A child process that runs cases (`words` is its command), and what it is doing."""

    def __init__(self, words):
        self.errors = tempfile.TemporaryFile()
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python"), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment)
        self.text, self.stage = b"", "start"

    @staticmethod
    def of(arguments):
        return Child([sys.executable, __file__, "--child", "--seed", str(arguments.seed), "--keep", str(arguments.keep)])

    def line(self, seconds):
        """The next line, or None after so many seconds; "" at the end of the child."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            if not (more := os.read(self.process.stdout.fileno(), 1 << 16)):
                return ""
            self.text += more
        line, _, self.text = self.text.partition(b"\n")
        return line.decode()

    def run(self, number):
        """The outcome of a case; a crash or an endless loop is a fault."""
        self.process.stdin.write(f"{number}\n".encode())
        self.process.stdin.flush()
        began, cpu = time.monotonic(), cpu_seconds(self.process.pid)
        while True:
            line = self.line(1)
            if line is None:
                spent = cpu_seconds(self.process.pid) - cpu
                if spent > CPU_SECONDS or time.monotonic() - began > CPU_SECONDS * WALL_FACTOR:
                    return self.ended("hang", f"expected an end within {CPU_SECONDS} s of the processor; still busy with: {self.stage}")
            elif line == "":
                self.process.wait()
                return self.ended("crash", f"the process ended with {self.process.returncode} in: {self.stage}: {self.trace()}")
            elif line.startswith("stage "):
                self.stage = line.removeprefix("stage ")
            else:
                return json.loads(line.removeprefix("done "))

    def trace(self):
        self.errors.seek(0)
        return " | ".join(self.errors.read().decode("utf-8", "backslashreplace").strip().splitlines())[-900:]

    def ended(self, check, text):
        self.process.kill()
        self.process.wait()
        return {"faults": [{"check": check, "text": text}], "refused": None, "accepted": False, "method": "", "cpu": {}}


def reason_of(message):
    """A message without its names and numbers."""
    message = re.sub(r"'[^']*'", "'..'", message)
    message = re.sub(r"[-+]?\d[\d.,e+-]*", "N", message)
    return message.removeprefix("error: ")[:90]


class Session:
    """The cases that are left, and what was seen."""

    def __init__(self, arguments):
        self.arguments, self.began = arguments, time.monotonic()
        self.numbers = queue.SimpleQueue()
        for number in [arguments.only] if arguments.only is not None else range(arguments.runs):
            self.numbers.put(number)
        self.runs = self.accepted = 0
        self.refused, self.faults, self.methods = collections.Counter(), collections.Counter(), collections.Counter()
        self.stages = collections.Counter()
        self.lock = threading.Lock()

    def next(self):
        late = time.monotonic() - self.began > self.arguments.seconds
        try:
            return None if late else self.numbers.get_nowait()
        except queue.Empty:
            return None

    def work(self):
        one = Child.of(self.arguments)
        while (number := self.next()) is not None:
            result = one.run(number)
            if one.process.poll() is not None:
                one = Child.of(self.arguments)
            with self.lock:
                self.count(number, result)
        one.process.stdin.close()
        one.process.wait()

    def count(self, number, result):
        self.runs += 1
        if self.arguments.rows:
            with open(self.arguments.rows, "a", encoding="utf-8") as rows:
                rows.write(json.dumps({"case": number, **result}) + "\n")
        if result["refused"] is not None:
            self.refused[reason_of(result["refused"])] += 1
        if result["accepted"]:
            self.accepted += 1
            self.methods[result["method"]] += 1
        self.stages.update(result["cpu"])
        for fault in result["faults"]:
            self.faults[fault["check"]] += 1
            again = f"tests/fuzz/differential.py --seed {self.arguments.seed} --only {number}"
            folder = self.arguments.keep / f"{self.arguments.seed}-{number}"
            print(f"{fault['check']}: {fault['text']} [{result['method']}; again: {again}; table: {folder}]", flush=True)

    def summary(self):
        lines = [f"{self.runs} runs in {time.monotonic() - self.began:.0f} s, seed {self.arguments.seed}: {self.accepted} accepted fits, "
                 f"{sum(self.refused.values())} with a refusal, {sum(self.faults.values())} faults"]
        for title, counted in (("seconds of the processor in Python", self.stages), ("accepted by method", self.methods),
                               ("refused", self.refused), ("faults", self.faults)):
            lines += [f"{title}:"] if counted else []
            lines += [f"  {n:8.1f}  {name}" if title.startswith("seconds") else f"  {n:5d}  {name}" for name, n in counted.most_common(40)]
        return "\n".join(lines)


def main():
    arguments = parse()
    if arguments.child:
        return child(arguments.seed, arguments.keep)
    session = Session(arguments)
    workers = [threading.Thread(target=session.work) for _ in range(1 if arguments.only is not None else arguments.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(session.summary())
    return 1 if session.faults else 0


if __name__ == "__main__":
    sys.exit(main())
