#!/usr/bin/env python3
"""One answer of slimbayes in Python or of a package beside it: what a user writes, what it takes and what it is worth.

    peers.py TABLE PART METHOD SEED     prints one JSON object

PART `table`: a fit of the table. PART `network`: an error bar around the same torch network. Each function below holds no more than what
a user of that package writes, from the data to mean and interval (and sd where the package has one); `lines` counts it.
"""

import inspect
import json
import sys
import time
import warnings

import numpy as np
import pandas as pd

LEVEL = 0.9


def slimbayes_default(X, y, X_new, seed):
    import slimbayes as sb
    model = sb.Regressor(seed=seed).fit(X, y)
    mean, sd = model.predict(X_new, return_std=True)
    low, high = model.predict_interval(X_new, level=LEVEL)
    return mean, sd, low, high, model


def slimbayes_dbk(X, y, X_new, seed):
    import slimbayes as sb
    model = sb.Regressor("dbk", seed=seed).fit(X, y)
    mean, sd = model.predict(X_new, return_std=True)
    low, high = model.predict_interval(X_new, level=LEVEL)
    return mean, sd, low, high, model


def slimbayes_dbk_conformal(X, y, X_new, seed):
    import slimbayes as sb
    model = sb.Regressor("dbk", calibrate="conformal", seed=seed).fit(X, y)
    mean, sd = model.predict(X_new, return_std=True)
    low, high = model.predict_interval(X_new, level=LEVEL)
    return mean, sd, low, high, model


def ngboost(X, y, X_new, seed):
    from ngboost import NGBRegressor
    from scipy.stats import norm
    from sklearn.model_selection import train_test_split
    X_fit, X_valid, y_fit, y_valid = train_test_split(X, y, test_size=0.1, random_state=seed)
    model = NGBRegressor(random_state=seed, verbose=False)
    model.fit(X_fit, y_fit, X_val=X_valid, Y_val=y_valid, early_stopping_rounds=50)
    found = model.pred_dist(X_new)
    mean, sd = found.params["loc"], found.params["scale"]
    low, high = norm.interval(LEVEL, mean, sd)
    return mean, sd, low, high, None


def mapie(X, y, X_new, seed):
    from mapie.regression import SplitConformalRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import train_test_split
    X_fit, X_conformal, y_fit, y_conformal = train_test_split(X, y, test_size=0.1, random_state=seed)
    model = SplitConformalRegressor(HistGradientBoostingRegressor(random_state=seed), confidence_level=LEVEL, prefit=False)
    model.fit(X_fit, y_fit).conformalize(X_conformal, y_conformal)
    mean, interval = model.predict_interval(X_new)
    return mean, None, interval[:, 0, 0], interval[:, 1, 0], None


def slimbayes_rich_bll(net, train, valid, x_new):
    import slimbayes as sb
    bayes = sb.posterior(net, train, valid=valid)
    mean, sd = bayes.predict(x_new, return_std=True)
    low, high = bayes.predict_interval(x_new, level=LEVEL)
    return mean, sd, low, high


def slimbayes_bll(net, train, valid, x_new):
    import slimbayes as sb
    bayes = sb.posterior(net, train, "bll", valid=valid)
    mean, sd = bayes.predict(x_new, return_std=True)
    low, high = bayes.predict_interval(x_new, level=LEVEL)
    return mean, sd, low, high


def laplace_torch(net, train, valid, x_new, weights, structure):
    import torch
    from laplace import Laplace
    from scipy.stats import norm
    from torch.utils.data import DataLoader, TensorDataset
    model = Laplace(net, "regression", subset_of_weights=weights, hessian_structure=structure)
    model.fit(DataLoader(TensorDataset(*train), batch_size=256))
    log_prior, log_sigma = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    step = torch.optim.Adam([log_prior, log_sigma], lr=1e-1)
    for _ in range(100):
        step.zero_grad()
        (-model.log_marginal_likelihood(log_prior.exp(), log_sigma.exp())).backward()
        step.step()
    f_mean, f_var = model(x_new)
    mean = f_mean[:, 0].detach().numpy()
    sd = (f_var[:, 0, 0] + model.sigma_noise**2).sqrt().detach().numpy()
    low, high = norm.interval(LEVEL, mean, sd)
    return mean, sd, low, high


