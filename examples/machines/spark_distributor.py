"""One fit by several tasks of Spark, with TorchDistributor: `spark-submit --conf spark.task.cpus=4 spark_distributor.py`.

Every executor needs slimbayes, torch, pandas and pyarrow in its Python, and the data and the folder of the model at the
same paths. Edit the values below; a variable of the environment takes precedence.
"""

import os
import shlex
import subprocess
import sys

from pyspark.ml.torch.distributor import TorchDistributor
from pyspark.sql import SparkSession

DATA = os.path.abspath(os.environ.get("DATA", "houses.csv"))
TARGET = os.environ.get("TARGET", "price")
MODEL = os.path.abspath(os.environ.get("MODEL", "price.safetensors"))
OPTIONS = os.environ.get("OPTIONS", "--method dbk")  # more flags of `slimbayes fit`
RANKS = int(os.environ.get("RANKS", "2"))
THREADS = int(os.environ.get("THREADS", "1"))  # cores of a rank, at most spark.task.cpus
LOCAL = os.environ.get("LOCAL", "no") == "yes"  # yes: all ranks on the machine of the driver


def rank(arguments):
    """One rank. TorchDistributor runs this function under torchrun, whose variables the process inherits."""
    subprocess.run([sys.executable, "-m", "slimbayes", "fit", *arguments], check=True)


if __name__ == "__main__":
    arguments = [DATA, "--target", TARGET, "--model", MODEL, "--threads", str(THREADS), "--resume", *shlex.split(OPTIONS)]
    spark = SparkSession.builder.appName("slimbayes").getOrCreate()
    # Spark starts the tasks together, and ends all of them if one fails. Then start this program again: --resume goes on.
    TorchDistributor(num_processes=RANKS, local_mode=LOCAL, use_gpu=False).run(rank, arguments)
    spark.stop()
