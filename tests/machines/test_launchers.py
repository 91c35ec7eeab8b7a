"""The files of examples/machines start fits of two ranks: those for Slurm and Kubernetes with stand-ins for what the cluster does,
those for Ray and Spark with the engines themselves where they are installed (tests/requirements-clusters.txt)."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from test_torchrun import ROOT, SETTINGS, answers, ended, fitted, free_port, table

EXAMPLES = ROOT / "examples" / "machines"
SMALL = ["--method", "dbk", "--hidden", "16", "--rank", "16", "--batch", "100"]
NAMES = {"DATA": "data.csv", "TARGET": "y", "MODEL": "model.safetensors"}
SLURM = {
    "scontrol": """
if [ "$1 $2" = "show hostnames" ]; then printf '127.0.0.1\\nsecond\\n'; else echo "$@" >> asked; fi
""",
    # The same command on two nodes.
    "srun": """
while [[ $1 == --* ]]; do shift; done
for node in 0 1; do SLURM_NODEID=$node "$@" & echo $! >> tasks; done
code=0
for task in $(jobs -p); do wait "$task" || code=1; done
exit "$code"
""",
    # The signal reaches torchrun and its rank, as all processes of a task.
    "scancel": """
echo "$@" >> asked
for task in $(cat tasks); do kill -INT "$task" $(cat "/proc/$task/task/$task/children"); done
""",
}


@pytest.fixture(name="folder")
def folder_that_all_ranks_see(tmp_path):
    table(tmp_path / "data.csv")
    return tmp_path


def slurm_job(folder, options, **variables):
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (folder / "tasks").unlink(missing_ok=True)
    for name, text in SLURM.items():
        (tools / name).write_text("#!/bin/bash" + text)
        (tools / name).chmod(0o755)
    return subprocess.Popen(["bash", EXAMPLES / "slurm.sbatch"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=SETTINGS | NAMES | {"OPTIONS": " ".join(options), "PYTHON": sys.executable, "PORT": str(free_port()),
                                                    "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_JOB_ID": "77", "SLURM_JOB_NODELIST": "node[1-2]",
                                                    "SLURM_JOB_NUM_NODES": "2", "SLURM_CPUS_PER_TASK": "1", **variables})


def test_a_slurm_job_saves_before_its_limit_and_goes_on_when_it_is_requeued(folder):
    options = [*SMALL, "--steps", "1500", "--patience", "0", "--noise-folds", "0", "--json"]
    checkpoint = folder / "model.safetensors.ckpt"
    job = slurm_job(folder, [*options, "--checkpoint-every", "0.1"])
    until = time.monotonic() + 60
    while not checkpoint.exists() and job.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    job.send_signal(signal.SIGUSR1)
    (code, _, said), = ended([job])
    assert code == 1 and "interrupted; model.safetensors holds what was fitted so far" in said, said
    assert (folder / "asked").read_text() == "--signal=INT 77\nrequeue 77\n" and checkpoint.exists()
    (code, out, said), = ended([slurm_job(folder, options, SLURM_RESTART_COUNT="1")])
    assert code == 0 and "starting anew" not in said, said
    assert json.loads(out)["ranks"]["size"] == 2 and not checkpoint.exists()
    assert (folder / "asked").read_text().count("requeue") == 1


def test_two_pods_of_the_pytorchjob_make_one_fit(folder):
    yaml = pytest.importorskip("yaml")  # Dask installs it
    job = yaml.safe_load((EXAMPLES / "kubernetes.yaml").read_text())
    replicas = job["spec"]["pytorchReplicaSpecs"]
    assert (job["apiVersion"], job["kind"], list(replicas)) == ("kubeflow.org/v1", "PyTorchJob", ["Master", "Worker"])
    port, pods = str(free_port()), []
    for rank, replica in enumerate(replicas.values()):
        pod = replica["template"]["spec"]
        container, = pod["containers"]
        assert replica["replicas"] == 1 and container["name"] == "pytorch"  # what the operator looks for
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        own = {variable["name"]: variable["value"] for variable in container["env"]} | NAMES | {"THREADS": "1"}
        words = [re.sub(r"\$\((\w+)\)", lambda name: own[name[1]], word) for word in container["command"] + container["args"]]
        assert words[0] == "python3"
        operator = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "RANK": str(rank), "PET_MASTER_ADDR": "127.0.0.1",
                    "PET_MASTER_PORT": port, "PET_NNODES": "2", "PET_NODE_RANK": str(rank), "PYTHONUNBUFFERED": "1"}
        pods.append(subprocess.Popen([sys.executable, *words[1:], *SMALL[2:], "--steps", "60", "--json"], cwd=folder, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=SETTINGS | own | operator))
    (code, out, said), (other, other_out, other_said) = ended(pods)
    assert code == other == 0 and other_out == "", said + other_said
    assert json.loads(out)["ranks"]["size"] == 2 and (folder / "model.safetensors").exists()


def launched(folder, program, **variables):
    """What the script of an engine prints: that of the ranks comes through the engine, on either stream."""
    paths = {"PYTHONPATH": ":".join([SETTINGS["PYTHONPATH"], *sys.path]), "PYSPARK_PYTHON": sys.executable, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run([sys.executable, *program], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                          env=SETTINGS | NAMES | paths | variables | {"OPTIONS": " ".join([*SMALL, "--steps", "60", "--json"])})
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def check_fitted_by_two(folder, said):
    """The model is that of two ranks which are started by hand."""
    assert said.count('"ranks"') == 1 and '"size": 2' in said, said
    expected = answers(folder)
    (folder / "model.safetensors").unlink()
    assert [code for code, *_ in fitted([folder] * 2, "--target", "y", *SMALL, "--steps", "60", "--threads", "1")] == [0, 0]
    assert answers(folder) == expected


def test_ray_train_makes_a_fit_of_two_workers(folder):
    pytest.importorskip("ray.train", exc_type=ImportError)
    start = "import ray, runpy, sys; ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20); "
    said = launched(folder, ["-c", start + "runpy.run_path(sys.argv[1], run_name='__main__')", EXAMPLES / "ray_train.py"])
    check_fitted_by_two(folder, said)


@pytest.mark.parametrize("local", ["no", "yes"])
def test_spark_makes_a_fit_of_two_tasks(folder, local):
    pytest.importorskip("pyspark")
    check_fitted_by_two(folder, launched(folder, [EXAMPLES / "spark_distributor.py"], LOCAL=local))
