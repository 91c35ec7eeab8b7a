"""The step and the prediction of dbk, the deep kernels of GPyTorch and the update of VBLL, for peers.py: float32,
one thread.

The net is that of slimbayes/catalog/network/networks.cpp, the objectives are dPPGP by automatic differentiation
and GPyTorch's own, the optimiser AdamW with decay on the backbone alone.
"""

import math
import tempfile
from pathlib import Path

import gpytorch
import onnxruntime
import torch
import vbll
from torch import nn

INPUTS, HIDDEN, RANK, BLOCKS = 26, 64, 128, 2
TRAINING_ROWS = 15000
ALPHA = BETA = 0.01
NOISE_START, NOISE_FLOOR = 1e-2, 1e-6
WIDE = 512  # features of the last layer whose posterior is updated


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width)
        )

    def forward(self, x):
        return x + self.body(x)


def backbone():
    blocks = [Block(HIDDEN) for _ in range(BLOCKS)]
    return nn.Sequential(nn.Linear(INPUTS, HIDDEN), *blocks, nn.LayerNorm(HIDDEN), nn.SiLU())


def adamw(net, head, noise, fused=None):
    groups = [
        {"params": net, "lr": 1e-3, "weight_decay": 1e-2},
        {"params": head, "lr": 1e-3, "weight_decay": 0.0},
        {"params": noise, "lr": 1e-2, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, fused=fused)


class Dbk(nn.Module):
    """phi = s * SiLU(W g + b), q(w) = N(m, L L^T), dPPGP."""

    def __init__(self):
        super().__init__()
        self.net = backbone()
        self.expand = nn.Linear(HIDDEN, RANK)
        self.scale = nn.Parameter(torch.sign(torch.rand(RANK) - 0.5) / math.sqrt(RANK))
        self.mean = nn.Parameter(torch.zeros(RANK))
        self.log_diagonal = nn.Parameter(torch.full((RANK,), -0.5 * math.log(RANK)))
        self.lower = nn.Parameter(torch.randn(RANK, RANK) / RANK)
        self.offset = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(math.log(NOISE_START - NOISE_FLOOR)))

    def factor(self):
        return torch.tril(self.lower, -1) + torch.diag(self.log_diagonal.exp())

    def forward(self, x):
        """Mean [b], epistemic variance [b], phi [b, r], L [r, r]."""
        phi = nn.functional.silu(self.expand(self.net(x))) * self.scale
        factor = self.factor()
        return phi @ self.mean + self.offset, (phi @ factor).square().sum(-1), phi, factor

    def loss(self, x, y):
        mean, epistemic, phi, factor = self(x)
        noise = self.log_noise.exp() + NOISE_FLOOR
        var = epistemic + noise
        data = 0.5 * (torch.log(2 * math.pi * var) + (y - mean).square() / var).mean()
        prior_var = phi.square().sum(-1)
        trace = (prior_var.max() - prior_var.mean()) / (2 * noise)
        kl = 0.5 * (self.mean.square().sum() + factor.square().sum() - 2 * self.log_diagonal.sum() - RANK)
        return data + ALPHA * trace + BETA / TRAINING_ROWS * kl

    def optimiser(self, fused=None):
        noise = [self.log_noise]
        net = list(self.net.parameters())
        taken = {id(p) for p in noise + net}
        return adamw(net, [p for p in self.parameters() if id(p) not in taken], noise, fused)


class Vbll(Dbk):
    """The same net and q(w) under the evidence bound of VBLL (Harrison et al. 2024), by automatic differentiation."""

    def loss(self, x, y):
        mean, epistemic, _, factor = self(x)
        noise = self.log_noise.exp() + NOISE_FLOOR
        data = 0.5 * (torch.log(2 * math.pi * noise) + ((y - mean).square() + epistemic) / noise).mean()
        kl = 0.5 * (self.mean.square().sum() + factor.square().sum() - 2 * self.log_diagonal.sum() - RANK)
        return data + kl / TRAINING_ROWS