def laplace_last_full(net, train, valid, x_new):
    return laplace_torch(net, train, valid, x_new, "last_layer", "full")


def laplace_all_kron(net, train, valid, x_new):
    return laplace_torch(net, train, valid, x_new, "all", "kron")


TABLE = {"slimbayes": slimbayes_default, "slimbayes-dbk": slimbayes_dbk, "slimbayes-dbk-conformal": slimbayes_dbk_conformal,
         "ngboost": ngboost, "mapie": mapie}
NETWORK = {"slimbayes-rich-bll": slimbayes_rich_bll, "slimbayes-bll": slimbayes_bll, "laplace-last-full": laplace_last_full,
           "laplace-all-kron": laplace_all_kron}


def lines_of(function):
    """The statements that a user writes: the lines of the body without the last, which only hands the answer over."""
    return len(inspect.getsource(function).splitlines()) - 2


def trained_network(x, y, seed):
    """Two hidden layers of 50 tanh units, 2,000 steps of Adam on standardised rows."""
    import torch

    torch.manual_seed(seed)
    layers = [torch.nn.Linear(x.shape[1], 50), torch.nn.Tanh(), torch.nn.Linear(50, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1)]
    net = torch.nn.Sequential(*layers)
    step = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(2000):
        rows = torch.randint(len(x), (64,))
        step.zero_grad()
        ((net(x[rows]) - y[rows]) ** 2).mean().backward()
        step.step()
    return net


def scores(y, mean, sd, low, high):
    """Metrics in units of the target. Without an sd there is no density, and no NLL."""
    found = {"rmse": float(np.sqrt(np.mean((y - mean) ** 2))), "coverage": float(np.mean((low <= y) & (y <= high))),
             "width": float(np.mean(high - low))}
    if sd is not None:
        found["nll"] = float(np.mean(0.5 * np.log(2 * np.pi * sd**2) + 0.5 * ((y - mean) / sd) ** 2))
    return found


def of_table(frame, order, cut, method, seed):
    train, test = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
    X, y, X_new, truth = train.drop(columns="y"), train["y"], test.drop(columns="y"), test["y"].to_numpy()
    start = time.process_time()
    mean, sd, low, high, model = TABLE[method](X, y, X_new, seed)
    seconds = time.process_time() - start
    found = scores(truth, mean, sd, low, high)
    if model is not None:  # the density of slimbayes need not be Gaussian
        found["nll"] = model.evaluate(X_new, truth)["nll"]
    return {**found, "seconds": seconds, "lines": lines_of(TABLE[method])}


def of_network(frame, order, cut, method, seed):
    import torch

    rows = torch.tensor(frame.to_numpy()[order], dtype=torch.float32)
    rows = (rows - rows[:cut].mean(0)) / rows[:cut].std(0)
    x, y = rows[:, :-1], rows[:, -1:]
    keep = cut - cut // 9
    net = trained_network(x[:keep], y[:keep], seed)
    truth = y[cut:, 0].numpy()
    start = time.process_time()
    mean, sd, low, high = NETWORK[method](net, (x[:keep], y[:keep]), (x[keep:cut], y[keep:cut]), x[cut:])
    seconds = time.process_time() - start
    gap = float(np.abs(mean - net(x[cut:])[:, 0].detach().numpy()).max())
    body = laplace_torch if method.startswith("laplace") else NETWORK[method]
    return {**scores(truth, mean, sd, low, high), "mean_gap": gap, "seconds": seconds, "lines": lines_of(body)}


def main(table, part, method, seed):
    warnings.simplefilter("ignore")
    import sklearn.ensemble  # noqa: F401 (before the clock starts, as the imports below)
    import torch

    if method.startswith("slimbayes"):
        import slimbayes
        slimbayes.Regressor
    elif method.startswith("laplace"):
        import laplace  # noqa: F401
    torch.set_num_threads(1)
    frame = pd.read_csv(table)
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = len(frame) - len(frame) // 10
    found = {"table": of_table, "network": of_network}[part](frame, order, cut, method, seed)
    print(json.dumps({**found, "rows": cut, "test_rows": len(frame) - cut}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
