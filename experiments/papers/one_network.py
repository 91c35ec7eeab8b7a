"""What R's studies around one network share (R: docs/references.md): the network, the rows of the curve, and how a cell is run.

A cell's flags are `FLAGS --around dnn OWN`: dnn is trained with FLAGS on rows that the study makes, once for all cells of a runner
that have the same network, and the cell's method answers around it with its OWN flags. No test rows are held out: the studies ask
for answers on rows of their own.
"""

import pathlib
import random
import tempfile
import threading
from math import sin

from results import key
from runners import Runner, around, as_shown

ARCHITECTURE = ("--network mlp --hidden 50 --blocks 2 --activation relu --parametrisation mup --scale standard "
                "--learning-rate 1e-3 --weight-decay 0 --clip-norm 1 --schedule constant --patience 0")
CURVE = f"{ARCHITECTURE} --epochs 500 --batch 32"
PRIOR = "--prior fixed --prior-sd 1"
POSTERIOR = f"{PRIOR} --noise mse"


def two_stretches(draw, n=400):
    """x of the curve, with a gap in the middle. Draws of Python's own generator, which are the same everywhere; the caller draws the
    noise of each row before the next x."""
    for i in range(n):
        yield draw.uniform(-1.5, -0.4) if i % 2 else draw.uniform(0.4, 1.5)


def curve_rows():
    draw = random.Random(1)
    return [(x, sin(3 * x) + draw.gauss(0, 0.1)) for x in two_stretches(draw)]


class OneNetwork(Runner):
    def __init__(self, tool, data):
        super().__init__(tool, data)
        self._folder, self._networks, self._lock = tempfile.TemporaryDirectory(), {}, threading.Lock()

    def command(self, cell, table, own, model):
        return super().command(cell, table, [], model)

    def network(self, base, work, table, *valid):
        """The model file of the cell that others stand on; trained on the table by the first that asks for it."""
        with self._lock:
            if key(base) not in self._networks:
                model = pathlib.Path(self._folder.name) / f"network{len(self._networks)}.safetensors"
                work.quiet([*self.command(base, table, [], model), *valid])
                self._networks[key(base)] = model
            return self._networks[key(base)]

    def fitted(self, cell, work, table, *valid):
        """The model file of the cell, around a network that is trained on the same rows."""
        base, own = around(cell)
        network, model = self.network(base, work, table, *valid), work.folder / f"{cell['method']}.safetensors"
        work.measured([*self._around(own, table, network, model), *valid])
        work.command = f"{as_shown([*self.command(base, table, [], network), *valid])} && {work.command}"
        return model

    def run(self, cell):
        row = super().run(cell)
        del row["memory_mb"]
        return row
