"""Prints the reference values of tests/density/truncated_test.cpp and tests/answers/censored/.

Not a test: it needs packages that the project does not. Made with Python 3.11, mpmath 1.4.1, numpy 2.4.6, scipy 1.17.1 and
scikit-survival 0.28.0:  pip install mpmath scikit-survival && python survival_reference.py
"""

import mpmath as mp

INF = mp.inf


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


if __name__ == "__main__":
    print_truncated()
