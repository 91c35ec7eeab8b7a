"""One fit by several workers of Ray Train: `python ray_train.py`, on one machine or on a Ray cluster (RAY_ADDRESS).

Every machine needs slimbayes, and the data and the folder of the model at the same paths. Edit the values below; a
variable of the environment takes precedence.
"""

import os
import shlex
import subprocess
import sys

from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

DATA = os.path.abspath(os.environ.get("DATA", "houses.csv"))
TARGET = os.environ.get("TARGET", "price")
MODEL = os.path.abspath(os.environ.get("MODEL", "price.safetensors"))
OPTIONS = os.environ.get("OPTIONS", "--method dbk")  # more flags of `slimbayes fit`
RANKS = int(os.environ.get("RANKS", "2"))
THREADS = int(os.environ.get("THREADS", "1"))  # cores of a rank


def rank(config):
    """One rank, as a process of its own: the tool has handlers of signals, which need the main thread of a process.

    Ray has made a process group in this worker, with RANK, WORLD_SIZE and a store of addresses at MASTER_ADDR:MASTER_PORT.
    The ranks meet at that store, as they do at the store of torchrun's agent, so rank 0 does not open a second one there.
    """
    subprocess.run([sys.executable, "-m", "slimbayes", "fit", *config["arguments"]], check=True,
                   env=os.environ | {"TORCHELASTIC_USE_AGENT_STORE": "True"})


if __name__ == "__main__":
    arguments = [DATA, "--target", TARGET, "--model", MODEL, "--threads", str(THREADS), "--resume", *shlex.split(OPTIONS)]
    TorchTrainer(
        rank, train_loop_config={"arguments": arguments},
        scaling_config=ScalingConfig(num_workers=RANKS, use_gpu=False, resources_per_worker={"CPU": THREADS}),
        # Ray starts all workers again when one fails; --resume goes on from the checkpoint. Ray writes its own records
        # into the folder of the model, because all machines must reach them.
        run_config=RunConfig(name="ray-train", storage_path=os.path.dirname(MODEL), failure_config=FailureConfig(max_failures=2)),
    ).fit()
