// The formulas, and why a wide logit needs one of its own, are in answers/class_likelihood.cpp.
#include "slimbayes/density/class_average.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/density/hermite.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

namespace {

constexpr double kWide = 9;    // variance of f above which the integral over the logistic variable is used
constexpr double kReach = 38;  // the trapezoid rule covers [-38, 38]; e^-38 is below rounding
constexpr double kStep = 0.5;

double log_add(double a, double b) {
  const double most = std::max(a, b);
  if (std::isinf(most)) return most;
  return most + std::log1p(std::exp(-std::abs(a - b)));
}

double entropy_of_sigmoid(double f) {
  const double e = std::exp(-std::abs(f));
  return std::log1p(e) + std::abs(f) * e / (1 + e);
}

/// The nodes of the trapezoid rule over a logistic variable L, the logarithms of its weights and of the
/// density of L, and the entropy of sigmoid(L).
struct Line {
  std::vector<double> nodes, log_weights, log_density, entropy;
};

const Line& trapezoid() {
  static const Line line = [] {
    Line all;
    const auto steps = static_cast<int>(2 * kReach / kStep);
    for (int i = 0; i <= steps; ++i) {
      const double l = -kReach + kStep * i, weight = i == 0 || i == steps ? kStep / 2 : kStep;
      all.nodes.push_back(l);
      all.log_weights.push_back(std::log(weight));
      all.log_density.push_back(-l - 2 * (std::max(-l, 0.0) + std::log1p(std::exp(-std::abs(l)))));
      all.entropy.push_back(entropy_of_sigmoid(l));
    }
    return all;
  }();
  return line;
}

/// Returns log E[sigmoid(f)] for f ~ N(mean, sd^2) with a large sd.
double log_sigmoid_of_wide(double mean, double sd) {
  const Line& line = trapezoid();
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t i = 0; i < line.nodes.size(); ++i) {
    const double term =
        line.log_weights[i] + line.log_density[i] + log_normal_cdf((mean - line.nodes[i]) / sd);
    if (term > most) {
      sum = sum * std::exp(most - term) + 1;
      most = term;
    } else {
      sum += std::exp(term - most);
    }
  }
  const double inside = most + std::log(sum);
  const double u = (-kReach - mean) / sd, a = sd - u;
  const double tail = a > 0 ? -kReach - 0.5 * u * u + std::log(0.5 * scaled_erfc(a / std::numbers::sqrt2))
                            : mean + 0.5 * sd * sd + log_normal_cdf(-a);
  return log_add(inside, log_add(tail, log_normal_cdf((mean + kReach) / sd) - kReach));
}

double average_over_line(double mean, double sd, std::span<double> p) {
  p[0] = std::exp(log_sigmoid_of_wide(-mean, sd));
  p[1] = std::exp(log_sigmoid_of_wide(mean, sd));
  const Line& line = trapezoid();
  double expected = 0;
  for (size_t i = 0; i < line.nodes.size(); ++i) {
    const double z = (line.nodes[i] - mean) / sd;
    expected += std::exp(line.log_weights[i] - 0.5 * z * z) * line.entropy[i];
  }
  return expected / (sd * std::sqrt(2 * std::numbers::pi));
}

double average_over_nodes(double mean, double sd, std::span<double> p) {
  static const HermiteRule rule = hermite_rule(64);
  double expected = 0;
  p[0] = p[1] = 0;
  for (size_t i = 0; i < rule.nodes.size(); ++i) {
    const double f = mean + sd * rule.nodes[i], e = std::exp(-std::abs(f)), less = e / (1 + e),
                 more = 1 / (1 + e);
    p[0] += rule.weights[i] * (f > 0 ? less : more);
    p[1] += rule.weights[i] * (f > 0 ? more : less);
    expected += rule.weights[i] * (std::log1p(e) + std::abs(f) * less);
  }
  return expected;
}

}  // namespace

double entropy_of(std::span<const double> probabilities) {
  double sum = 0;
  for (const double p : probabilities)
    if (p != 0) sum -= p * std::log(p);
  return sum;
}

void softmax(std::span<const double> logits, std::span<double> p) {
  if (logits.size() == 1 && p.size() == 2) {
    const double f = logits[0], e = std::exp(-std::abs(f)), less = e / (1 + e), more = 1 / (1 + e);
    p[0] = f > 0 ? less : more;
    p[1] = f > 0 ? more : less;
    return;
  }
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (size_t c = 0; c < p.size(); ++c) sum += p[c] = std::exp(logits[c] - most);
  for (double& one : p) one /= sum;
}

void normalise(std::span<double> p) {
  double sum = 0;
  for (const double one : p) sum += one;
  for (double& one : p) one /= sum;
}

double average_sigmoid(double mean, double var, std::span<double> p) {
  const double sd = std::sqrt(var);
  const double expected = var > kWide ? average_over_line(mean, sd, p) : average_over_nodes(mean, sd, p);
  normalise(p);
  return expected;
}

}  // namespace slimbayes
