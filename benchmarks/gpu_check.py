"""Levels, speeds and memory of the tool on a GPU beside the CPU, as text: a part of scripts/gpu_check.sh.

Levels: the NLL of held-out rows after fits of equal data, split and seed on both devices. Speeds: epochs of a ResNet-18 and of a transformer
beside two cores, a step of dbk beside torch.compile on the same card, the sums of gradients of rich-bll beside the card's float32 peak.
A time is the difference of two fits of other lengths, so that the start of CUDA and the reading of data are not in it. Fails only if a level
differs.

    python benchmarks/gpu_check.py [--device cuda] [--tool build/slimbayes] [--seconds 300] [--only NAME,...]
"""

import argparse
import concurrent.futures
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = 5
MARGIN = 0.05  # nats of a row: a mean difference within it is no other level
T_BOUND = 2.776  # of a t distribution with SEEDS - 1 degrees of freedom, 95 %, two-sided


class Failed(Exception):
    """A command that failed or took too long; the text says which and why."""


def command(words, seconds, **options):
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"took more than {seconds:.0f} s: {' '.join(map(str, words[:8]))} ...") from None
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout


class Check:
    def __init__(self, given, folder):
        self.tool, self.device, self.folder = Path(given.tool).resolve(), given.device, folder
        self.end = time.monotonic() + given.seconds
        self.differs = []

    def left(self):
        return self.end - time.monotonic()

    def fit(self, data, *words, device=None, cores=1, model=None):
        """The report of a fit. On the CPU it has `cores` cores to itself."""
        own = [] if device is None else ["--device", device]
        pinned = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))] if device is None and cores > 1 else []
        name = model or f"model-{threading.get_ident()}"
        return json.loads(command([*pinned, self.tool, "fit", data, "--json", "--threads", cores, "--model", name, *words, *own],
                                  max(5, self.left()), cwd=self.folder))

    def times(self, data, short, long, *words, unit="epochs", **where):
        """Seconds of a unit (an epoch or a step), and the training rows, from two fits of other lengths."""
        reports = [self.fit(data, *words, f"--{unit}", count, "--select-by", "last", **where) for count in (short, long)]
        first, last = (report["summary"] for report in reports)
        return (last["seconds"] - first["seconds"]) / (last[unit] - first[unit]), reports[1]["rows"]["train"]


def say(text=""):
    print(text, flush=True)


def table(path, rows, inputs, seed=1):
    """y is a smooth function of three inputs with noise."""
    draw = random.Random(seed)
    with path.open("w") as out:
        out.write(",".join([f"x{i}" for i in range(inputs)] + ["y"]) + "\n")
        for _ in range(rows):
            x = [draw.gauss(0, 1) for _ in range(inputs)]
            y = x[0] - 0.5 * x[1] * abs(x[1]) + x[2] * x[0] + draw.gauss(0, 0.3)
            out.write(",".join(f"{value:.5g}" for value in [*x, y]) + "\n")


def images(path, count):
    """Records of CIFAR-10 with random pixels."""
    draw = random.Random(2)
    path.write_bytes(b"".join(bytes([i % 10]) + draw.randbytes(3072) for i in range(count)))


def texts(path, rows):
    """Sentences of 60 words; one of them tells the class."""
    draw = random.Random(3)
    with path.open("w") as out:
        out.write("words,y\n")
        for i in range(rows):
            words = [f"w{int(draw.paretovariate(0.7)) % 2000}" for _ in range(60)]
            words[draw.randrange(60)] = ("good", "bad")[i % 2]
            out.write(f"{' '.join(words)},{('yes', 'no')[i % 2]}\n")


