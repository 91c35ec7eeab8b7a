#include "slimbayes/methods/events.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

namespace {

// Nodes in the encoded domain [-1, 1]^d; the weights sum to 2^d.
Quadrature nodes_of(int64_t d) {
  if (d <= 3) return tensor_grid(gauss_legendre(d == 1 ? 200 : d == 2 ? 100 : 24), d);
  constexpr int64_t kPoints = int64_t{1} << 15;
  double share = std::pow(2.0, static_cast<double>(d)) / kPoints;
  return {2 * Stream(0).split("expected events").uniform({kPoints, d}) - 1,
          at::full({kPoints}, share, at::kDouble)};
}

// log of the user's volume: a unit of the encoded coordinates holds the product of their scales.
double log_volume(const Encoder& encoder) {
  double sum = 0;
  for (const Axis& axis : encoder.domain()) sum += std::log(axis.high - axis.low);
  return sum;
}

}  // namespace

double expected_events(const Fitted& fitted, const Encoder& encoder) {
  auto d = static_cast<int64_t>(encoder.schema().features.size());
  Quadrature rule = nodes_of(d);
  Dataset data{encoder.schema(), {{rule.nodes}, {}}};
  auto p = std::get<Intensity>(fitted.predict(data));
  double scale =
      std::exp(encoder.schema().task.y_shift + log_volume(encoder) - static_cast<double>(d) * std::log(2.0));
  return scale * at::dot(rule.weights, mean(p.rate)).item<double>();
}

nlohmann::json events_report(const Fitted& fitted, const Encoder& encoder, const Intensity& p) {
  int64_t n = p.rate.log_mean.size(0);
  check(n > 0, "events_report", "at least one event", "none");
  double expected = expected_events(fitted, encoder);
  double log_intensity = at::log(mean(p.rate)).mean().item<double>();
  return {{"n", n},
          {"nll", std::log(expected) - log_intensity},
          {"nll_uniform", log_volume(encoder)},
          {"expected", expected}};
}

}  // namespace slimbayes
