"""Reference numbers for tests/core/gaussian_linear_test.cpp: the dense Gaussian-process formulas in 60 digits.

Run:  python tests/core/golden/gaussian_linear.py > tests/core/golden/gaussian_linear.json
Independent of the library: it forms C = sigma2 D + Phi T T^T Phi^T (n x n) and solves with it, where float64 would lose
its digits. Inputs are doubles drawn with numpy's PCG64 and are part of the output.
"""

import json

import mpmath as mp
import numpy as np

mp.mp.dps = 60
SEED = 20260


def rounded(x):
    return json.loads(json.dumps(np.asarray(x, dtype=float).tolist()))


def case(name, n, r, sigma2, *, d=False, prior=False, fit_mean=False, duplicate=False, dead=False, rng):
    phi = rng.normal(size=(n, r))
    if duplicate:
        phi[n // 2 :] = phi[: n - n // 2]
    if dead:
        phi[:, r - 1] = 0
    y = phi @ rng.normal(size=r) + np.sqrt(sigma2) * rng.normal(size=n) + (0.7 if fit_mean else 0.0)
    scale = rng.uniform(0.5, 2.0, size=n) if d else np.ones(n)
    factor = np.tril(rng.normal(size=(r, r))) / np.sqrt(r) + 0.5 * np.eye(r) if prior else np.eye(r)
    test = rng.normal(size=(4, r))

    P, Y, T, X = mp.matrix(phi.tolist()), mp.matrix(y.tolist()), mp.matrix(factor.tolist()), mp.matrix(test.tolist())
    K = P * T * T.T * P.T
    C = K + mp.diag([mp.mpf(sigma2) * mp.mpf(float(v)) for v in scale])
    one = mp.matrix([1] * n)
    ci_y, ci_one = mp.lu_solve(C, Y), mp.lu_solve(C, one)
    constant = (one.T * ci_y)[0] / (one.T * ci_one)[0] if fit_mean else mp.mpf(0)
    centred = Y - constant * one
    alpha = mp.lu_solve(C, centred)
    L = mp.cholesky(C)
    log_det = 2 * mp.fsum(mp.log(L[i, i]) for i in range(n))
    evidence = -(n * mp.log(2 * mp.pi) + log_det + (centred.T * alpha)[0]) / 2
    cross = X * T * T.T * P.T
    mean = [constant + v for v in cross * alpha]
    var = []
    for i in range(test.shape[0]):
        k = cross[i, :].T
        own = (X[i, :] * T * T.T * X[i, :].T)[0]
        var.append(own - (k.T * mp.lu_solve(C, k))[0])
        if fit_mean:  # Rasmussen and Williams 2006, eq. 2.42, with a flat prior on the constant
            var[-1] += (1 - (one.T * mp.lu_solve(C, k))[0]) ** 2 / (one.T * ci_one)[0]
    return {
        "name": name, "sigma2": sigma2, "fit_mean": fit_mean, "features": rounded(phi), "y": rounded(y),
        "d": rounded(scale) if d else None, "prior_factor": rounded(factor) if prior else None, "test": rounded(test),
        "constant": float(constant), "log_evidence": float(evidence),
        "mean": [float(v) for v in mean], "epistemic_var": [float(v) for v in var],
    }


def main():
    rng = np.random.default_rng(SEED)
    cases = []
    for sigma2 in (1e-3, 1e-6, 1e-9):
        cases += [
            case("tall", 24, 5, sigma2, rng=rng),
            case("noise D", 24, 5, sigma2, d=True, rng=rng),
            case("prior T", 24, 5, sigma2, prior=True, rng=rng),
            case("D, T and a constant", 24, 5, sigma2, d=True, prior=True, fit_mean=True, rng=rng),
            case("n < r", 4, 7, sigma2, rng=rng),
            case("duplicated rows", 16, 5, sigma2, duplicate=True, rng=rng),
            case("dead feature", 16, 5, sigma2, dead=True, rng=rng),
        ]
    print(json.dumps({"made_by": f"mpmath {mp.__version__}, numpy {np.__version__}, seed {SEED}, {mp.mp.dps} digits",
                      "cases": cases}))


if __name__ == "__main__":
    main()
