#include "slimbayes/theory/pac_bayes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns a ln(a / b), with 0 ln 0 = 0. Infinite for a > 0 = b.
double share_of_kl(double a, double b) {
  if (a == 0) return 0;
  return b == 0 ? std::numeric_limits<double>::infinity() : a * std::log(a / b);
}

}  // namespace

double bernoulli_kl(double q, double p) { return share_of_kl(q, p) + share_of_kl(1 - q, 1 - p); }

double kl_inverse(double q, double budget) {
  if (!(q >= 0 && q <= 1)) refuse("kl_inverse", "a mean from 0 to 1", fmt::format("{}", q));
  if (!(budget >= 0)) refuse("kl_inverse", "a budget of at least 0", fmt::format("{}", budget));
  double low = q, high = 1;
  if (bernoulli_kl(q, high) <= budget) return high;
  while (true) {  // kl(q || p) grows with p above q; ends when no number lies between low and high
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (bernoulli_kl(q, middle) <= budget ? low : high) = middle;
  }
}

PacBayesBound pac_bayes_bound(const PacBayesInput& input) {
  if (!(input.kl >= 0)) refuse("pac_bayes", "a KL of at least 0", fmt::format("{}", input.kl));
  if (!(input.draws >= 1 && input.rows >= 1 && input.tried >= 1))
    refuse("pac_bayes", "at least one draw, one row and one prior",
           fmt::format("{}, {} and {}", input.draws, input.rows, input.tried));
  if (!(input.delta > 0 && input.delta < 1))
    refuse("pac_bayes", "a delta above 0 and below 1", fmt::format("{}", input.delta));
  const auto n = static_cast<double>(input.rows), tried = static_cast<double>(input.tried);
  PacBayesBound bound{};
  bound.sampled =
      kl_inverse(input.risk, std::log(2 * tried / input.delta) / static_cast<double>(input.draws));
  bound.complexity = (input.kl + std::log(4 * tried * std::sqrt(n) / input.delta)) / n;
  bound.seeger = kl_inverse(bound.sampled, bound.complexity);
  bound.mcallester = std::min(1.0, bound.sampled + std::sqrt(bound.complexity / 2));
  return bound;
}

double held_out_bound(const PacBayesInput& input) {
  return kl_inverse(
      pac_bayes_bound(input).sampled,
      std::log(2 * static_cast<double>(input.tried) / input.delta) / static_cast<double>(input.rows));
}

}  // namespace slimbayes
