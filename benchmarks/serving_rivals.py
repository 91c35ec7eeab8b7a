"""A row's answer by libslimbayes_serve beside the same model in ONNX Runtime, PyTorch and AOTInductor, and beside CatBoost's applier, in one run.

    python benchmarks/serving_rivals.py [--build build-bench] [--rounds 5] [--out benchmarks/results/serving_rivals.csv]

The model is `dbk` on pol (26 columns, 64 units, 128 features); the answer is mean, sd and interval. All run on one thread. Each round measures
every runtime in a new order, one row and 1,000 rows; a row of the result has the medians of the rounds, and the ratio to the library in the same
round. `from C++` is a loop in C++, `from Python` a call of each package from Python, with arrays that are ready. CatBoost (1,000 trees of depth 6)
answers the mean alone: its C++ code, which `save_model(format="cpp")` writes, compiled with -O3, and its own `predict`. A runtime whose package is
missing is left out, and named. AOTInductor needs a C++ compiler.
"""

import argparse
import csv
import ctypes
import datetime
import gzip
import importlib.util
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from serving import DATA, ROOT, run

FIELDS = ["runtime", "answers", "row_us", "row_ratio", "rows_1000_us", "rows_1000_ratio", "commit", "date"]
MANY = 1000


def pol():
    with gzip.open(DATA / "pol.csv.gz", "rt", newline="") as file:
        lines = list(csv.reader(file))
    return lines[0], np.array(lines[1:], float)


def seconds_per_call(call, budget=0.4):
    """The median over blocks of the seconds of one call."""
    call()
    calls, blocks, begin = 1, [], time.perf_counter()
    while len(blocks) < 9 or time.perf_counter() - begin < budget:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        took = time.perf_counter() - start
        if took < budget / 40:
            calls *= 2
            continue
        blocks.append(took / calls)
    return statistics.median(blocks)


class Answer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *[(f"n{i}", ctypes.c_double) for i in range(6)]]


def slimbayes_python(model_file, rows):
    from slimbayes import serve

    model = serve.Model(model_file)
    return lambda n: (lambda given=np.ascontiguousarray(rows[:n]): model.predict(given, 0.9))


def onnx_runtime(estimator, folder, rows):
    import onnxruntime

    estimator.export_onnx(folder / "m.onnx", level=0.9, encoded=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "m.onnx", options)
    return lambda n: (lambda given={"rows": np.ascontiguousarray(rows[:n])}: session.run(["mean", "sd", "lower", "upper"], given))


def torch_module(estimator):
    import torch
    from slimbayes._onnx import _Answers

    module = _Answers(estimator.to_torch(), 1.6448536269514722, []).eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return torch, module


def eager(estimator, rows):
    torch, module = torch_module(estimator)

    def of(n):
        given = torch.tensor(rows[:n])

        def call():
            with torch.inference_mode():
                return module(given)
        return call
    return of


def aot_inductor(estimator, folder, rows):
    torch, module = torch_module(estimator)
    loaded = {}
    for n in 1, MANY:
        with torch.no_grad():
            program = torch.export.export(module, (torch.tensor(rows[:n]),))
            path = torch._inductor.aoti_compile_and_package(program, package_path=str(folder / f"m{n}.pt2"))
        loaded[n] = torch._inductor.aoti_load_package(path)

    def of(n):
        given, runner = torch.tensor(rows[:n]), loaded[n]

        def call():
            with torch.inference_mode():
                return runner(given)
        return call
    return of


def catboost(folder, x, y, rows):
    """Two ways of its answer: its own predict, and the C++ code that it writes."""
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(iterations=1000, depth=6, thread_count=2, verbose=False, allow_writing_files=False).fit(x, y)
    model.save_model(folder / "applier.cpp", format="cpp")
    (folder / "main.cpp").write_text('''#include "applier.cpp"
extern "C" void answer(const float* x, long n, long d, double* out) {
  std::vector<float> row(d);
  for (long i = 0; i < n; ++i) {
    row.assign(x + i * d, x + (i + 1) * d);
    out[i] = ApplyCatboostModel(row);
  }
}
extern "C" double seconds(const float* x, long n, long d, double* out, long times) {
  const auto begin = std::chrono::steady_clock::now();
  for (long t = 0; t < times; ++t) answer(x, n, d, out);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
''')
    text = (folder / "main.cpp").read_text()
    (folder / "main.cpp").write_text("#include <chrono>\n#include <vector>\n" + text)
    subprocess.run([os.environ.get("CXX", "c++"), "-O3", "-march=native", "-shared", "-fPIC", "-std=c++17", folder / "main.cpp", "-o", folder / "applier.so"], check=True)
    library = ctypes.CDLL(str(folder / "applier.so"))
    library.seconds.restype = ctypes.c_double

    def compiled(n):
        given, out = np.ascontiguousarray(rows[:n], np.float32), np.empty(n)
        pointers = given.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(n), ctypes.c_long(rows.shape[1]), out.ctypes.data_as(ctypes.c_void_p)
        return lambda times: library.seconds(*pointers, ctypes.c_long(times))
    own = np.ascontiguousarray(rows, np.float32)
    return (lambda n: (lambda given=own[:n]: model.predict(given, thread_count=1))), compiled