def levels(check):
    """NLL on four data sets and five seeds."""
    for name in ("steps", "ripple", "counts"):
        command([check.tool, "generate", name, "--rows", 1500, "--out", f"{name}.csv"], 60, cwd=check.folder)
    columns = {name: (check.folder / f"{name}.csv").read_text().splitlines()[0].split(",") for name in ("steps", "ripple", "counts")}
    ignored = {name: ["--ignore", ",".join(c for c in own if c.startswith("true_"))] for name, own in columns.items()}
    cases = {"concrete, dbk": (ROOT / "examples/data/concrete.csv", "dbk", []), "steps, vbll": ("steps.csv", "vbll", ignored["steps"]),
             "ripple, rich-bll": ("ripple.csv", "rich-bll", ignored["ripple"]),
             "counts, vbll": ("counts.csv", "vbll", [*ignored["counts"], "--likelihood", "poisson"])}

    def nll(case, seed, device):
        data, method, more = cases[case]
        report = check.fit(data, "--target", "y", "--method", method, *more, "--steps", 2000, "--seed", seed, "--split-seed", seed,
                           "--test-fraction", 0.2, "--noise-folds", 0, device=device)
        return report["test"]["nll"]

    jobs = [(case, seed, device) for case in cases for seed in range(SEEDS) for device in (None, check.device)]
    with concurrent.futures.ThreadPoolExecutor(max(1, min(6, (os.cpu_count() or 2) - 1))) as pool:
        found = dict(zip(jobs, pool.map(lambda job: nll(*job), jobs)))
    say(f"{'NLL of held-out rows':24} {'CPU':>9} {check.device:>9} {'difference':>11} {'+-':>8}")
    for case in cases:
        cpu, own = ([found[case, seed, device] for seed in range(SEEDS)] for device in (None, check.device))
        differences = [b - a for a, b in zip(cpu, own)]
        mean, spread = statistics.mean(differences), T_BOUND * statistics.stdev(differences) / SEEDS**0.5
        word = "level" if abs(mean) <= MARGIN else "open" if abs(mean) <= spread else "DIFFERS"
        if word == "DIFFERS":
            check.differs.append(case)
        say(f"{case:24} {statistics.mean(cpu):9.4f} {statistics.mean(own):9.4f} {mean:11.4f} {spread:8.4f}  {word}")


def met(yes):
    return "met" if yes else "NOT MET"


def epochs(check, name, data_of, words, many, few, cpu_epochs):
    """An epoch on the device beside one on two cores, which takes a sample of the rows."""
    data = data_of(many)
    with Memory() as memory:
        own, rows = check.times(data, 2, 6, *words, device=check.device)
    host, host_rows = check.times(data_of(few), 1, 1 + cpu_epochs, *words, cores=2)
    ratio = (host / host_rows) / (own / rows)
    say(f"{name}: {rows / own:,.0f} rows/s; two cores {host_rows / host:,.0f}; ratio {ratio:.1f} (wanted 20: {met(ratio >= 20)}); "
        f"memory of the card {memory}")


def resnet(check):
    def data_of(count):
        images(check.folder / f"images{count}.bin", count)
        return f"images{count}.bin"

    epochs(check, "ResNet-18, 32 x 32 images, batch 128", data_of,
           ["--format", "cifar10", "--method", "dnn", "--network", "resnet18", "--batch", 128], 6000, 300, 1)


def transformer(check):
    def data_of(count):
        texts(check.folder / f"texts{count}.csv", count)
        return f"texts{count}.csv"

    epochs(check, "transformer, 60 words, width 256, batch 128", data_of,
           ["--target", "y", "--text", "words", "--method", "dnn", "--network", "transformer", "--hidden", 256, "--batch", 128], 8000, 600, 1)


def step(check):
    """A step of dbk beside PyTorch's."""
    table(check.folder / "wide.csv", 20000, 26)
    words = ["--target", "y", "--method", "dbk", "--hidden", 512, "--rank", 512, "--batch", 1024, "--noise-folds", 0]
    own = 1e3 * check.times("wide.csv", 360, 1800, *words, unit="steps", device=check.device)[0]
    say(f"dbk, batch 1,024, h 512, r 512: {own:.3f} ms a step")
    rival = json.loads(command([sys.executable, ROOT / "benchmarks/torch_compile_dbk.py", "--device", check.device], max(5, min(120, check.left())),
                               cwd=check.folder))
    for name in ("plain", "compile", "compile, CUDA graphs"):
        say(f"  PyTorch {rival['torch']}, {name}: " + (f"{rival[name]:.3f} ms" if isinstance(rival[name], float) else f"not measured: {rival[name]}"))
    timed = [rival[name] for name in ("compile", "compile, CUDA graphs") if isinstance(rival[name], float)]
    if timed:
        say(f"  not slower than torch.compile: {met(own <= min(timed))}")


