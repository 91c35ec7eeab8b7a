"""Several processes make one fit: `torchrun -m slimbayes fit`, and the same processes started by hand."""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes")).resolve()
SETTINGS = {name: value for name, value in os.environ.items() if name not in ("WORLD_SIZE", "RANK")} | {
    "PYTHONPATH": str(ROOT / "build" / "python"), "OMP_NUM_THREADS": "1"}
DBK = ["--target", "y", "--method", "dbk", "--hidden", "16", "--rank", "16", "--batch", "100", "--threads", "1"]


def table(path, n=600, seed=1):
    draw = random.Random(seed)
    rows = [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(n)]
    path.write_text("a,b,y\n" + "".join(f"{a:.6f},{b:.6f},{a * b + .3 * draw.gauss(0, 1):.6f}\n" for a, b in rows))


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def started(folders, words, timeout=60):
    """A process for each folder, which are the ranks of one fit."""
    port = free_port()
    return [subprocess.Popen([sys.executable, "-m", "slimbayes", *map(str, words), "--timeout", str(timeout)], cwd=folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=SETTINGS | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(len(folders)), "RANK": str(rank)})
            for rank, folder in enumerate(folders)]


def ended(processes):
    """Exit code, standard output and standard error of each process."""
    return [(process.returncode, *texts) for process in processes for texts in [process.communicate(timeout=120)]]


def fitted(folders, *words):
    return ended(started(folders, ["fit", "data.csv", *words]))


