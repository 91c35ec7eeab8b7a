"""The programs of examples/serve in C++ and Rust, and the HTTP server under several clients at once, answer as the tool."""

import contextlib
import csv
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from test_serve_library import COMPILER, LIBRARY, ROOT, TOOL, houses, run

EXAMPLES = ROOT / "examples" / "serve"
CXX = os.environ.get("CXX", "c++")
LINKED = ["-L", LIBRARY.parent, "-lslimbayes_serve", f"-Wl,-rpath,{LIBRARY.parent}"]
HEADERS = ["-I", ROOT, "-I", LIBRARY.parent / "include"]  # also the header that CMake makes


def has_httplib():
    program = "#include <httplib.h>\nint main() { httplib::Server server; }"
    return subprocess.run([CXX, "-x", "c++", "-", "-std=c++20", "-lcpp-httplib", "-lpthread", "-o", "/dev/null"], input=program, capture_output=True,
                          text=True).returncode == 0


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A model file, rows of text, and what the tool answers to them."""
    folder = tmp_path_factory.mktemp("programs")
    table, rows = houses(folder / "houses.csv"), houses(folder / "new.csv", 40)
    run(TOOL, "fit", table, "--target", "price", "--method", "dbk", "--steps", "60", "--model", folder / "m.safetensors")
    run(TOOL, "predict", folder / "m.safetensors", rows, "--level", "0.8", "--out", folder / "p.csv")
    with open(folder / "p.csv", newline="") as file:
        expected = [{name.split("_")[0]: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    with open(rows, newline="") as file:
        cells = [row[:3] for row in csv.reader(file)][1:]
    return folder, cells, expected


def check(answers, expected):
    assert len(answers) == len(expected)
    for row, told in zip(answers, expected):
        for name in "mean", "sd", "lower", "upper":
            assert float(row[name]) == pytest.approx(told[name], rel=1e-6), name


def built(folder, language):
    out = folder / f"predict_{language}"
    if language == "rust":
        run("rustc", "--edition", "2021", EXAMPLES / "predict.rs", "-L", LIBRARY.parent, "-l", "slimbayes_serve",
            "-C", f"link-arg=-Wl,-rpath,{LIBRARY.parent}", "-o", out)
    else:
        run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", EXAMPLES / "predict.cpp", *HEADERS, *LINKED, "-o", out)
    return out


@pytest.mark.parametrize("language", ["cpp", pytest.param("rust", marks=pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc on this machine"))])
def test_a_program_answers_as_the_tool(served, language):
    folder, cells, expected = served
    program = built(folder, language)
    lines = run(program, folder / "m.safetensors", "0.8", input="".join(",".join(row) + "\n" for row in cells)).splitlines()
    check(list(csv.DictReader(lines)), expected)
    for words, line, part in (([], "", "expected a model file"), (["absent"], "", "absent"), ([str(folder / "m.safetensors")], "80", "3 cells"),
                              ([str(folder / "m.safetensors")], "eighty,north,2024-01-01", "'size'")):
        found = subprocess.run([program, *words], input=line + "\n", capture_output=True, text=True)
        assert found.returncode == 1 and part in found.stderr, found.stderr


def asked(port, path, body=None):
    """The status and the JSON of an answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", None if body is None else json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.fixture(scope="module")
def http_server(tmp_path_factory):
    program = tmp_path_factory.mktemp("server") / "http_server"
    run(CXX, "-std=c++20", "-O1", EXAMPLES / "http_server.cpp", *HEADERS, *LINKED, "-lcpp-httplib", "-lpthread", "-o", program)
    return program


@contextlib.contextmanager
def serving(program, model):
    """The port of a server of the model, which ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([program, model, str(port)])
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


@pytest.mark.skipif(not has_httplib(), reason="no cpp-httplib on this machine (libcpp-httplib-dev)")
def test_an_http_server_under_load(http_server, served):
    folder, cells, expected = served
    with serving(http_server, folder / "m.safetensors") as port:
        status, known = asked(port, "/model")
        assert status == 200 and known["method"] == "dbk"
        rows = [dict(zip(("size", "street", "sold"), (cell or None for cell in row))) for row in cells]
        found, clients = {}, 6

        def ask(client):
            found[client] = [asked(port, "/predict", {"level": 0.8, "rows": rows[i:] + rows[:i]}) for i in range(20)]

        threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert sum(map(len, found.values())) == 20 * clients
        for answers in found.values():
            for i, (status, answer) in enumerate(answers):
                assert status == 200
                check(answer["answers"], expected[i:] + expected[:i])
        for body, part in (({"rows": [{"sise": 3}]}, "received 'sise'"), ({"rows": [{"size": "eighty"}]}, "'size'"), ({"rows": [{}], "level": 3}, "level"),
                           ({}, "rows")):
            status, answer = asked(port, "/predict", body)
            assert status == 400 and part in answer["error"], answer
        assert asked(port, "/predict", {"rows": [rows[0]]})[0] == 200, "a refusal ends no server"


@pytest.mark.skipif(not has_httplib(), reason="no cpp-httplib on this machine (libcpp-httplib-dev)")
def test_an_http_server_of_classes(http_server, tmp_path):
    table = houses(tmp_path / "houses.csv")
    run(TOOL, "fit", table, "--target", "street", "--method", "logistic", "--model", tmp_path / "m.safetensors")
    run(TOOL, "predict", tmp_path / "m.safetensors", table, "--out", tmp_path / "p.csv")
    with open(tmp_path / "p.csv", newline="") as file:
        told = next(csv.DictReader(file))
    with serving(http_server, tmp_path / "m.safetensors") as port:
        status, answer = asked(port, "/predict", {"rows": [{"size": 40, "sold": "2024-01-01", "price": 1360}]})
        assert status == 200, answer
        found = answer["answers"][0]
        assert found["label"] == told["label"] and set(found["probabilities"]) == {"north", "south", "park"}
        for name, p in found["probabilities"].items():
            assert p == pytest.approx(float(told[f"p_{name}"]), rel=1e-6)