def in_c(folder, build, model_file, rows):
    """slimbayes_predict in a loop in C++."""
    (folder / "loop.cpp").write_text('''#include <slimbayes_serve.h>
#include <chrono>
#include <vector>
static slimbayes_model* model;
extern "C" int start(const char* path) { return (model = slimbayes_open(path)) == nullptr; }
extern "C" double seconds(const double* x, long n, long times) {
  std::vector<slimbayes_answer> out(n);
  out[0].size = sizeof(slimbayes_answer);
  const auto begin = std::chrono::steady_clock::now();
  for (long t = 0; t < times; ++t)
    if (slimbayes_predict(model, x, n, 0.9, out.data()) != SLIMBAYES_OK) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
''')
    rooms = build / "rooms"
    run(os.environ.get("CXX", "c++"), "-O2", "-shared", "-fPIC", "-std=c++17", "-I", ROOT / "slimbayes" / "serve", folder / "loop.cpp", "-L", rooms, "-lslimbayes_serve",
        f"-Wl,-rpath,{rooms}", "-o", folder / "loop.so")
    library = ctypes.CDLL(str(folder / "loop.so"))
    library.seconds.restype = ctypes.c_double
    if library.start(str(model_file).encode()):
        raise RuntimeError("the model file could not be opened")

    def of(n):
        given = np.ascontiguousarray(rows[:n])
        return lambda times: library.seconds(given.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(n), ctypes.c_long(times))
    return of


def compiled_seconds(call, budget=0.4):
    times = 1
    while (took := call(times)) < budget / 8:
        times *= 2
    return statistics.median(call(times) / times for _ in range(5)) if took else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    build = ROOT / options.build
    os.environ.setdefault("SLIMBAYES_SERVE_LIBRARY", str(build / "rooms" / "libslimbayes_serve.so"))
    sys.path.insert(0, str(build / "python"))
    import slimbayes as sb
    import torch

    torch.set_num_threads(1)
    names, table = pol()
    x, y = table[:, :-1], table[:, -1]
    rows = x[:MANY]
    commit = run(build / "slimbayes", "--version").partition("(")[2].partition(")")[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        estimator = sb.Regressor("dbk", hidden=64, rank=128, steps=100).fit(x, y)
        estimator.save(folder / "m.safetensors")
        wanted = "mean, sd, interval"
        runtimes = {("libslimbayes_serve from C++", wanted): (compiled_seconds, in_c(folder, build, folder / "m.safetensors", rows)),
                    ("slimbayes.serve from Python", wanted): (seconds_per_call, slimbayes_python(folder / "m.safetensors", rows)),
                    ("PyTorch, eager, from Python", wanted): (seconds_per_call, eager(estimator, rows)),
                    ("AOTInductor from Python", wanted): (seconds_per_call, aot_inductor(estimator, folder, rows))}
        missing = [name for name in ("onnxruntime", "catboost") if importlib.util.find_spec(name) is None]
        if "onnxruntime" not in missing:
            runtimes["ONNX Runtime from Python", wanted] = seconds_per_call, onnx_runtime(estimator, folder, rows)
        if "catboost" not in missing:
            own, compiled = catboost(folder, x, y, rows)
            runtimes["CatBoost from Python", "mean"] = seconds_per_call, own
            runtimes["CatBoost's C++ code", "mean"] = compiled_seconds, compiled
        calls = {key: (measure, [of(n) for n in (1, MANY)]) for key, (measure, of) in runtimes.items()}
        found = {key: [] for key in calls}
        for _ in range(options.rounds):
            for key in random.sample(list(calls), len(calls)):
                measure, both = calls[key]
                found[key].append([1e6 * measure(call) for call in both])
    first = found["libslimbayes_serve from C++", wanted]

    def medians(rounds, k):
        return f"{statistics.median(one[k] for one in rounds):.4g}", f"{statistics.median(one[k] / base[k] for one, base in zip(rounds, first)):.3g}"
    lines = [dict(zip(FIELDS, [name, answers, *medians(rounds, 0), *medians(rounds, 1), commit, datetime.date.today().isoformat()]))
             for (name, answers), rounds in found.items()]
    for line in lines:
        print(json.dumps(line))
    for name in missing:
        print(f"left out: {name} is not installed")
    if options.out:
        with open(options.out, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(lines)


if __name__ == "__main__":
    main()