def answers(folder, model="model.safetensors"):
    """The answers to the rows, by the tool, as text with nine digits."""
    done = subprocess.run([TOOL, "predict", model, "data.csv"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def held_out_nll(folder):
    done = subprocess.run([TOOL, "evaluate", "model.safetensors", "data.csv", "--json"], cwd=folder, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)["nll"]


def two_machines(within):
    """Two folders with the data: what one machine writes the other does not see."""
    made = [within / "first", within / "second"]
    for folder in made:
        folder.mkdir()
        table(folder / "data.csv")
    return made


@pytest.fixture(name="folders")
def two_folders(tmp_path):
    return two_machines(tmp_path)


LONG = [*DBK, "--steps", "3000", "--patience", "0"]


@pytest.fixture(name="answers_of_two_ranks", scope="module")
def undisturbed_ranks(tmp_path_factory):
    """The answers of LONG, fitted by two ranks that nobody disturbs."""
    folders = two_machines(tmp_path_factory.mktemp("undisturbed"))
    assert [code for code, *_ in fitted(folders, *LONG)] == [0, 0]
    return answers(folders[0])


def test_one_process_is_the_tool(folders):
    done = fitted(folders[:1], *DBK, "--steps", "60")
    assert done[0][0] == 0, done[0][2]
    ours = answers(folders[0])
    subprocess.run([TOOL, "fit", "data.csv", *DBK, "--steps", "60"], cwd=folders[0], check=True, capture_output=True, timeout=120)
    assert answers(folders[0]) == ours
    for words, text in (["--version"], "slimbayes "), (["methods"], "rich-bll"), (["describe", "dbk"], "rank"):
        said = subprocess.run([sys.executable, "-m", "slimbayes", *words], env=SETTINGS, capture_output=True, text=True, timeout=60)
        assert said.returncode == 0 and text in said.stdout, said.stderr


def test_two_ranks_have_the_level_and_the_bits_of_themselves(folders):
    subprocess.run([TOOL, "fit", "data.csv", *DBK, "--steps", "400"], cwd=folders[0], check=True, capture_output=True, timeout=120)
    alone = held_out_nll(folders[0])
    texts = []
    for _ in range(2):
        (code, out, said), (other_code, other_out, other_said) = fitted(folders, *DBK, "--steps", "400")
        assert code == other_code == 0, said + other_said
        assert "model.safetensors" in out and other_out == "" and "error" not in said + other_said
        texts.append(answers(folders[0]))
    assert texts[0] == texts[1]
    assert abs(held_out_nll(folders[0]) - alone) < 0.05
    assert sorted(path.name for path in folders[1].iterdir()) == ["data.csv"]  # rank 0 writes for all


def children(process):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended
            continue
        if int(parent) == process.pid:
            found.append(int(stat.parent.name))
    return found


def test_the_report_of_a_fit_has_its_ranks(folders):
    (code, out, _), (_, other, _) = fitted(folders, *DBK, "--steps", "50", "--json")
    ranks = json.loads(out)["ranks"]
    assert code == 0 and other == "" and ranks["size"] == 2 and 0 < ranks["waiting_seconds"] < 60 and ranks["share"] == "rows"
    assert set(ranks) == {"size", "share", "waiting_seconds"}


def test_torchrun_starts_the_ranks_and_restarts_them(folders, answers_of_two_ranks):
    """A rank that is killed: torchrun starts all of them again, and the model is that of a fit without a kill."""
    folder = folders[0]
    process = subprocess.Popen([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "2", "-m",
                                "slimbayes", "fit", "data.csv", *LONG, "--checkpoint-every", "0.1", "--resume", "--timeout", "60"], cwd=folder,
                               env=SETTINGS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    checkpoint = folder / "model.safetensors.ckpt"
    until = time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < until:
        time.sleep(0.02)
    workers = children(process)
    os.kill(workers[-1], signal.SIGKILL)
    while set(children(process)) <= set(workers) and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None and not set(children(process)) & set(workers)  # new ranks
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert answers(folder) == answers_of_two_ranks


ENSEMBLE = ["--target", "y", "--method", "ensemble", "--of", "dbk", "--members", "4", "--hidden", "16", "--rank", "16", "--batch", "100", "--threads", "1",
            "--patience", "0"]
SERIES = [*ENSEMBLE, "--steps", "4000"]


@pytest.fixture(name="answers_of_one_process", scope="module")
def undisturbed_series(tmp_path_factory):
    """The answers of SERIES, fitted by one process."""
    folder = tmp_path_factory.mktemp("series")
    table(folder / "data.csv")
    subprocess.run([TOOL, "fit", "data.csv", *SERIES], cwd=folder, check=True, capture_output=True, timeout=120)
    return answers(folder)


@pytest.mark.parametrize("words", [[*ENSEMBLE, "--steps", "300"], [*DBK, "--steps", "60", "--tune"]], ids=["ensemble", "tune"])
def test_ranks_share_the_fits_of_a_series_with_the_bits_of_one_process(folders, words):
    subprocess.run([TOOL, "fit", "data.csv", *words], cwd=folders[0], check=True, capture_output=True, timeout=120)
    alone = answers(folders[0])
    (code, out, said), (other, other_out, other_said) = fitted(folders, *words, "--json")
    assert code == other == 0 and other_out == other_said == "", said + other_said
    assert json.loads(out)["ranks"]["share"] == "jobs" and "2 processes share the fits" in said
    assert answers(folders[0]) == alone
    assert [path.name for path in folders[1].iterdir()] == ["data.csv"] and not list(folders[0].glob("*.ckpt*"))


COMPARE = ["compare", "data.csv", "--target", "y", "--methods", "bll,rich-bll,gp-exact", "--max-rows", "50", "--seeds", "2", "--hidden", "16",
           "--threads", "1"]  # gp-exact fails


def untimed(report):
    """The report of a comparison without the seconds of its fits."""
    if isinstance(report, dict):
        return {key: untimed(value) for key, value in report.items() if key not in ("seconds", "seconds_shared")}
    return [untimed(one) for one in report] if isinstance(report, list) else report


def test_ranks_share_the_fits_of_a_comparison_with_the_numbers_of_one_process(folders):
    words = [*COMPARE, "--steps", "60", "--json"]
    alone = subprocess.run([TOOL, *words], cwd=folders[0], capture_output=True, text=True, timeout=120, check=False)
    (code, out, said), (other, other_out, other_said) = ended(started(folders, words))
    assert (code, other) == (alone.returncode, 0) == (1, 0) and other_out == other_said == "", said + other_said
    assert "2 processes share the fits" in said and untimed(json.loads(out)) == untimed(json.loads(alone.stdout))
    assert all([path.name for path in folder.iterdir()] == ["data.csv"] for folder in folders)


def test_ranks_that_compare_refuse_other_data_with_one_line(folders):
    table(folders[1] / "data.csv", seed=2)
    (code, out, said), (other, _, other_said) = ended(started(folders, [*COMPARE, "--steps", "60"]))
    assert code == 2 and other == 1 and out == other_said == ""
    assert said.count("error:") == 1 and "another: data" in said and "rank 1" in said, said


def test_a_comparison_ends_with_a_rank(folders):
    processes = started(folders, [*COMPARE, "--steps", "1000000", "--patience", "0"])
    while "share the fits" not in (line := processes[0].stderr.readline()) and line:
        pass
    processes[1].kill()
    (code, out, said), _ = ended(processes)
    assert code == 1 and out == "" and said.count("error:") == 1 and "expected an answer of every process" in said, said


def test_ranks_share_the_candidates_of_auto_within_its_time(folders):
    (code, out, said), (other, *_, other_said) = fitted(folders, "--target", "y", "--threads", "1", "--json", "--time-limit", "20")
    assert code == other == 0 and json.loads(out)["ranks"]["share"] == "jobs" and other_said == "", said + other_said
    assert held_out_nll(folders[0]) < 0.5  # that of the noise is 0.21, that of the target's mean 1.7


def test_a_killed_rank_gives_its_job_back(folders, answers_of_one_process):
    """torchrun starts the ranks again, the record knows what is finished, and the model is that of one process."""
    folder = folders[0]
    process = subprocess.Popen([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "2", "-m",
                                "slimbayes", "fit", "data.csv", *SERIES, "--checkpoint-every", "0.1", "--resume", "--timeout", "60"], cwd=folder,
                               env=SETTINGS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 90
    while not (folder / "model.safetensors.ckpt.1").exists() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None
    os.kill(children(process)[-1], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0 and answers(folder) == answers_of_one_process, said


def test_ctrl_c_in_a_series_keeps_what_is_finished(folders, answers_of_one_process):
    processes = started(folders, ["fit", "data.csv", *SERIES, "--checkpoint-every", "0.1"])
    until = time.monotonic() + 90
    while not (folders[0] / "model.safetensors.ckpt.1").exists() and time.monotonic() < until:
        time.sleep(0.02)
    processes[1].send_signal(signal.SIGINT)
    done = ended(processes)
    assert [code for code, *_ in done] == [130, 130], done
    assert (folders[0] / "model.safetensors.ckpt").exists()
    assert [code for code, *_ in fitted(folders, *SERIES, "--resume")] == [0, 0]
    assert answers(folders[0]) == answers_of_one_process


def test_a_rank_that_dies_ends_the_others_with_a_sentence(folders):
    processes = started(folders, ["fit", "data.csv", *DBK, "--steps", "1000000", "--patience", "0", "--checkpoint-every", "0.1"])
    until = time.monotonic() + 60
    while not (folders[0] / "model.safetensors.ckpt").exists() and time.monotonic() < until:
        time.sleep(0.02)
    processes[1].kill()
    began = time.monotonic()
    (code, _, said), _ = ended(processes)
    assert time.monotonic() - began < 15
    assert code == 1 and said.count("error:") == 1 and "expected an answer of every process" in said, said
    assert "received none of one that has ended; look for its own message" in said and "gloo" not in said, said
    assert "--resume" in said and (folders[0] / "model.safetensors.ckpt").exists()


def test_ctrl_c_on_rank_0_ends_all_and_the_fit_goes_on_elsewhere(folders, tmp_path, answers_of_two_ranks):
    processes = started(folders, ["fit", "data.csv", *LONG, "--checkpoint-every", "0.1"])
    until = time.monotonic() + 60
    while not (folders[0] / "model.safetensors.ckpt").exists() and time.monotonic() < until:
        time.sleep(0.02)
    processes[0].send_signal(signal.SIGINT)
    assert [code for code, *_ in ended(processes)] == [130, 130]
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in "data.csv", "model.safetensors", "model.safetensors.ckpt":
        if name != "model.safetensors" or (folders[0] / name).exists():  # there is none before the first validation
            (alone / name).write_bytes((folders[0] / name).read_bytes())
    assert [code for code, *_ in fitted(folders, *LONG, "--resume")] == [0, 0]
    assert answers(folders[0]) == answers_of_two_ranks
    (code, _, said), = fitted([alone], *LONG, "--resume")  # one process goes on, to other bits
    assert code == 0 and "starting anew" not in said and not (alone / "model.safetensors.ckpt").exists()
    assert abs(held_out_nll(alone) - held_out_nll(folders[0])) < 0.05


def test_ctrl_c_before_the_fit_is_one_line(folders):
    """While torch is imported, which takes seconds on a busy machine."""
    (folders[0] / "torch").mkdir()
    (folders[0] / "torch" / "__init__.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    launched = SETTINGS | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "PYTHONPATH": f"{folders[0]}:{SETTINGS['PYTHONPATH']}"}
    for rank, said in (0, "error: interrupted before the command began\n"), (1, ""):
        process = subprocess.Popen([sys.executable, "-m", "slimbayes", "fit", "data.csv", *DBK], cwd=folders[1], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=launched | {"RANK": str(rank)})
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1] == said and process.returncode == 130


def test_ranks_refuse_other_data_and_files_with_one_line(folders):
    table(folders[1] / "data.csv", seed=2)
    (code, _, said), (other, _, other_said) = fitted(folders, *DBK, "--steps", "50")
    assert code == 2 and other == 1 and other_said == ""
    assert said.count("\n") == 1 and "the same data and request on every rank" in said and "another: data" in said and "rank 1" in said, said
    table(folders[1] / "data.csv", n=700)
    assert "another: number of rows (700, not 600); see what rank 1 has" in fitted(folders, *DBK, "--steps", "50")[0][2]
    (folders[1] / "data.csv").unlink()
    (code, _, said), (other, _, other_said) = fitted(folders, *DBK, "--steps", "50")
    assert code == 2 and other == 1 and other_said == ""
    assert said.startswith("error: rank 1:") and "data.csv" in said and said.count("\n") == 1, said
    assert not (folders[0] / "model.safetensors").exists()


@pytest.mark.parametrize("words, sentence", [
    (["fit", "data.csv", "--target", "y", "--parallel", "rows"], "--parallel jobs"),
    (["fit", "data.csv", *DBK, "--tune", "--parallel", "rows"], "without a search of its options"),
    (["fit", "data.csv", *DBK, "--parallel", "jobs"], "--parallel rows"),
    (["fit", "data.csv", *DBK, "--time-limit", "10"], "a budget in steps"),
    (["predict", "model.safetensors", "data.csv"], "which several processes share"),
    (["fit", "data.csv", "--nonsense"], "--nonsense")])
def test_ranks_refuse_what_they_do_not_share(folders, words, sentence):
    done = ended(started(folders, words))
    assert [code for code, *_ in done] == [2, 1] and done[1][2] == ""
    assert sentence in done[0][2] and done[0][2].count("error:") == 1, done[0][2]


def test_ranks_refuse_to_go_on_where_another_starts_anew(folders):
    port = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    processes = [subprocess.Popen([sys.executable, "-m", "slimbayes", "fit", "data.csv", *DBK, "--steps", "50", "--timeout", "60", *(["--resume"] if rank == 0 else [])],
                                  cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=SETTINGS | port | {"RANK": str(rank)})
                 for rank, folder in enumerate(folders)]
    (code, _, said), (other, _, other_said) = ended(processes)
    assert code == 2 and other == 1 and other_said == "" and "another: resume" in said, said


def test_ranks_refuse_to_go_on_from_a_checkpoint_of_another_machine(folders):
    long = [*DBK, "--steps", "1000000", "--patience", "0", "--checkpoint-every", "0.1"]
    processes = started(folders, ["fit", "data.csv", *long])
    until = time.monotonic() + 60
    while not (folders[0] / "model.safetensors.ckpt").exists() and time.monotonic() < until:
        time.sleep(0.02)
    processes[0].send_signal(signal.SIGINT)
    ended(processes)
    (code, _, said), (other, _, other_said) = fitted(folders[::-1], *long, "--resume")
    assert code == 2 and other == 1 and other_said == "" and "on that of rank 1 alone" in said and said.count("\n") == 1, said


@pytest.mark.parametrize("words, sentence", [(["--timeout", "soon"], "received 'soon'"), (["--timeout=-1"], "received '-1'"), (["--timeout"], "received 'nothing'")])
def test_a_timeout_that_is_none_is_refused(folders, words, sentence):
    done = subprocess.run([sys.executable, "-m", "slimbayes", "fit", "data.csv", *words], cwd=folders[0], env=SETTINGS, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_rank_whose_others_do_not_come_says_so(folders):
    launched = SETTINGS | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "RANK": "0"}
    done = subprocess.run([sys.executable, "-m", "slimbayes", "fit", "data.csv", *DBK, "--timeout", "2"], cwd=folders[0], env=launched, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 2 and "error: expected 2 processes at 127.0.0.1" in done.stderr and "--timeout SECONDS" in done.stderr, done.stderr


def test_the_tool_says_what_to_type_under_torchrun(folders):
    launched = SETTINGS | {"TORCHELASTIC_RUN_ID": "none", "WORLD_SIZE": "2", "RANK": "0"}
    for words in ["fit", "data.csv", *DBK], COMPARE:
        done = subprocess.run([TOOL, *words], cwd=folders[0], env=launched, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and f"torchrun ... -m slimbayes {words[0]}" in done.stderr