class KeptDbk(nn.Module):
    """The prediction of a Dbk: L, the noise and all else that no row changes is computed once."""

    def __init__(self, model):
        super().__init__()
        self.net, self.expand = model.net, model.expand
        for name in ("scale", "mean", "offset"):
            self.register_buffer(name, getattr(model, name).detach().clone())
        self.register_buffer("factor", model.factor().detach())
        self.register_buffer("noise", model.log_noise.detach().exp() + NOISE_FLOOR)

    def forward(self, x):
        phi = nn.functional.silu(self.expand(self.net(x))) * self.scale
        return phi @ self.mean + self.offset, (phi @ self.factor).square().sum(-1) + self.noise


class DeepKernel(gpytorch.models.ApproximateGP):
    """RBF with a lengthscale a feature on the backbone's outputs, whitened q(u) at r inducing points."""

    def __init__(self):
        posterior = gpytorch.variational.CholeskyVariationalDistribution(RANK)
        inducing = 2 * torch.rand(RANK, HIDDEN) - 1
        super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, posterior))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=HIDDEN))
        self.covar_module.base_kernel.lengthscale = math.sqrt(HIDDEN)
        self.net = backbone()
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()
        self.likelihood.noise = NOISE_START

    def forward(self, features):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(features), self.covar_module(features))

    def loss(self, objective):
        rule = objective(self.likelihood, self, num_data=TRAINING_ROWS)
        return lambda x, y: -rule(self(self.net(x)), y)

    def optimiser(self):
        net = list(self.net.parameters())
        noise = list(self.likelihood.parameters())
        taken = {id(p) for p in net + noise}
        return adamw(net, [p for p in self.parameters() if id(p) not in taken], noise)