def gram(check):
    """The sums of gradients of rich-bll, by the inner products of an mlp's layers, as a share of the card's float32 peak."""
    rows, width, layers, inputs = 60000, 512, 3, 10
    table(check.folder / "gram.csv", rows, inputs)
    check.fit("gram.csv", "--target", "y", "--method", "dnn", "--network", "mlp", "--hidden", width, "--blocks", layers, "--epochs", 1,
              "--batch", 4096, "--noise-folds", 0, "--valid-fraction", 0.02, device=check.device, model="net")

    def seconds(method, *more):
        """Of a fit around the network, the start of CUDA and the reading of the rows included."""
        start = time.perf_counter()
        report = check.fit("gram.csv", "--method", method, "--network-from", "net", *more, device=check.device)
        return time.perf_counter() - start, report["rows"]["train"]

    # bll makes the same posterior without those sums.
    pairs = [(seconds("rich-bll", "--route", "gram"), seconds("bll")) for _ in range(2)]
    taken, many = min(rich[0] - plain[0] for rich, plain in pairs), pairs[0][0][1]
    # Half of the pairs of rows, two operations a product: of inputs and gradients by layer, and of the kernel with the features.
    flops = many**2 * (inputs + width * (2 * layers - 1) + width + 1)
    rate, peak = flops / max(taken, 1e-3) / 1e12, float(command([sys.executable, "-c", PEAK, check.device], 120))
    say(f"gradient sums of rich-bll, {many:,} rows, mlp of {layers} x {width}: {rate:.1f} TFLOP/s of {peak:.1f} of a float32 product of "
        f"8,192: {rate / peak:.0%} (wanted 50 %: {met(rate >= 0.5 * peak)})")


PEAK = """
import sys, time, torch
torch.backends.cuda.matmul.allow_tf32 = False
a = torch.randn(8192, 8192, device=sys.argv[1])
best = 0
for _ in range(5):
    torch.accelerator.synchronize(); start = time.perf_counter()
    for _ in range(5): b = a @ a
    torch.accelerator.synchronize(); best = max(best, 5 * 2 * 8192**3 / (time.perf_counter() - start) / 1e12)
print(best)
"""


class Memory:
    """The most memory of the card that was in use meanwhile, beyond what was in use before, by nvidia-smi."""

    def __enter__(self):
        self.before = self.most = self.used()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def __str__(self):
        return "unknown" if self.before is None else f"{self.most - self.before:,} MiB"

    def watch(self):
        while self.before is not None and not self.done.wait(0.2):
            self.most = max(self.most, self.used() or 0)

    @staticmethod
    def used():
        try:
            return int(command(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], 10).splitlines()[0])
        except (Failed, OSError, ValueError, IndexError):
            return None


PARTS = {"levels": (levels, 40), "step": (step, 30), "resnet": (resnet, 30), "transformer": (transformer, 30), "gram": (gram, 30)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tool", default=ROOT / "build/slimbayes")
    parser.add_argument("--seconds", type=float, default=300, help="after which nothing more begins")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(given, Path(folder))
        for name in given.only.split(","):
            part, least = PARTS[name]
            if check.left() < least:
                say(f"{name}: not measured, the time is over")
                continue
            try:
                part(check)
            except Failed as error:
                say(f"{name}: FAILED: {error}")
                check.differs.append(name)
            say()
    if check.differs:
        say(f"failed: {', '.join(check.differs)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
