"""Prints the reference values of tests/density/truncated_test.cpp and tests/answers/censored/.

Not a test: it needs packages that the project does not. Made with Python 3.11, mpmath 1.4.1, numpy 2.4.6, scipy 1.17.1 and
scikit-survival 0.28.0:  pip install mpmath scikit-survival && python survival_reference.py
"""

import mpmath as mp
import numpy as np
from scipy import stats
from sksurv.metrics import (brier_score, concordance_index_censored, concordance_index_ipcw, cumulative_dynamic_auc,
                            integrated_brier_score)
from sksurv.nonparametric import CensoringDistributionEstimator, kaplan_meier_estimator
from sksurv.util import Surv

INF = mp.inf
TIMES = np.array([2, 4.25, 6, 8.5, 11])


def truncated_normal(a, b):
    """log P, E[z] and E[z^2] - 1 of z ~ N(0, 1) within [a, b]."""
    a, b = mp.mpf(a), mp.mpf(b)
    if a + b > 0:
        log_prob, mean, excess = truncated_normal(-b, -a)
        return log_prob, -mean, excess
    prob = (mp.erfc(-b / mp.sqrt(2)) - mp.erfc(-a / mp.sqrt(2))) / 2
    at_a, at_b = (mp.mpf(0) if mp.isinf(z) else mp.npdf(z) for z in (a, b))
    first, second = (mp.mpf(0) if mp.isinf(z) else z * mp.npdf(z) for z in (a, b))
    return mp.log(prob), (at_a - at_b) / prob, (first - second) / prob


def student_below(z, dof):
    z, dof = mp.mpf(z), mp.mpf(dof)
    return mp.mpf(0) if mp.isinf(z) else mp.betainc(dof / 2, mp.mpf(1) / 2, 0, dof / (dof + z * z), regularized=True) / 2


def log_student_between(a, b, dof):
    if a + b > 0:
        a, b = -b, -a
    if b <= 0:
        return mp.log(student_below(b, dof) - student_below(a, dof))
    return mp.log(1 - student_below(a, dof) - student_below(-b, dof))


def print_truncated():
    mp.mp.dps = 400
    for a, b in [(40, INF), (40, 41), (40, 40 + 2**-20), (-INF, -40), (-INF, 8), (2, INF), (-1, INF), (-0.5, 0.5), (-1, 3),
                 (-0.5, 0.53125), (3, 3 + 2**-30), (300, INF), (-60, -59), (20, 20.125)]:
        print("normal", a, b, *[mp.nstr(x, 17) for x in truncated_normal(a, b)])
    mp.mp.dps = 60
    for a, b, dof in [(40, INF, 5), (40, 40 + 2**-20, 5), (-1, 2, 3), (-INF, -200, 300), (-205, -200, 300), (-3, -2.75, 30),
                      (1e100, INF, 4), (-0.5, 0.625, 2.5)]:
        print("student", a, b, dof, mp.nstr(log_student_between(a, b, dof), 17))
    mp.mp.dps = 100
    for mean, var, lower, upper in [(1.5, 4, -INF, 0.25), (0, 1, 40, INF), (0.5, 0.25, 0.25, 1.75), (-2, 9, 70, 71)]:
        sd = mp.sqrt(var)
        log_prob, first, second = truncated_normal((lower - mp.mpf(mean)) / sd, (upper - mp.mpf(mean)) / sd)
        values = log_prob, mean + sd * first, first / sd, second / (2 * var)
        print("censored: log P, E[y], d mean, d var", mean, var, lower, upper, *[mp.nstr(x, 17) for x in values])


def rows(n, a, b, c):
    """Times with ties, events and a risk, all dyadic: as Rows in tests/answers/censored/survival_rows.h."""
    i = np.arange(n)
    time = 1 + 0.5 * (i * a % b)
    event = i * 7 % c < 3
    return time, event, 0.25 * (i * 11 % 17) - 0.125 * time, 0.02 + 0.01 * (i * 13 % 7)


def haider(survival, event, bins):
    """Counts of D-calibration (Haider et al. 2020, appendix B) in bins of the survival probability, from 0."""
    counts = np.zeros(bins)
    for s, observed in zip(survival, event):
        k = min(int(s * bins), bins - 1)
        if observed:
            counts[k] += 1
        else:
            counts[k] += (s - k / bins) / s
            counts[:k] += 1 / (bins * s)
    return counts


def show(name, *values):
    print(name, *[repr(np.asarray(v, float).tolist()) for v in values])


def print_survival():
    time, event, risk, rate = rows(60, 37, 29, 5)
    train_time, train_event, _, _ = rows(50, 31, 33, 4)
    data, train = Surv.from_arrays(event, time), Surv.from_arrays(train_event, train_time)
    at, survival, (lower, upper) = kaplan_meier_estimator(event, time, conf_type="log-log")
    pick = [0, 5, 14, 27]
    show("kaplan_meier", len(at), at[pick], survival[pick], lower[pick], upper[pick], survival[-1])
    show("censoring_curve", CensoringDistributionEstimator().fit(data).predict_proba(TIMES))
    show("concordance", *concordance_index_censored(event, time, risk))
    show("uno", *concordance_index_ipcw(train, data, risk))
    show("uno before 9", *concordance_index_ipcw(train, data, risk, tau=9))
    predicted = np.exp(-rate[:, None] * TIMES)
    show("brier", brier_score(train, data, predicted, TIMES)[1])
    show("integrated_brier", integrated_brier_score(train, data, predicted, TIMES))
    show("dynamic_auc", *cumulative_dynamic_auc(train, data, risk, TIMES))
    show("dynamic_auc of each time", *cumulative_dynamic_auc(train, data, rate[:, None] * TIMES, TIMES))
    counts = haider(np.exp(-rate * time), event, 10)
    statistic = ((counts - 6) ** 2 / 6).sum()
    show("d-calibration", counts[::-1] / 60, statistic, stats.chi2.sf(statistic, 9))
    at_six = np.exp(-(rate + 0.001 * np.arange(60) / 64) * 6)
    order = np.argsort(at_six, kind="stable")
    for g in range(5):
        own = order[g * 12:(g + 1) * 12]
        at, survival, (lower, upper) = kaplan_meier_estimator(event[own], time[own], conf_type="log-log")
        k = np.searchsorted(at, 6, side="right") - 1
        show("horizon", at_six[own].mean(), survival[k], lower[k], upper[k])


if __name__ == "__main__":
    print_truncated()
    print_survival()