class DeepPredictor(nn.Module):
    """The prediction of a DeepKernel, which keeps the Cholesky factor of K_ZZ itself."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        answer = self.model.likelihood(self.model(self.model.net(x)))
        return answer.mean, answer.variance


def stepper(model, optimiser, loss, x, y):
    """One call is one training step; the loss is read, as a training loop does."""

    def step():
        optimiser.zero_grad()
        value = loss(x, y)
        value.backward()
        optimiser.step()
        return value.item()

    return step


def training_steps(batch):
    """{(task, competitor): step} on one batch of this size. GPyTorch's deep kernels stand beside dbk's step, which
    does the same job, and beside the step of their own objective."""
    x, y = torch.randn(batch, INPUTS), torch.randn(batch)
    steps = {}
    for task, kind in ("step", Dbk), ("step vbll", Vbll):
        plain, compiled = kind(), kind()
        loss = torch.compile(compiled.loss, dynamic=False)
        steps[task, "pytorch"] = stepper(plain, plain.optimiser(), plain.loss, x, y)
        steps[task, "pytorch-compiled"] = stepper(compiled, compiled.optimiser(fused=True), loss, x, y)
    for name, objective in (
        ("sv-dkl", gpytorch.mlls.VariationalELBO),
        ("pp-dkl", gpytorch.mlls.PredictiveLogLikelihood),
    ):
        model = DeepKernel()
        model(model.net(x))  # GPyTorch places q(u) on its first call
        step = stepper(model, model.optimiser(), model.loss(objective), x, y)
        steps["step", f"gpytorch-{name}"] = steps[f"step {name}", f"gpytorch-{name}"] = step
    return steps


def ahead_of_time(model, x):
    """(The package that AOTInductor makes of a model for inputs of this shape, its loader's run as C++ calls it.)"""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.pt2")
        torch._inductor.aoti_compile_and_package(torch.export.export(model, (x,)), package_path=path)
        package = torch._inductor.aoti_load_package(path)
    return package, lambda x: package.loader.run([x])


def by_onnxruntime(model, x):
    """A call of what ONNX Runtime makes of a model for inputs of this shape; its answers stay in the same memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(model, (x,), path, dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    taken = x.numpy().copy()
    binding = session.io_binding()  # no copies and no lists of arrays, as from C++
    binding.bind_cpu_input(session.get_inputs()[0].name, taken)
    answers = [torch.empty_like(part) for part in model(x)]
    for output, part in zip(session.get_outputs(), answers, strict=True):
        binding.bind_output(output.name, "cpu", 0, "float32", tuple(part.shape), part.data_ptr())

    def run(x):
        taken[:] = x.numpy()
        session.run_with_iobinding(binding)
        return answers

    return run


def traced(model, x):
    with torch.no_grad():
        model.eval()(x)  # GPyTorch fills its caches
        return torch.jit.optimize_for_inference(torch.jit.trace(model, x, check_trace=False))


def check_same(models, x):
    """Raises unless each competitor answers as the first of its library does."""
    first = {}
    with torch.inference_mode():
        for name, model in models.items():
            expected = first.setdefault(name.split("-")[0], model(x))
            for mine, theirs in zip(model(x), expected, strict=True):
                torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6, msg=lambda text: f"{name}: {text}")


def predictors(rows):
    """{competitor: call giving the mean and the predictive variance of each row}. Plain PyTorch builds L for each call,
    the others keep it. Traced and compiled models are made for this number of rows."""
    x = torch.randn(rows, INPUTS)
    plain = Dbk().eval()
    nn.init.normal_(plain.mean)  # it starts at 0, which would hide a wrong mean
    kept = KeptDbk(plain).eval()
    deep = DeepKernel()
    deep(deep.net(x))
    nn.init.normal_(deep.variational_strategy._variational_distribution.variational_mean)
    by_gpytorch = DeepPredictor(deep.eval())

    def by_pytorch(x):
        mean, epistemic, _, _ = plain(x)
        return mean, epistemic + plain.log_noise.exp() + NOISE_FLOOR

    package, run = ahead_of_time(kept, x)
    models = {
        "pytorch": by_pytorch,
        "pytorch-kept": kept,
        "pytorch-compiled": torch.compile(kept, dynamic=False),
        "pytorch-traced": traced(kept, x),
        "pytorch-aoti": package,
        "pytorch-aoti-run": run,
        "pytorch-onnxruntime": by_onnxruntime(kept, x),
        "gpytorch-pp-dkl": by_gpytorch,
    }
    with gpytorch.settings.trace_mode():
        models["gpytorch-pp-dkl-traced"] = traced(by_gpytorch, x)
    check_same(models, torch.randn(rows, INPUTS))

    def caller(model):
        def call():
            with torch.inference_mode():
                return model(x)

        return call

    return {name: caller(model) for name, model in models.items()}


def updates(rows):
    """{competitor: call that adds this many rows to the posterior of a last layer, giving factor and mean}. VBLL's own
    update takes the rows one by one (rank-one updates of the precision's factor, in Python, float32). Plain PyTorch
    keeps the precision and factorises it anew, in float64 like ours."""
    layer = vbll.Regression(WIDE, 1, 1 / TRAINING_ROWS, parameterization="dense_precision")
    nn.init.constant_(layer.noise_logdiag, math.log(0.1) / 2)  # at random it is often below 1e-6, too little for float32
    before, noise_var = layer.W(), layer.noise().scale.square()
    x, y = torch.randn(rows, WIDE), torch.randn(rows, 1)
    precision = before.inverse_covariance[0].double().detach()
    natural_mean = precision @ before.mean[0].double().detach()
    scaled = x.double() / noise_var.double().sqrt().detach()
    scaled_y = y[:, 0].double() / noise_var.double().sqrt().detach()

    def by_vbll():
        with torch.no_grad():
            return before.recursive_update(x, y, noise_var)

    def by_pytorch():
        factor = torch.linalg.cholesky(torch.addmm(precision, scaled.T, scaled))
        natural = torch.addmv(natural_mean, scaled.T, scaled_y)
        return factor, torch.cholesky_solve(natural[:, None], factor)[:, 0]

    return {"vbll": by_vbll, "pytorch": by_pytorch}
