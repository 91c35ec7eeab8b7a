// The Gauss-Hermite rule. The orthonormal Hermite polynomials p_k obey a three-term recurrence; the nodes are
// the eigenvalues of its symmetric tridiagonal matrix (Golub and Welsch, Calculation of Gauss quadrature
// rules, Math. Comp. 1969). They are found one by one: the signs of a Sturm sequence count the eigenvalues
// below a number, bisection by these counts separates a node, and Newton's method on p_q finishes it. The
// weight at node x is 1 / sum_k p_k(x)^2, by the recurrence. The eigenvectors would give the weights too, but
// with an error relative to the largest weight, and for 64 nodes the outermost weights are as small as 1e-49.
#include "slimbayes/density/hermite.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// Returns how many nodes of the rule with q nodes lie below x.
int64_t nodes_below(double x, int64_t q) {
  int64_t below = 0;
  double ratio = 1;
  for (int64_t k = 0; k < q; ++k) {
    ratio = -x - static_cast<double>(k) / ratio;
    if (ratio == 0) ratio = -1e-300;
    below += ratio < 0;
  }
  return below;
}

struct Polynomial {
  double value, slope, squares;  // p_q and its derivative; the sum of p_k^2 for k < q
};

Polynomial at(double x, int64_t q) {
  double before = 0, p = 1, squares = 1;
  for (int64_t k = 1; k <= q; ++k) {  // x p_(k-1) = sqrt(k) p_k + sqrt(k - 1) p_(k-2)
    const double next =
        (x * p - std::sqrt(static_cast<double>(k - 1)) * before) / std::sqrt(static_cast<double>(k));
    before = p;
    p = next;
    if (k < q) squares += p * p;
  }
  return {p, std::sqrt(static_cast<double>(q)) * before, squares};
}

/// Returns node i, counted from 0, ascending.
double node(int64_t i, int64_t q) {
  double low = -2 * std::sqrt(static_cast<double>(q)), high = -low;
  while (high - low > 1e-6) {
    const double middle = 0.5 * (low + high);
    (nodes_below(middle, q) > i ? high : low) = middle;
  }
  double x = 0.5 * (low + high);
  for (int step = 0; step < 3; ++step) {
    const Polynomial p = at(x, q);
    x -= p.value / p.slope;
  }
  return x;
}

}  // namespace

HermiteRule hermite_rule(int64_t q) {
  if (!(q >= 1 && q <= 200)) refuse("gauss_hermite", "1 to 200 nodes", std::to_string(q));
  HermiteRule rule;
  rule.nodes.resize(static_cast<size_t>(q), 0.0);
  rule.weights.resize(static_cast<size_t>(q));
  double sum = 0;
  for (int64_t i = 0; i < q; ++i) {
    const auto there = static_cast<size_t>(q - 1 - i);
    if (2 * i + 1 < q) rule.nodes[static_cast<size_t>(i)] = node(i, q);
    if (2 * i + 1 > q) rule.nodes[static_cast<size_t>(i)] = -rule.nodes[there];
    sum += rule.weights[static_cast<size_t>(i)] = 1 / at(rule.nodes[static_cast<size_t>(i)], q).squares;
  }
  for (double& weight : rule.weights) weight /= sum;
  return rule;
}

}  // namespace slimbayes
